import { Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import type { TaskRowFragment } from '../generated/tasks/tasks.js';
import { CopyButton } from '../kit/CopyButton.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { TaskMedia } from './TaskMedia.js';
import { failureText, type TaskPart, type TaskTexts } from './taskCells.js';
import { tasksTexts } from './tasks.texts.js';

interface TaskPartDialogProps {
  readonly part: TaskPart;
  readonly task: TaskRowFragment;
  /** All that is known of it. */
  readonly record: object;
  readonly onClose: () => void;
}

const titles = {
  media: 'column.media',
  prompt: 'column.prompt',
  prompten: 'column.promptEn',
  failure: 'column.failure',
} as const;

/** One part of a task in whole: a long text, what it has made, or all of it as JSON. */
export function TaskPartDialog({ part, task, record, onClose }: TaskPartDialogProps) {
  const t = useText(tasksTexts);
  const common = useText(commonTexts);
  const title = part === 'record' ? t('record.title', { task: task.publicId }) : t(titles[part]);
  const text = textOf(part, task, record, t);
  return (
    <Dialog isOpen onClose={onClose} title={title} className="task-dialog">
      <DialogBody>
        {text === null ? (
          <TaskMedia task={task} />
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keyboard
          <pre tabIndex={0} className={part === 'record' ? 'task-record' : 'task-text'}>
            {text}
          </pre>
        )}
      </DialogBody>
      {text !== null && <DialogFooter actions={<CopyButton text={text} caption={common('copy')} />} />}
    </Dialog>
  );
}

function textOf(part: TaskPart, task: TaskRowFragment, record: object, t: TaskTexts): string | null {
  switch (part) {
    case 'record':
      return JSON.stringify(record, null, 2);
    case 'prompt':
      return task.prompt;
    case 'prompten':
      return task.promptEn;
    case 'failure':
      return failureText(task, t);
    case 'media':
      return null;
  }
}
