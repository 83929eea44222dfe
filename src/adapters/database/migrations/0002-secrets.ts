/**
 * What events refer to but never hold. All values are encrypted; destroying a user's data key keeps its row, so that
 * no new key can be made for a user who has been forgotten.
 */
export const secrets = {
  name: '0002-secrets',
  sql: `
CREATE TABLE vault_secrets (
  id text PRIMARY KEY,
  sealed bytea NOT NULL
);

CREATE TABLE user_keys (
  user_id bigint PRIMARY KEY,
  wrapped_key bytea
);

CREATE TABLE master_key_check (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  value bytea NOT NULL
);
`,
};
