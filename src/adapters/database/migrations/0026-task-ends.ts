/** When tasks came to their end, by which their content is cleared; and an index for pages of a user's. */
export const taskEnds = {
  name: '0026-task-ends',
  sql: `
ALTER TABLE task_content ADD COLUMN ended_at bigint;
UPDATE task_content SET ended_at = CASE submission->>'status' WHEN 'succeeded' THEN submitted_at
  ELSE (extract(epoch FROM now()) * 1000)::bigint END
  WHERE progress > 100 OR submission->>'status' = 'succeeded';
DROP INDEX task_content_time;
CREATE INDEX task_content_end ON task_content (ended_at) WHERE sealed IS NOT NULL;
CREATE INDEX task_content_page ON task_content (user_id, (submission->>'platform'), task_id) WHERE sealed IS NOT NULL;
`,
};
