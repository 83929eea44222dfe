/** When a session was last used, and, encrypted, where from and with what; null: opened by an earlier release. */
export const sessionsOfClients = {
  name: '0016-sessions-of-clients',
  sql: 'ALTER TABLE sessions ADD COLUMN seen_at bigint, ADD COLUMN client bytea;',
};
