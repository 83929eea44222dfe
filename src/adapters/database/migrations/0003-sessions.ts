/** Console sessions by the SHA-256 of their token; expires_at in milliseconds since 1970. */
export const sessions = {
  name: '0003-sessions',
  sql: `
CREATE TABLE sessions (
  token_hash bytea PRIMARY KEY,
  user_id bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX sessions_user_id ON sessions (user_id);
CREATE INDEX sessions_expires_at ON sessions (expires_at);
`,
};
