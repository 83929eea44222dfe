import type { TaskRowFragment } from '../generated/tasks/tasks.js';
import { StatusTag } from '../kit/StatusTag.js';
import { Time } from '../kit/Time.js';
import type { Column } from '../kit/table/columns.js';
import { MediaCell } from './MediaCell.js';
import { TaskProgress } from './TaskProgress.js';
import {
  actionText,
  channelCell,
  durationCell,
  failureCell,
  statusCell,
  type TaskTexts,
  textCell,
  userCell,
} from './taskCells.js';
import type { TaskList } from './taskParams.js';
import { submissionOf, submissions } from './taskStates.js';

type TaskColumn = Column<TaskRowFragment>;

/**
 * Columns about channels and other users are for administrators; nobody else is sent what they show. To make room for
 * them, administrators begin without some others.
 */
export function taskColumns(list: TaskList, admin: boolean, t: TaskTexts): readonly TaskColumn[] {
  const common = commonColumns(t);
  const own = list === 'drawing' ? drawingColumns(t, admin) : otherColumns(t, admin);
  const columns = own.map((column) => (typeof column === 'string' ? common[column] : column));
  return columns.filter(({ id }) => admin || (id !== 'channel' && id !== 'user'));
}

const commonColumns = (t: TaskTexts) =>
  ({
    submitted: {
      id: 'submitted',
      header: t('column.submitted'),
      cell: ({ submittedAt }) => <Time at={submittedAt} />,
      fixed: true,
    },
    duration: { id: 'duration', header: t('column.duration'), cell: durationCell, priority: 2 },
    channel: { id: 'channel', header: t('column.channel'), cell: (task) => channelCell(task, t), priority: 3 },
    user: { id: 'user', header: t('column.user'), cell: userCell, priority: 2 },
    action: { id: 'action', header: t('column.action'), cell: ({ action }) => actionText(action, t), priority: 2 },
    task: { id: 'task', header: t('column.task'), cell: ({ publicId }) => publicId, heading: true },
    status: { id: 'status', header: t('column.status'), cell: (task) => statusCell(task, t) },
    media: { id: 'media', header: t('column.media'), cell: (task) => <MediaCell task={task} /> },
    failure: { id: 'failure', header: t('column.failure'), cell: (task) => failureCell(task, t), priority: 2 },
  }) as const satisfies Record<string, TaskColumn>;

type CommonColumn = keyof ReturnType<typeof commonColumns>;

const drawingColumns = (t: TaskTexts, admin: boolean): readonly (CommonColumn | TaskColumn)[] => [
  'submitted',
  'duration',
  'channel',
  'user',
  'action',
  'task',
  {
    id: 'submission',
    header: t('column.result'),
    cell: (task) => {
      const submission = submissionOf(task);
      return <StatusTag intent={submissions[submission]}>{t(`result.${submission}`)}</StatusTag>;
    },
    priority: 3,
    initiallyHidden: admin,
  },
  'status',
  {
    id: 'progress',
    header: t('column.progress'),
    cell: (task) => <TaskProgress task={task} shape="bar" />,
    priority: 2,
  },
  'media',
  { id: 'prompt', header: t('column.prompt'), cell: (task) => textCell(task.prompt, 'prompt', task), priority: 2 },
  {
    id: 'promptEn',
    header: t('column.promptEn'),
    cell: (task) => textCell(task.promptEn, 'prompten', task),
    priority: 3,
    initiallyHidden: admin,
  },
  'failure',
];

const otherColumns = (t: TaskTexts, admin: boolean): readonly (CommonColumn | TaskColumn)[] => [
  'submitted',
  {
    id: 'finished',
    header: t('column.finished'),
    cell: ({ finishedAt }) => <Time at={finishedAt} />,
    priority: 3,
    initiallyHidden: admin,
  },
  {
    id: 'progress',
    header: t('column.progress'),
    cell: (task) => <TaskProgress task={task} shape="circle" />,
    priority: 2,
  },
  'duration',
  'channel',
  'user',
  {
    id: 'platform',
    header: t('column.platform'),
    cell: ({ platform }) => <StatusTag>{t(`platform.${platform}`)}</StatusTag>,
    priority: 2,
  },
  'action',
  'task',
  'status',
  'media',
  'failure',
];
