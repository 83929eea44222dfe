/**
 * How much of the log was known of the user when a session was opened. For those that are open it is not known: they
 * stand as long as nothing has ever ended the user's sessions.
 */
export const sessionsSince = {
  name: '0005-sessions-since',
  sql: 'ALTER TABLE sessions ADD COLUMN since bigint NOT NULL DEFAULT -1;',
};
