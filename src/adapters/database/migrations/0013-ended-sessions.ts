/** Sessions that are over, and kept to show their holder why. */
export const endedSessions = {
  name: '0013-ended-sessions',
  sql: 'ALTER TABLE sessions ADD COLUMN ended boolean NOT NULL DEFAULT false;',
};
