import type { TaskView } from '../../application/ports/task-ports.js';
import { isKeptId } from '../../domain/call/kept-object.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { authenticateOwner, type Shown } from '../admission/authenticate.js';
import { brokenOff } from '../answers/lost-answer.js';
import type { CallerDialect } from '../contracts/caller-dialect.js';
import { fromUpstream, RelayError } from '../contracts/errors.js';
import { NotConvertible } from '../contracts/protocol.js';
import type { VideoFile, VideoVariant } from '../contracts/video-files.js';
import { orderIn } from '../contracts/video-object.js';
import { HttpCaller } from '../delivery/http-caller.js';
import { passBody } from '../delivery/pass-body.js';
import type { Answering } from '../delivery/refusal.js';
import { writeToEnd } from '../delivery/write-answer.js';
import { confidentialOf } from '../protocols/confidential-of.js';
import type { Sending, UpstreamAnswer } from '../upstream/upstream.js';
import { errorOfStatus, unreadableAnswer } from '../upstream/upstream-error.js';
import { Lost } from '../upstream/upstream-response.js';
import { type Keeper, keeperOf } from './resource-request.js';
import { judged } from './send-attempt.js';
import type { StagePorts } from './stage-ports.js';
import { videoNotFound } from './video-errors.js';
import { type FileSource, openVideoFile } from './video-source.js';

/*
 * The files of a video, from the upstream that has made it to whoever ordered it. They are passed on as they come, within
 * limits of type and size; the key of the channel goes nowhere but there.
 */

export interface VideoFileRequest extends Shown, Answering {
  readonly dialect: CallerDialect;
  readonly id: string;
  readonly variant: VideoVariant;
  /** From 0, where several were ordered. */
  readonly index: number;
  /** As its caller has sent it. */
  readonly range: string | undefined;
  readonly isHead: boolean;
}

/** No video of a minute has more. */
const maxBytes = 2 * 1024 ** 3;

const types: Readonly<Record<VideoVariant, RegExp>> = {
  video: /^(video\/[\w.+-]{1,64}|application\/octet-stream|binary\/octet-stream)$/,
  thumbnail: /^image\/[\w.+-]{1,64}$/,
  spritesheet: /^image\/[\w.+-]{1,64}$/,
};

const rangeAnswer = /^bytes (\d{1,15}-\d{1,15}|\*)\/(\d{1,15}|\*)$/;

const noSuchFile = (variant: VideoVariant): RelayError =>
  new RelayError(404, 'video_file_not_found', `the video has no ${variant} here, or not any more`, {
    type: 'invalid_request_error',
    param: null,
  });

const tooLarge = (): RelayError =>
  fromUpstream(unreadableAnswer(`the upstream answered with a file of more than ${maxBytes} bytes`), 502);

/** Throws RelayError. */
async function readyVideo({ tasks }: Pick<StagePorts, 'tasks'>, user: UserId, id: string): Promise<TaskView> {
  const [task] = await tasks.ofUser(user, isKeptId(id) ? [id] : [], 'video');
  if (task === undefined || orderIn(task.content?.result) === null) throw videoNotFound(id);
  if (task.status === 'succeeded') return task;
  throw new RelayError(
    404,
    'video_not_ready',
    task.status === 'failed' ? 'the video could not be made' : 'the video is not ready yet',
    { type: 'invalid_request_error', param: null },
  );
}

/** Sends one of its files. Throws RelayError, where nothing is sent yet. */
export async function sendVideoFile(ports: StagePorts, asked: VideoFileRequest): Promise<void> {
  const { user, apiKey } = await authenticateOwner(ports, asked);
  const leave = await ports.limits.admit(user.id, apiKey.id, ports.directory.settings());
  let succeeded = false;
  try {
    const task = await readyVideo(ports, user.id, asked.id);
    const keeper = await keeperOf(ports, task.facts.channelId, { mode: 'task' }, true);
    const source = sourceOf(keeper, task, asked);
    if (source === null) throw noSuchFile(asked.variant);
    await sendFrom(ports, asked, { keeper, source, user: user.id });
    succeeded = true;
  } finally {
    leave(succeeded);
  }
}

function sourceOf({ provider, channel }: Keeper, { facts, content }: TaskView, asked: VideoFileRequest) {
  const { upstreamId, model } = facts;
  const { variant, index } = asked;
  const based = { ...channel, baseUrl: channel.baseUrl || provider.defaultBaseUrl };
  try {
    return provider.videos?.source(based, { upstreamId, model, urls: content?.urls ?? [], index }, variant) ?? null;
  } catch (error) {
    if (error instanceof NotConvertible) throw new RelayError(400, 'convert_request_failed', error.message);
    throw error;
  }
}

async function sendFrom(ports: StagePorts, asked: VideoFileRequest, from: FileSource): Promise<void> {
  const connection = new HttpCaller(asked, asked.dialect);
  const { answer, sending } = await openVideoFile(ports, asked, from);
  const forget = connection.whenGone(() => sending.cancel());
  try {
    if (answer.status !== 200 && answer.status !== 206) throw await refusal(ports, asked, from, answer);
    if (from.source.inside === undefined) return await passOn(ports, asked, { connection, answer, sending });
    const file = await fileInside(ports, asked, from, answer);
    await sendWhole(ports, asked, connection, file);
  } finally {
    forget();
    sending.cancel();
  }
}

/** Upstream's, masked. */
async function refusal(
  ports: StagePorts,
  { variant }: VideoFileRequest,
  { keeper: { provider, channel, parsed }, user }: FileSource,
  { status, body }: UpstreamAnswer,
): Promise<RelayError> {
  if (status === 416)
    return new RelayError(416, 'range_not_satisfiable', 'the file is shorter than the range asked for');
  if (status === 404 || status === 410) return noSuchFile(variant);
  if (status < 400) return fromUpstream(unreadableAnswer(`the upstream answered with status ${status}`), 502);
  const slot = ports.answers.newSlot(user);
  try {
    const said = await body.whole(maxRefusal, slot).catch(() => Buffer.alloc(0));
    const error = errorOfStatus(status, said, confidentialOf(provider, channel));
    return judged(ports, { provider, parsed }, { error, costUnknown: false, request: '' }).error;
  } finally {
    slot.leave();
  }
}

/** Bytes of a refusal. */
const maxRefusal = 1024 * 1024;

const typeIn = ({ headers }: UpstreamAnswer): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

const shownType = (type: string): string => (type.endsWith('/octet-stream') ? 'video/mp4' : type);

/** A page must not be shown as one of ours. */
const always = ['x-content-type-options', 'nosniff', 'content-security-policy', "default-src 'none'; sandbox"] as const;

/** As it comes. */
async function passOn(
  { stalledCallers }: StagePorts,
  { variant, isHead }: VideoFileRequest,
  { connection, answer, sending }: { connection: HttpCaller; answer: UpstreamAnswer; sending: Sending },
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
  connection.begin(shownType(type), [...always, ...accepts, ...ranges], length, status);
  if (isHead) return connection.end();
  sending.begun();
  await passBody(connection, body, { length, maxBytes }, stalledCallers);
}

/** Throws RelayError. */
async function fileInside(
  { answers, largeWork }: StagePorts,
  { variant, index }: VideoFileRequest,
  { source: { inside }, user }: FileSource,
  { body }: UpstreamAnswer,
): Promise<VideoFile> {
  const slot = answers.newSlot(user);
  try {
    const bytes = await body.whole(answers.maxBytes, slot);
    const file = await largeWork.run(bytes.length, () => inside?.(bytes, index) ?? null);
    if (file === null) throw noSuchFile(variant);
    return file;
  } catch (error) {
    if (error instanceof Lost) throw fromUpstream(brokenOff('read_response_body_failed'), 500);
    throw error;
  } finally {
    slot.leave();
  }
}

/** `bytes=2-` of ten → from 2 to 9; null: all of it. */
function rangeWithin(range: string | undefined, length: number): { readonly from: number; readonly to: number } | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range ?? '') ?? [];
  if (first === '' && last === '') return null;
  const from = first === '' ? Math.max(length - Number(last), 0) : Number(first);
  const to = first === '' || last === '' ? length - 1 : Math.min(Number(last), length - 1);
  return from <= to ? { from, to } : null;
}

async function sendWhole(
  { stalledCallers }: StagePorts,
  { range, isHead }: VideoFileRequest,
  connection: HttpCaller,
  { type, bytes }: VideoFile,
): Promise<void> {
  const part = rangeWithin(range, bytes.length);
  const sent = part === null ? bytes : bytes.subarray(part.from, part.to + 1);
  const ranges = part === null ? [] : ['content-range', `bytes ${part.from}-${part.to}/${bytes.length}`];
  const status = part === null ? 200 : 206;
  connection.begin(type, [...always, 'accept-ranges', 'bytes', ...ranges], sent.length, status);
  if (isHead) return connection.end();
  await writeToEnd(connection, sent, stalledCallers);
}
