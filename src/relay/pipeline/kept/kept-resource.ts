import { isKeptId, type KeptKind, type KeptOwner } from '../../../domain/call/kept-object.js';
import type { CallId, ChannelId, UserId } from '../../../domain/kernel/ids.js';
import { authenticate } from '../../admission/authenticate.js';
import { brokenOff, noRoomHere } from '../../answers/lost-answer.js';
import type { Endpoint } from '../../contracts/endpoint.js';
import { fromUpstream, jsonType, RelayError, saturatedHere } from '../../contracts/errors.js';
import { isKeptAnyway, keptNotFound } from '../../contracts/kept-ids.js';
import type { BodySource } from '../../contracts/ports.js';
import { HttpCaller } from '../../delivery/http-caller.js';
import { eventStreamType, streamHeaders, write, writeToEnd } from '../../delivery/write-answer.js';
import { isObject, type JsonObject, parseJson, textIn } from '../../json/json.js';
import { confidentialOf } from '../../protocols/confidential-of.js';
import type { AnswerSlot } from '../../upstream/answer-room.js';
import { passedHeaders } from '../../upstream/passed-headers.js';
import type { UpstreamAnswer } from '../../upstream/upstream.js';
import { errorOfStatus, unreadableAnswer } from '../../upstream/upstream-error.js';
import { Lost, NoRoomForAnswer } from '../../upstream/upstream-response.js';
import { unreached } from '../attempt-failure.js';
import { authorisedRequest, forgetRefused } from '../authorised-request.js';
import type { IncomingCall } from '../call-context.js';
import { LastEvent } from '../last-event.js';
import { judged } from '../send-attempt.js';
import type { StagePorts } from '../stage-ports.js';
import { checkItems } from './kept-items.js';
import { type Keeper, keeperOf, type ResourceRequest, resourceCaller, resourceRequest } from './resource-request.js';
import { serveStored } from './stored-resource.js';

/*
 * What a provider keeps, looked at, deleted or cancelled by its owner. Nobody pays. It is asked of the channel that keeps
 * it, and what that answers is passed on; a refusal is one as of calls.
 */

/** What is asked for, and by whom. `bodySource`: of what is sent along; null: nothing is. */
export interface KeptRequest extends Omit<IncomingCall, 'model' | 'bodySource'> {
  readonly bodySource: BodySource | null;
  readonly endpoint: Endpoint;
  readonly kind: KeptKind;
  /** In the path; null: it is to be made. */
  readonly id: string | null;
  /** Below it. */
  readonly rest: readonly string[];
  readonly method: ResourceRequest['method'];
  /** In place of the endpoint's own collection upstream; null: that. */
  readonly instead: string | null;
  /** A file is answered, not JSON. */
  readonly file: boolean;
}

/** Members of a query that are upstream's to read. */
const passedQuery = /^(include(\[\])?|stream|starting_after|include_obfuscation|after|before|limit|order)$/;
const maxQueryMembers = 32;
const maxQueryText = 512;

function queryOf(query: URLSearchParams): URLSearchParams {
  const passed = new URLSearchParams();
  for (const [name, value] of query)
    if (passedQuery.test(name) && value.length <= maxQueryText && passed.size < maxQueryMembers)
      passed.append(name, value);
  return passed;
}

/** Serves it. Throws RelayError, where nothing is sent yet. */
export async function serveKept(ports: StagePorts, asked: KeptRequest): Promise<void> {
  const { directory, limits, answers } = ports;
  const { user, apiKey } = await authenticate(ports, asked);
  const leave = await limits.admit(user.id, apiKey.id, directory.settings());
  const slot = answers.newSlot(user.id);
  let succeeded = false;
  try {
    if (await serveStored(ports, asked, user.id, slot)) {
      succeeded = true;
      return;
    }
    const owner = await ownerOf(ports, user.id, asked);
    // Deleted while it runs, nobody could say what it has cost.
    if (asked.method === 'DELETE' && (await isRunning(ports, owner))) throw stillRunning();
    const content = await contentOf(ports, asked, user.id, owner.channelId);
    const { userId, channelId, callId, kind } = owner;
    const made = (body: JsonObject | null) => settled(ports, callId, body);
    await askAt(ports, asked, { channelId, slot, userId, content, of: kind === 'conversation' ? ofNone : owner, made });
    succeeded = true;
  } finally {
    slot.leave();
    leave(succeeded);
  }
}

/** Whoever sees the end of it, it is settled before they see it. */
async function settled({ background }: Pick<StagePorts, 'background'>, callId: CallId, body: JsonObject | null) {
  if (body === null || ended.has(textIn(body.status) ?? '')) await background.look(callId);
}

/** What is sent along, once it has passed the checks of an input; null: nothing is. Throws RelayError. */
async function contentOf(
  ports: StagePorts,
  { bodySource, endpoint, ip }: Pick<KeptRequest, 'bodySource' | 'endpoint' | 'ip'>,
  user: UserId,
  channelId: ChannelId,
): Promise<string | null> {
  if (bodySource === null) return null;
  const body = await ports.bodies.json(bodySource, ip, user);
  try {
    const needed = await checkItems(ports, user, endpoint, body);
    if (needed === null || needed === channelId) return body.text ?? '{}';
    throw new RelayError(400, 'invalid_request', 'items: what they name is kept at another upstream', {
      type: 'invalid_request_error',
      param: 'items',
    });
  } finally {
    body.leave();
  }
}

async function isRunning({ background }: Pick<StagePorts, 'background'>, { callId }: KeptOwner): Promise<boolean> {
  if (!(await background.isOpen(callId))) return false;
  await background.look(callId);
  return background.isOpen(callId);
}

const stillRunning = (): RelayError =>
  new RelayError(409, 'response_in_progress', 'the response is still being made; cancel it first', {
    type: 'invalid_request_error',
    param: null,
  });

async function ownerOf(
  { kept, directory }: Pick<StagePorts, 'kept' | 'directory'>,
  user: UserId,
  { kind, id: named, rest }: Pick<KeptRequest, 'kind' | 'id' | 'rest'>,
): Promise<KeptOwner> {
  const id = named ?? '';
  // No part of the path leads elsewhere.
  const wrong = rest.find((part) => !isKeptId(part));
  if (wrong !== undefined) throw keptNotFound('item', wrong, null);
  if (!directory.settings().keepsUpstream && !isKeptAnyway(kind)) throw keptNotFound(kind, id, null);
  const owner = isKeptId(id) ? (await kept.ownedBy(user, [id])).get(id) : undefined;
  if (owner === undefined || owner.kind !== kind) throw keptNotFound(kind, id, null);
  return owner;
}

/** Of the call that has left something there, as asked for and as sent upstream; empty: of none. */
type KeptModels = Pick<KeptOwner, 'model' | 'upstreamModel'>;

export const ofNone: KeptModels = { model: '', upstreamModel: null };

interface KeeperRequest {
  readonly channelId: ChannelId;
  readonly slot: AnswerSlot;
  readonly userId: UserId;
  readonly content: string | null;
  readonly of: KeptModels;
  /** Called with an answer before its caller gets it; null: with the last event of a stream. */
  readonly made: (body: JsonObject | null) => Promise<void>;
}

/** Asks the channel, within its limit, and passes on what it answers. Throws RelayError. */
export async function askAt(ports: StagePorts, asked: KeptRequest, request: KeeperRequest): Promise<void> {
  const { channelId } = request;
  const keeper = await keeperOf(ports, channelId, asked.endpoint);
  const leaveChannel = await ports.limits.enterChannel(channelId, keeper.parsed.maxCalls);
  if (leaveChannel === null) throw saturatedHere();
  try {
    await askAndPass(ports, asked, keeper, request);
  } finally {
    leaveChannel();
  }
}

async function askAndPass(
  ports: StagePorts,
  asked: KeptRequest,
  keeper: Keeper,
  { slot, userId, content, of, made }: KeeperRequest,
): Promise<void> {
  const { endpoint, method, id, rest, instead } = asked;
  const query = queryOf(asked.query);
  const stream = method === 'GET' && query.get('stream') === 'true';
  const caller = resourceCaller(endpoint, asked.query, asked.headers, { stream, model: of.model });
  const bare = resourceRequest(ports, keeper, caller, {
    method,
    instead,
    path: id === null ? rest : [id, ...rest],
    query,
    model: of.upstreamModel ?? of.model,
    content,
  });
  const request = await authorisedRequest(ports, keeper, bare);
  const connection = new HttpCaller(asked, endpoint.dialect);
  const { answerTimeoutMs, streamIdleMs } = ports.config;
  const sending = ports.upstream.send(request, {
    proxy: keeper.channel.proxy,
    timeoutMs: answerTimeoutMs,
    idleMs: stream ? streamIdleMs * 2 : answerTimeoutMs,
    payer: userId,
  });
  // What is only read is read for nobody else; what is to happen upstream happens.
  const forget = method === 'GET' ? connection.whenGone(() => sending.cancel()) : () => {};
  try {
    const sent = await sending.sent;
    if (!sent.ok) throw unreached(sent).error;
    const { answer } = sent;
    forgetRefused(ports, keeper, request, answer.status);
    const headers = passedHeaders(endpoint.dialect.upstreamHeaders, answer.headers, keeper.channel) ?? [];
    if (answer.status < 200 || answer.status > 299) throw await refusal(ports, asked, { keeper, slot, answer });
    if (stream && /^text\/event-stream/i.test(answer.headers['content-type'] ?? '')) {
      sending.begun();
      await passStream(ports, connection, answer, { headers, made });
      return;
    }
    const bytes = await wholeOf(answer, ports.answers.maxBytes, slot);
    if (asked.file) {
      // Whatever it is called: a browser is to show none of it.
      connection.begin('application/octet-stream', headers, bytes.length);
      await writeToEnd(connection, bytes, ports.stalledCallers);
      return;
    }
    const body = await ports.largeWork.run(bytes.length, () => parseJson(bytes.toString('utf8')));
    if (!isObject(body)) throw fromUpstream(unreadableAnswer('the upstream answered something that is not JSON'), 502);
    await made(body);
    connection.begin(jsonType, headers, bytes.length);
    await writeToEnd(connection, bytes, ports.stalledCallers);
  } finally {
    forget();
    if (connection.gone) sending.cancel();
  }
}

/** Bytes of a refusal. */
const maxRefusal = 1024 * 1024;

async function wholeOf(answer: UpstreamAnswer, maxBytes: number, slot: AnswerSlot): Promise<Buffer> {
  try {
    return await answer.body.whole(maxBytes, slot);
  } catch (error) {
    if (error instanceof NoRoomForAnswer) throw fromUpstream(noRoomHere(error.why), 503);
    if (error instanceof Lost) throw fromUpstream(brokenOff('read_response_body_failed'), 500);
    throw error;
  }
}

/** What lies below, where it is no item. */
const partOf: Partial<Record<KeptKind, KeptKind>> = { container: 'file' };

/** Upstream's, masked. What it does not know any more is not found, in the same words as what nobody ever had. */
async function refusal(
  ports: StagePorts,
  { kind, id, rest }: Pick<KeptRequest, 'kind' | 'id' | 'rest'>,
  {
    keeper: { provider, channel, parsed },
    slot,
    answer,
  }: Pick<KeeperRequest, 'slot'> & { readonly keeper: Keeper; readonly answer: UpstreamAnswer },
): Promise<RelayError> {
  const { status } = answer;
  const body = await answer.body.whole(maxRefusal, slot).catch(() => Buffer.alloc(0));
  const [, item] = rest;
  if (status === 404 && id !== null)
    return item === undefined ? keptNotFound(kind, id, null) : keptNotFound(partOf[kind] ?? 'item', item, null);
  // Where nothing can be made there are none.
  if (status === 404) return new RelayError(501, 'api_not_implemented', 'the upstream of this group has none of these');
  if (status < 400) return fromUpstream(unreadableAnswer(`the upstream answered with status ${status}`), 502);
  const error = errorOfStatus(status, body, confidentialOf(provider, channel));
  return judged(ports, { provider, parsed }, { error, costUnknown: false, request: '' }).error;
}

const ended: ReadonlySet<string> = new Set(['completed', 'incomplete', 'failed', 'cancelled']);
/** As it comes. A break is one for the caller too, who goes on from where it was. */
async function passStream(
  { stalledCallers }: Pick<StagePorts, 'stalledCallers'>,
  connection: HttpCaller,
  { body }: UpstreamAnswer,
  { headers, made }: { readonly headers: readonly string[] } & Pick<KeeperRequest, 'made'>,
): Promise<void> {
  connection.begin(eventStreamType, [...streamHeaders, ...headers]);
  const lastEvent = new LastEvent();
  let looked = false;
  const look = async () => {
    if (!looked) await made(null);
    looked = true;
  };
  try {
    for (;;) {
      const next = await body.next();
      if (next.done || connection.gone) break;
      if (lastEvent.isIn(next.value)) await look();
      await write(connection, next.value, stalledCallers);
    }
    // Whatever its last event is called.
    if (!connection.gone) await look();
    connection.end();
  } catch (error) {
    if (!(error instanceof Lost)) throw error;
    if (!connection.gone) connection.breakOff();
  }
}
