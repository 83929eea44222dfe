/** What is given out to be brought back once, soon: codes, links, states, challenges. */
export const tickets = {
  name: '0015-tickets',
  sql: `
CREATE TABLE tickets (
  kind text NOT NULL,
  name_hash bytea NOT NULL,
  code_hash bytea NOT NULL,
  content bytea NOT NULL,
  tries_left integer NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (kind, name_hash)
);
CREATE INDEX tickets_expiry ON tickets (expires_at);
`,
};
