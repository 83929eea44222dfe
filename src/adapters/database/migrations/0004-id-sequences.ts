export const idSequences = {
  name: '0004-id-sequences',
  sql: `
CREATE SEQUENCE user_ids;
CREATE SEQUENCE api_key_ids;
CREATE SEQUENCE channel_ids;
`,
};
