/**
 * Seals of the log and the keys they were signed with. `secret`: the private key in the vault; null once another key has
 * taken its place. Both tables only grow: what is sealed and what it was signed with is never written again.
 */
export const seals = {
  name: '0028-seals',
  sql: `
CREATE TABLE seal_keys (
  number integer PRIMARY KEY,
  id text NOT NULL UNIQUE,
  public_key text NOT NULL,
  secret text,
  since bigint NOT NULL,
  endorsement text
);
CREATE TABLE seals (
  number bigint PRIMARY KEY,
  first_position bigint NOT NULL,
  last_position bigint NOT NULL UNIQUE,
  events integer NOT NULL,
  events_hash text NOT NULL,
  previous text NOT NULL,
  at bigint NOT NULL,
  key_id text NOT NULL,
  signature text NOT NULL
);
`,
};
