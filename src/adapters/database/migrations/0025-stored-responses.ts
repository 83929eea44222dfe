/** Responses with their conversations, sealed. Their ids sort by time. What is sealed does not compress. */
export const storedResponses = {
  name: '0025-stored-responses',
  sql: `
CREATE TABLE stored_response (
  user_id bigint NOT NULL,
  response_id text COLLATE "C" NOT NULL,
  stored_at bigint NOT NULL,
  bytes integer NOT NULL,
  sealed bytea NOT NULL,
  PRIMARY KEY (user_id, response_id) INCLUDE (bytes)
);
ALTER TABLE stored_response ALTER COLUMN sealed SET STORAGE EXTERNAL;
CREATE INDEX stored_response_by_age ON stored_response (stored_at, response_id) INCLUDE (bytes);
`,
};
