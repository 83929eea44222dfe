import type { Application } from '../application/application.js';
import type { UserView } from '../application/ports/storage-ports.js';
import type { TaskView } from '../application/ports/task-ports.js';
import { submitCodeOf } from '../application/tasks/task-media.js';
import { boundedJson } from '../domain/kernel/bounds.js';
import { ChannelId } from '../domain/kernel/ids.js';
import { Instant, unixSeconds } from '../domain/kernel/instant.js';
import type { TaskFailureReason, TaskPlatform, TaskStatus } from '../domain/task/task.js';
import { picturePath } from '../http/task-addresses.js';
import type { TaskFilter } from '../projections/models/task-queries.js';
import { answersSoFar } from './so-far.js';
import type { Endpoints } from './wire/endpoints.js';
import { given, type Query } from './wire/query.js';

/* Lists of drawings and of other tasks. Pages count from 0, and always have ten. */

const pageSize = 10;

const statusWords: Readonly<Record<TaskStatus, string>> = {
  'not-started': 'NOT_START',
  submitted: 'SUBMITTED',
  queued: 'QUEUED',
  modal: 'MODAL',
  'in-progress': 'IN_PROGRESS',
  succeeded: 'SUCCESS',
  failed: 'FAILURE',
  unknown: 'UNKNOWN',
};
const statuses = new Map(Object.entries(statusWords).map(([status, word]) => [word, status as TaskStatus]));

const otherPlatforms: readonly TaskPlatform[] = ['suno', 'video'];

const failureWords: Readonly<Record<Exclude<TaskFailureReason, 'channel-gone'>, string>> = {
  upstream: '任务失败',
  'timed-out': '上游任务超时（超过1小时）',
  rejected: '任务被拒绝',
  cancelled: '任务已取消',
};
const videoTimedOut = '上游任务超时（超过24小时）';
const channelGone = '获取渠道信息失败，请联系管理员';

/** Users are not told which channel it was. */
function failReason({ facts, reason, content }: TaskView, own: boolean): string {
  if (reason === null) return '';
  if (reason === 'channel-gone') return own ? channelGone : `${channelGone}，渠道ID：${facts.channelId}`;
  if (reason === 'timed-out') return facts.platform === 'video' ? videoTimedOut : failureWords[reason];
  return content?.failReason || failureWords[reason];
}

/** What has ended is at its end. */
const progressText = ({ status, progress }: TaskView): string => (status === 'failed' ? '100%' : `${progress}%`);

/** 0: not yet. */
const msOf = (at: Instant | null): number => at ?? 0;
const secondsOf = (at: Instant | null): number => (at === null ? 0 : unixSeconds(at));

const resultOf = ({ content }: TaskView): unknown =>
  content?.result === undefined ? undefined : boundedJson(content.result);

/** A member of what upstream returned, as JSON text; empty: there is none. */
function memberText(task: TaskView, name: string): string {
  const result = resultOf(task);
  const member = typeof result === 'object' && result !== null ? (result as Record<string, unknown>)[name] : undefined;
  return typeof member === 'object' && member !== null && Object.keys(member).length > 0 ? JSON.stringify(member) : '';
}

interface Showing {
  /** The viewer's own, who is told nothing of channels. */
  readonly own: boolean;
  readonly imageUrl: (task: TaskView) => string;
}

const drawing = (task: TaskView, { own, imageUrl }: Showing) => ({
  id: task.facts.taskId,
  code: submitCodeOf(task) ?? 0,
  user_id: task.facts.userId,
  action: task.facts.action,
  mj_id: task.facts.publicId,
  prompt: task.content?.prompt ?? '',
  prompt_en: task.content?.promptEn ?? '',
  description: task.content?.description ?? '',
  state: task.content?.state ?? '',
  submit_time: task.submittedAt,
  start_time: msOf(task.startedAt),
  finish_time: msOf(task.finishedAt),
  image_url: imageUrl(task),
  status: task.status === 'unknown' || task.status === 'queued' ? 'SUBMITTED' : statusWords[task.status],
  progress: progressText(task),
  fail_reason: failReason(task, own),
  channel_id: own ? 0 : task.facts.channelId,
  quota: task.charged ?? 0,
  buttons: memberText(task, 'buttons'),
  properties: memberText(task, 'properties'),
});

const otherTask = (task: TaskView, { own }: Pick<Showing, 'own'>) => ({
  id: task.facts.taskId,
  created_at: unixSeconds(task.submittedAt),
  updated_at: unixSeconds(task.finishedAt ?? task.startedAt ?? task.submittedAt),
  task_id: task.facts.publicId,
  platform: task.facts.platform,
  user_id: task.facts.userId,
  channel_id: own ? 0 : task.facts.channelId,
  quota: task.charged ?? 0,
  action: task.facts.action,
  status: statusWords[task.status],
  fail_reason: failReason(task, own),
  submit_time: unixSeconds(task.submittedAt),
  start_time: secondsOf(task.startedAt),
  finish_time: secondsOf(task.finishedAt),
  progress: progressText(task),
  properties: { input: task.content?.prompt ?? '' },
  data: resultOf(task) ?? [],
});

/** Bounds of time that are none count as absent. */
function timesIn(query: Query, unitMs: number): Pick<TaskFilter, 'from' | 'to'> {
  const bound = (name: string, rest: number) => {
    const instant = query.integer(name) * unitMs + rest;
    return query.integer(name) > 0 && Number.isSafeInteger(instant) ? Instant(instant) : undefined;
  };
  const [from, to] = [bound('start_timestamp', 0), bound('end_timestamp', unitMs - 1)];
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

const named = (publicId: string | undefined): TaskFilter => (publicId === undefined ? {} : { publicId });

const drawingsIn = (query: Query): TaskFilter => ({
  platforms: ['midjourney'],
  ...named(given(query.text('mj_id'))),
  ...timesIn(query, 1),
});

/** null: a platform or status was asked for that no task has. */
function othersIn(query: Query): TaskFilter | null {
  const [platform, action, word] = [query.text('platform'), query.text('action'), query.text('status')];
  const platforms = platform === '' ? otherPlatforms : otherPlatforms.filter((known) => known === platform);
  const status = statuses.get(word);
  if (platforms.length === 0 || (word !== '' && status === undefined)) return null;
  return {
    ...{ platforms, ...named(given(query.text('task_id'))) },
    ...(action !== '' && { action }),
    ...(status !== undefined && { status }),
    ...timesIn(query, 1_000),
  };
}

const channelIn = (query: Query): TaskFilter => {
  const id = query.integer('channel_id');
  return id > 0 ? { channelId: ChannelId(id) } : {};
};

export function taskEndpoints(endpoints: Endpoints, { queries, directory, readModels }: Application): void {
  const soFar = answersSoFar({ readModels });

  const page = (viewer: UserView, query: Query, filter: TaskFilter, own: boolean) => {
    const { page: number } = query.pageFromZero('page_size');
    const range = { before: null, limit: pageSize, offset: (number - 1) * pageSize };
    return queries.tasks(viewer, filter, range, own);
  };

  /** From here, where the operator wants that and has named the site. */
  const imageUrl = (task: TaskView): string => {
    const { midjourney, siteAddress } = directory.settings();
    const isForwarded = midjourney.forwardsPictures && siteAddress !== '';
    if (isForwarded) return `${siteAddress}${picturePath(queries.mediaKeys, task.facts.taskId)}`;
    return task.content?.urls[0] ?? '';
  };

  const drawings = async (viewer: UserView, query: Query, own: boolean) => {
    const filter = { ...drawingsIn(query), ...(own ? {} : channelIn(query)) };
    return soFar((await page(viewer, query, filter, own)).map((task) => drawing(task, { own, imageUrl })));
  };

  const others = async (viewer: UserView, query: Query, own: boolean) => {
    const filter = othersIn(query);
    if (filter === null) return soFar([]);
    const asked = own ? filter : { ...filter, ...channelIn(query) };
    return soFar((await page(viewer, query, asked, own)).map((task) => otherTask(task, { own })));
  };

  endpoints.guarded('admin', 'GET', '/mj/', (viewer, { query }) => drawings(viewer, query, false));
  endpoints.guarded('ordinary', 'GET', '/mj/self', (viewer, { query }) => drawings(viewer, query, true));
  endpoints.guarded('admin', 'GET', '/task/', (viewer, { query }) => others(viewer, query, false));
  endpoints.guarded('ordinary', 'GET', '/task/self', (viewer, { query }) => others(viewer, query, true));
}
