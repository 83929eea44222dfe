/** By which the open tasks of a user are counted. */
export const openTaskIndex = {
  name: '0027-open-tasks',
  sql: 'CREATE INDEX task_content_open ON task_content (user_id) WHERE ended_at IS NULL;',
};
