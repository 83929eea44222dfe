/** Tasks as they were submitted, one for each call, and what they say and show: sealed, and gone before they are. */
export const taskContent = {
  name: '0024-task-content',
  sql: `
CREATE SEQUENCE task_ids;
CREATE TABLE task_content (
  task_id bigint PRIMARY KEY DEFAULT nextval('task_ids'),
  call_id text NOT NULL UNIQUE,
  user_id bigint NOT NULL,
  public_id text NOT NULL,
  submitted_at bigint NOT NULL,
  progress int NOT NULL,
  submission json NOT NULL,
  sealed text
);
CREATE INDEX task_content_user ON task_content (user_id, public_id, task_id DESC);
CREATE INDEX task_content_time ON task_content (submitted_at) WHERE sealed IS NOT NULL;
`,
};
