import type { TaskRecordQuery } from '../generated/tasks/tasks.js';

type KnownTask = NonNullable<TaskRecordQuery['task']>;

/** JSON text of upstream's as what it says; a text that is none stays one. */
function parsed(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** All that is known of a task, without what only this page needs. */
export const recordOf = (task: KnownTask): object =>
  JSON.parse(
    JSON.stringify({ ...task, result: parsed(task.result) }, (name, value: unknown) =>
      name === '__typename' ? undefined : value,
    ),
  ) as object;
