import type { TaskView } from '../../application/ports/task-ports.js';
import { isKeptId } from '../../domain/call/kept-object.js';
import { urlIn } from '../../domain/kernel/address.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { authenticateOwner, type Shown } from '../admission/authenticate.js';
import { brokenOff } from '../answers/lost-answer.js';
import type { CallerDialect } from '../contracts/caller-dialect.js';
import { fromUpstream, RelayError } from '../contracts/errors.js';
import { NotConvertible, type UpstreamRequest } from '../contracts/protocol.js';
import type { VideoFile, VideoSource, VideoVariant } from '../contracts/video-files.js';
import { orderIn } from '../contracts/video-object.js';
import { HttpCaller } from '../delivery/http-caller.js';
import type { Answering } from '../delivery/refusal.js';
import { write, writeToEnd } from '../delivery/write-answer.js';
import { confidentialOf } from '../protocols/confidential-of.js';
import { undoubled } from '../protocols/model-address.js';
import type { Sending, UpstreamAnswer } from '../upstream/upstream.js';
import { errorOfStatus, unreadableAnswer } from '../upstream/upstream-error.js';
import { Lost } from '../upstream/upstream-response.js';
import { unreached } from './attempt-failure.js';
import { type Keeper, keeperOf } from './resource-request.js';
import { judged } from './send-attempt.js';
import type { StagePorts } from './stage-ports.js';
import { videoNotFound } from './video-errors.js';

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
const maxRedirects = 3;

const types: Readonly<Record<VideoVariant, RegExp>> = {
  video: /^(video\/[\w.+-]{1,64}|application\/octet-stream|binary\/octet-stream)$/,
  thumbnail: /^image\/[\w.+-]{1,64}$/,
  spritesheet: /^image\/[\w.+-]{1,64}$/,
};

/** One of them; others are not asked for. */
const singleRange = /^bytes=(\d{1,15}-\d{0,15}|-\d{1,15})$/;
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

interface FileSource {
  readonly keeper: Keeper;
  readonly source: VideoSource;
  readonly user: UserId;
}

async function sendFrom(ports: StagePorts, asked: VideoFileRequest, from: FileSource): Promise<void> {
  const connection = new HttpCaller(asked, asked.dialect);
  const { answer, sending } = await opened(ports, asked, from);
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

/** The answer at the end of all redirects. */
async function opened(
  ports: StagePorts,
  { range, variant }: VideoFileRequest,
  { keeper, source, user }: FileSource,
): Promise<{ readonly answer: UpstreamAnswer; readonly sending: Sending }> {
  const { provider, channel } = keeper;
  const wanted: Record<string, string> =
    range !== undefined && singleRange.test(range) && source.inside === undefined ? { range } : {};
  let request = await authorised(ports, keeper, source.request);
  request = {
    ...request,
    url: undoubled(channel.baseUrl || provider.defaultBaseUrl, request.url),
    headers: { ...request.headers, ...wanted },
  };
  const { origin } = new URL(request.url);
  const own = urlIn(channel.baseUrl || provider.defaultBaseUrl)?.origin;
  const { answerTimeoutMs } = ports.config;
  for (let followed = 0; followed <= maxRedirects; followed++) {
    const times = { timeoutMs: answerTimeoutMs, idleMs: answerTimeoutMs };
    // An address that upstream has chosen is fetched like every such one: its own network is not open to it.
    const isChosen = new URL(request.url).origin !== own && (source.inside === undefined || followed > 0);
    const sending = isChosen
      ? ports.files.send(request, { proxy: null, ...times, payer: user })
      : ports.upstream.send(request, { proxy: channel.proxy, ...times, payer: user });
    const sent = await sending.sent;
    if (!sent.ok) throw unreached(sent).error;
    const next = redirectIn(sent.answer, request.url);
    if (next === null) return { answer: sent.answer, sending };
    sending.cancel();
    // What shows that the request is the channel's is shown to nobody else.
    const headers = next.origin === origin ? request.headers : { accept: '*/*', ...wanted };
    request = { ...request, method: 'GET', url: next.href, headers };
  }
  throw fromUpstream(unreadableAnswer(`the upstream redirects more than ${maxRedirects} times for a ${variant}`), 502);
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** null: there is none that can be followed. */
function redirectIn({ status, headers: { location } }: UpstreamAnswer, from: string): URL | null {
  if (!redirects.has(status) || location === undefined) return null;
  const next = urlIn(location, new URL(from));
  if (next === null) return null;
  const isAllowed = next.protocol === 'https:' || (next.protocol === 'http:' && from.startsWith('http:'));
  return isAllowed && next.username === '' ? next : null;
}

/** Throws RelayError. */
async function authorised(
  ports: StagePorts,
  { provider, channel }: Keeper,
  request: UpstreamRequest,
): Promise<UpstreamRequest> {
  if (provider.authorisation === undefined) return request;
  const shown = await provider.authorisation.authorise(request, { provider, channel }, ports.authorising);
  if (shown.ok) return shown.request;
  throw shown.refusal === null ? unreached(shown).error : fromUpstream(shown.refusal, 502);
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
  let sent = 0;
  try {
    for (;;) {
      const next = await body.next();
      if (next.done || connection.gone) break;
      sent += next.value.length;
      if (sent > (length ?? maxBytes)) return connection.breakOff();
      await write(connection, next.value, stalledCallers);
    }
    if (connection.gone) return;
    if (length !== undefined && sent < length) return connection.breakOff();
    connection.end();
    if (connection.pending > 0) stalledCallers.watch(connection);
  } catch (error) {
    if (!(error instanceof Lost)) throw error;
    if (!connection.gone) connection.breakOff();
  }
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
