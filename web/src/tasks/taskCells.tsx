import { Tag } from '@blueprintjs/core';
import { Link } from 'react-router-dom';
import type { TaskRowFragment } from '../generated/tasks/tasks.js';
import { CutText } from '../kit/CutText.js';
import { formatDuration } from '../kit/figures.js';
import { StatusTag } from '../kit/StatusTag.js';
import { DrawerLink } from '../kit/table/DrawerLink.js';
import { itemOf } from '../kit/table/openItem.js';
import type { Translate } from '../kit/words/i18n.js';
import { durationOf, statusIntents, taskDurationIntent } from './taskStates.js';
import { tasksZh } from './tasks.zh.js';

/* What stands in the cells of both lists of tasks. */

export type TaskTexts = Translate<typeof tasksZh>;

/** What the address opens of a task: `{part}-{id}`. */
export type TaskPart = 'record' | 'media' | 'prompt' | 'prompten' | 'failure';

type ActionKey = Extract<keyof typeof tasksZh, `action.${string}`>;
const isActionKey = (key: string): key is ActionKey => Object.hasOwn(tasksZh, key);

/** Of a kind that came later than this page, its own name. */
export function actionText(action: string, t: TaskTexts): string {
  const key = `action.${action}`;
  return isActionKey(key) ? t(key) : action;
}

export const statusCell = ({ status }: Pick<TaskRowFragment, 'status'>, t: TaskTexts) => (
  <StatusTag intent={statusIntents[status]}>{t(`status.${status}`)}</StatusTag>
);

export function durationCell(task: TaskRowFragment) {
  const duration = durationOf(task);
  if (duration === null) return null;
  return (
    <Tag minimal intent={taskDurationIntent(duration)} className="figures">
      {formatDuration(duration)}
    </Tag>
  );
}

export function channelCell({ channelId, channelName }: TaskRowFragment, t: TaskTexts) {
  if (!channelId) return null;
  return (
    <Link to={`/channel/${channelId}`}>
      <CutText text={channelName ? `${channelId} · ${channelName}` : t('channelGone', { id: channelId })} />
    </Link>
  );
}

export const userCell = ({ userId, username }: TaskRowFragment) =>
  userId ? (
    <Link to={`/log?${new URLSearchParams({ user: username ?? '' })}`}>
      <CutText text={username || userId} />
    </Link>
  ) : null;

/** A text on one line, which opens in whole. */
export const textCell = (text: string, part: TaskPart, { id }: Pick<TaskRowFragment, 'id'>) =>
  text === '' ? null : (
    <DrawerLink open={itemOf(part, id)}>
      <CutText text={text} />
    </DrawerLink>
  );

/** Why it failed: in upstream's words where there are some. */
export const failureText = (
  { reason, failReason }: Pick<TaskRowFragment, 'reason' | 'failReason'>,
  t: TaskTexts,
): string => (reason === null ? '' : failReason || t(`reason.${reason}`));

export function failureCell(task: TaskRowFragment, t: TaskTexts) {
  const text = failureText(task, t);
  if (text === '') return null;
  return (
    <span className="task-failure">
      {textCell(text, 'failure', task)}
      {task.refunded && (
        <Tag minimal intent="success">
          {t('refunded')}
        </Tag>
      )}
    </span>
  );
}
