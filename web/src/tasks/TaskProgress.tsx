import { ProgressBar, Spinner } from '@blueprintjs/core';
import type { TaskRowFragment } from '../generated/tasks/tasks.js';
import { useText } from '../kit/words/i18n.js';
import { progressIntent } from './taskStates.js';
import { tasksTexts } from './tasks.texts.js';

interface TaskProgressProps {
  readonly task: Pick<TaskRowFragment, 'status' | 'progress'>;
  readonly shape: 'bar' | 'circle';
}

const circleSize = 28;

/** How far a task is: drawn, and in percent. What has ended does not move. */
export function TaskProgress({ task: { status, progress }, shape }: TaskProgressProps) {
  const t = useText(tasksTexts);
  const drawn = {
    value: progress / 100,
    intent: progressIntent(status),
    'aria-label': t('progress', { percent: progress }),
  };
  return (
    <span className={`task-progress task-progress-${shape}`}>
      {shape === 'circle' ? (
        <Spinner size={circleSize} {...drawn} />
      ) : (
        <ProgressBar stripes={status === 'IN_PROGRESS'} animate={status === 'IN_PROGRESS'} {...drawn} />
      )}
      <span className="figures">{`${progress}%`}</span>
    </span>
  );
}
