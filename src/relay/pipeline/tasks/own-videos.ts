import type { TaskPage, TaskView } from '../../../application/ports/task-ports.js';
import { isTerminal } from '../../../domain/task/task.js';
import { authenticateOwner, type Shown } from '../../admission/authenticate.js';
import { RelayError } from '../../contracts/errors.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { orderIn, type VideoOrder } from '../../contracts/video-object.js';
import { undoubled } from '../../protocols/model-address.js';
import { authorisedRequest } from '../authorised-request.js';
import { keeperOf } from '../kept/resource-request.js';
import type { StagePorts } from '../stage-ports.js';
import { ownTasks } from './own-tasks.js';
import { videoNotFound } from './video-errors.js';

/* Videos beside their calls: looked at, listed and deleted by whoever ordered them. Nobody pays. */

export interface OwnVideo {
  readonly task: TaskView;
  readonly order: VideoOrder;
}

const shownIn = (task: TaskView): OwnVideo[] => {
  const order = orderIn(task.content?.result);
  return order === null ? [] : [{ task, order }];
};

/** Throws RelayError. */
export async function ownVideo(ports: StagePorts, shown: Shown, id: string): Promise<OwnVideo> {
  const tasks = await ownTasks(ports, { ...shown, platform: 'video', ids: () => [id], bodySource: null });
  const [video] = tasks.flatMap(shownIn);
  if (video === undefined) throw videoNotFound(id);
  return video;
}

export interface OwnVideos {
  readonly videos: readonly OwnVideo[];
  /** By which the next page is asked for; null: there is none. */
  readonly last: string | null;
}

/** Throws RelayError. */
export async function ownVideos(ports: StagePorts, shown: Shown, page: TaskPage): Promise<OwnVideos> {
  const { user, apiKey } = await authenticateOwner(ports, shown);
  const leave = await ports.limits.admit(user.id, apiKey.id, ports.directory.settings());
  let found: readonly TaskView[] | null = null;
  try {
    found = await ports.tasks.page(user.id, 'video', { ...page, limit: page.limit + 1 });
  } finally {
    leave(found !== null);
  }
  if (found === null) throw videoNotFound(page.after ?? '');
  const tasks = found.slice(0, page.limit);
  const last = found.length > page.limit ? tasks.at(-1) : undefined;
  return { videos: tasks.flatMap(shownIn), last: last?.facts.publicId ?? null };
}

/** Upstream's file goes too, where that can be; nobody waits for it, and nobody is told where it fails. */
export async function deleteVideo(ports: StagePorts, shown: Shown, id: string): Promise<void> {
  const { task } = await ownVideo(ports, shown, id);
  if (!isTerminal(task.status))
    throw new RelayError(409, 'video_in_progress', 'the video is still being made', {
      type: 'invalid_request_error',
      param: null,
      shouldRetry: false,
    });
  await ports.tasks.forget(task.facts.taskId);
  if (task.status === 'succeeded') await deleteUpstream(ports, task).catch(() => {});
}

const patienceMs = 10_000;

async function deleteUpstream(ports: StagePorts, { facts }: TaskView): Promise<void> {
  try {
    const keeper = await keeperOf(ports, facts.channelId, { mode: 'task' }, true);
    const { provider, channel } = keeper;
    const based = { ...channel, baseUrl: channel.baseUrl || provider.defaultBaseUrl };
    const request = provider.videos?.remove?.(based, facts.upstreamId);
    if (request === undefined) return;
    const bare = { ...request, url: undoubled(based.baseUrl, request.url) };
    const sent = await authorisedRequest(ports, { ...keeper, channel: based }, bare);
    const times = { timeoutMs: patienceMs, idleMs: patienceMs };
    const sending = ports.upstream.send(sent, { proxy: channel.proxy, ...times, payer: null });
    await sending.sent;
    sending.cancel();
  } catch (error) {
    if (!(error instanceof NotConvertible) && !(error instanceof RelayError)) throw error;
  }
}
