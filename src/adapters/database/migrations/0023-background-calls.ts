/** Calls that an upstream works off in the background and that have no outcome yet: what it takes to ask for them. */
export const backgroundCalls = {
  name: '0023-background-calls',
  sql: `
CREATE TABLE background_call (
  call_id text PRIMARY KEY,
  call json NOT NULL
);
`,
};
