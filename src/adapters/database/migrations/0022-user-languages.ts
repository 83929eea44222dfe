/** The language each user's browser wanted at its last sign-in, for mails that no request asks for. */
export const userLanguages = {
  name: '0022-user-languages',
  sql: String.raw`
CREATE TABLE user_languages (
  user_id bigint PRIMARY KEY,
  language text NOT NULL
);
`,
};
