/** Notifications to send, and for a while those that were sent. */
export const notifications = {
  name: '0017-notifications',
  sql: `
CREATE TABLE notifications (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL,
  kind text NOT NULL,
  cause text NOT NULL UNIQUE,
  content text NOT NULL,
  queued_at bigint NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  next_try_at bigint NOT NULL,
  outcome text
);
CREATE INDEX notifications_of_user ON notifications (user_id, kind, queued_at);
CREATE INDEX notifications_due ON notifications (next_try_at) WHERE outcome IS NULL;
CREATE INDEX notifications_over ON notifications (queued_at) WHERE outcome IS NOT NULL;
`,
};
