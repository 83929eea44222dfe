import type { TaskView } from '../../../application/ports/task-ports.js';
import { isKeptId } from '../../../domain/call/kept-object.js';
import { TaskId, type UserId } from '../../../domain/kernel/ids.js';
import { videoTask } from '../../../http/task-addresses.js';
import { authenticateOwner, type Shown } from '../../admission/authenticate.js';
import type { CallerDialect } from '../../contracts/caller-dialect.js';
import { fromUpstream, RelayError } from '../../contracts/errors.js';
import { NotConvertible } from '../../contracts/protocol.js';
import type { VideoVariant } from '../../contracts/video-files.js';
import { orderIn } from '../../contracts/video-object.js';
import { HttpCaller } from '../../delivery/http-caller.js';
import { passBody } from '../../delivery/pass-body.js';
import type { Answering } from '../../delivery/refusal.js';
import type { UpstreamAnswer } from '../../upstream/upstream.js';
import { unreadableAnswer } from '../../upstream/upstream-error.js';
import { type Keeper, keeperOf } from '../kept/resource-request.js';
import type { StagePorts } from '../stage-ports.js';
import { type AnsweredFile, answeredFile } from './video-answer.js';
import { noSuchFile, videoNotFound } from './video-errors.js';
import { fileInside, sendPart } from './video-inside.js';

/*
 * The files of a video, from the upstream that has made it to whoever ordered it, or has its signed address. They are
 * passed on as they come, within limits of type and size; the key of the channel goes nowhere but there.
 */

interface WantedFile extends Answering {
  readonly dialect: CallerDialect;
  readonly variant: VideoVariant;
  /** From 0, where there are several. */
  readonly index: number;
  /** As its caller has sent it. */
  readonly range: string | undefined;
  readonly isHead: boolean;
}

export interface VideoFileRequest extends WantedFile, Shown {
  readonly id: string;
}

export interface SignedVideoRequest extends WantedFile {
  /** The last part of its address. */
  readonly name: string;
}

/** No video of a minute has more. */
const maxBytes = 2 * 1024 ** 3;

/** Of dots: one that is a document may hold scripts. */
const picture = /^image\/(?!svg)[\w.+-]{1,64}$/;

const types: Readonly<Record<VideoVariant, RegExp>> = {
  video: /^(video\/[\w.+-]{1,64}|application\/octet-stream|binary\/octet-stream)$/,
  thumbnail: picture,
  spritesheet: picture,
};

const rangeAnswer = /^bytes (\d{1,15}-\d{1,15}|\*)\/(\d{1,15}|\*)$/;

const tooLarge = (): RelayError =>
  fromUpstream(unreadableAnswer(`the upstream answered with a file of more than ${maxBytes} bytes`), 502);

/** Throws RelayError: it is no video, or not ready. */
function readyVideo(task: TaskView | null, id: string): TaskView {
  if (task === null || orderIn(task.content?.result) === null) throw videoNotFound(id);
  if (task.status === 'succeeded') return task;
  throw new RelayError(
    404,
    'video_not_ready',
    task.status === 'failed' ? 'the video could not be made' : 'the video is not ready yet',
    { type: 'invalid_request_error', param: null },
  );
}

async function videoOf({ tasks }: Pick<StagePorts, 'tasks'>, user: UserId, id: string): Promise<TaskView> {
  const [task = null] = await tasks.ofUser(user, isKeptId(id) ? [id] : [], 'video');
  return readyVideo(task, id);
}

/** A page must not be shown as one of ours. */
const always = ['content-security-policy', "default-src 'none'; sandbox"] as const;
/** Opened in a tab of its own, a video in a sandbox is not played. Players ask for the same parts again. */
const ofPages = [
  ...['content-security-policy', "default-src 'none'; media-src 'self'"],
  ...['cache-control', 'private, max-age=3600', 'content-disposition', 'inline'],
] as const;

/** Sends one of its files. Throws RelayError, where nothing is sent yet. */
export async function sendVideoFile(ports: StagePorts, asked: VideoFileRequest): Promise<void> {
  const { user, apiKey } = await authenticateOwner(ports, asked);
  const leave = await ports.limits.admit(user.id, apiKey.id, ports.directory.settings());
  let succeeded = false;
  try {
    await sendFileOf(ports, asked, await videoOf(ports, user.id, asked.id), always);
    succeeded = true;
  } finally {
    leave(succeeded);
  }
}

const tooManyAtOnce = (): RelayError =>
  new RelayError(429, 'too_many_requests', 'too many videos of this user are being downloaded; try again later');

/** The same, for pages: they send no key, so its address carries a signature. */
export async function sendSignedVideo(ports: StagePorts, asked: SignedVideoRequest): Promise<void> {
  const id = videoTask(ports.vault, asked.name);
  const found = id === null ? null : await ports.tasks.byId(TaskId(id));
  const task = readyVideo(found?.facts.platform === 'video' ? found : null, '');
  const leave = ports.signedDownloads.take(task.facts.userId);
  if (leave === null) throw tooManyAtOnce();
  try {
    await sendFileOf(ports, asked, task, ofPages);
  } finally {
    leave();
  }
}

function sourceOf({ provider, channel }: Keeper, { facts, content }: TaskView, { variant, index }: WantedFile) {
  const { upstreamId, model } = facts;
  const based = { ...channel, baseUrl: channel.baseUrl || provider.defaultBaseUrl };
  try {
    return provider.videos?.source(based, { upstreamId, model, urls: content?.urls ?? [], index }, variant) ?? null;
  } catch (error) {
    if (error instanceof NotConvertible) throw new RelayError(400, 'convert_request_failed', error.message);
    throw error;
  }
}

async function sendFileOf(
  ports: StagePorts,
  asked: WantedFile,
  task: TaskView,
  headers: readonly string[],
): Promise<void> {
  const { variant, index, range, isHead } = asked;
  const { taskId, userId, channelId } = task.facts;
  const keeper = await keeperOf(ports, channelId, { mode: 'task' }, true);
  const source = sourceOf(keeper, task, asked);
  if (source === null) throw noSuchFile(variant);
  const connection = new HttpCaller(asked, asked.dialect);
  const from = { keeper, source, user: userId };
  if (source.inside !== undefined) {
    const file = await fileInside(ports, { taskId, variant, index }, from, source.inside);
    return sendPart(ports, connection, file, { range, isHead, headers });
  }
  const whenGone: HttpCaller['whenGone'] = (listener) => connection.whenGone(listener);
  const answered = await answeredFile(ports, { variant, range, whenGone }, from);
  const forget = whenGone(() => answered.sending.cancel());
  try {
    await passOn(ports, asked, connection, { ...answered, added: headers });
  } finally {
    forget();
    answered.sending.cancel();
  }
}

const typeIn = ({ headers }: UpstreamAnswer): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

const shownType = (type: string): string => (type.endsWith('/octet-stream') ? 'video/mp4' : type);

/** As it comes. */
async function passOn(
  { stalledCallers }: StagePorts,
  { variant, isHead }: WantedFile,
  connection: HttpCaller,
  { answer, sending, added }: AnsweredFile & { readonly added: readonly string[] },
): Promise<void> {
  const { status, headers, body } = answer;
  const type = typeIn(answer);
  if (!types[variant].test(type))
    throw fromUpstream(unreadableAnswer(`the upstream answered with something that is no ${variant}`), 502);
  const stated = Number(headers['content-length'] ?? Number.NaN);
  const length =
    Number.isSafeInteger(stated) && stated >= 0 && headers['content-encoding'] === undefined ? stated : undefined;
  if (length !== undefined && length > maxBytes) throw tooLarge();
  const range = status === 206 ? headers['content-range'] : undefined;
  if (status === 206 && !rangeAnswer.test(range ?? ''))
    throw fromUpstream(unreadableAnswer('the upstream answered with a part of a file, and does not say which'), 502);
  const ranges = range === undefined ? [] : ['content-range', range];
  const accepts = headers['accept-ranges'] === 'bytes' || status === 206 ? ['accept-ranges', 'bytes'] : [];
  connection.begin(shownType(type), [...added, ...accepts, ...ranges], length, status);
  if (isHead) return connection.end();
  sending.begun();
  await passBody(connection, body, { length, maxBytes }, stalledCallers);
}
