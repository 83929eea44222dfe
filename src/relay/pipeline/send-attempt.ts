import { isImageMode } from '../../domain/channel/provider.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { factsOf } from '../../domain/models/model-facts.js';
import { noRoomForAnswer } from '../answers/lost-answer.js';
import { readAnswer } from '../answers/upstream-answer.js';
import { accountUnavailable, errorForCaller, fromUpstream } from '../contracts/errors.js';
import type { RelayPorts } from '../contracts/ports.js';
import type { CallerRequest, Provider, UpstreamChannel, UpstreamRequest } from '../contracts/protocol.js';
import type { CallerConnection } from '../delivery/caller-connection.js';
import type { InFlightCall } from '../metering/in-flight-calls.js';
import type { AnswerSlot } from '../upstream/answer-room.js';
import { passedHeaders } from '../upstream/passed-headers.js';
import type { Picture } from '../upstream/pictures.js';
import { wordsOf } from '../upstream/request-content.js';
import type { UpstreamError } from '../upstream/upstream-error.js';
import { type Attempt, type AttemptFailure, failed, type SentRequest, unreached } from './attempt-failure.js';
import { reasonOf, saysChannelIsDead } from './channels/channel-health.js';
import { mappedStatus, type ParsedChannel } from './channels/channel-settings.js';
import { isRetryable } from './channels/routing.js';

/* A request that is ready is sent to one channel, and what comes back is judged. */

/** What is put to a channel, and for whom: by a call, a count of tokens or a test of the channel. */
export interface ChannelRequest {
  readonly callId: string;
  /** The model as asked for. */
  readonly requestedModel: string;
  readonly caller: CallerRequest;
  /** Of the caller's body as it came. */
  readonly bodyBytes: number;
  readonly startedAt: number;
  /** Whose share of the upstream it takes; null: nobody's. */
  readonly payer: UserId | null;
  /** Counts what is held of whole answers. */
  readonly answerSlot: AnswerSlot;
  /** null: nobody waits for the answer but ourselves. */
  readonly connection: Pick<CallerConnection, 'gone' | 'whenGone'> | null;
  /** Where to note how far it has come. */
  readonly inFlightCall: InFlightCall | null;
}

/** Where and for whom a request is sent. */
export interface AttemptTarget {
  readonly provider: Provider;
  readonly channel: UpstreamChannel;
  readonly parsed: ParsedChannel;
}

export type SendAttemptPorts = Pick<
  RelayPorts,
  'directory' | 'upstream' | 'config' | 'largeWork' | 'answers' | 'pictures'
>;

/** Of a picture nothing is seen while it is made, streamed or not: it is waited for as a whole answer is. */
const comesBitByBit = ({ mode, stream, answersAudio }: CallerRequest): boolean =>
  (stream && !isImageMode(mode)) || answersAudio;

export async function sendAttempt(
  ports: SendAttemptPorts,
  { callId, requestedModel, caller, startedAt, payer, answerSlot, connection, inFlightCall }: ChannelRequest,
  { provider, channel, parsed }: AttemptTarget,
  request: UpstreamRequest,
): Promise<Attempt> {
  const info = { callId, model: request.model, createdAt: Math.floor(startedAt / 1000) };
  const idleMs = ports.config.streamIdleMs * (factsOf(request.model).startsSlowly ? 2 : 1);
  const { callerGoneMs } = ports.config;
  const answerTimeoutMs = Math.min(request.timeoutMs ?? Infinity, ports.config.answerTimeoutMs);
  const { model: upstreamModel, reasoningEffort, thinking, service } = request;
  const asked: SentRequest = { upstreamModel, reasoningEffort, thinking, service };
  const sending = ports.upstream.send(request, {
    proxy: channel.proxy,
    timeoutMs: answerTimeoutMs,
    idleMs: comesBitByBit(caller) ? idleMs : answerTimeoutMs,
    payer,
  });
  if (inFlightCall !== null) {
    inFlightCall.sending = sending;
    inFlightCall.upstreamModel = request.model === requestedModel ? null : request.model;
  }
  let grace: NodeJS.Timeout | null = null;
  let abandoned = null as SentRequest | null;
  const abandon = (): void => {
    abandoned = asked;
    sending.cancel();
  };
  // What upstream has accepted must be paid for: it is waited for, though not for ever.
  const wait = (): void => {
    grace = setTimeout(abandon, callerGoneMs).unref();
  };
  // In the background it goes on, whoever waits.
  const isWaitedFor = caller.stream && caller.inBackground !== true;
  const forget = isWaitedFor ? connection?.whenGone(wait) : undefined;
  if (isWaitedFor && connection?.gone) wait();
  try {
    const sent = await sending.sent;
    if (!sent.ok) {
      const failure = { ...unreached(sent), costUnknown: sent.requestSent };
      return sent.requestSent && abandoned !== null ? { ...failure, costUnknown: false, abandoned } : failure;
    }
    const { largeWork, answers } = ports;
    const room = { maxBytes: answers.maxBytes, slot: answerSlot };
    const patience = { idleMs, unseenMs: answerTimeoutMs };
    const { gathers, streamsLines } = request;
    const fetchPicture = async (address: string): Promise<Picture | null> =>
      (await ports.pictures.fetch([address], payer, answerSlot))?.get(address) ?? null;
    const answered = {
      ...{ provider, channel, caller, gathers, streamsLines, info, sending, patience, largeWork, fetchPicture },
      ...room,
    };
    const read = await readAnswer(answered, sent.answer);
    if (read.ok) {
      const headers = passedHeaders(caller.dialect.upstreamHeaders, sent.answer.headers, channel);
      const stores = caller.conversation?.stores === true;
      return { ok: true, upstreamModel, reasoningEffort, thinking, service, got: read.got, headers, stores };
    }
    answerSlot.leave();
    const { error, costUnknown, later, orderFailed } = read;
    const judgement = {
      ...judged(ports, { provider, parsed }, { error, costUnknown, request: wordsOf(request.content) }),
      ...(later !== undefined && { later }),
      ...(orderFailed === true && { orderFailed }),
    };
    return costUnknown && abandoned !== null ? { ...judgement, costUnknown: false, abandoned } : judgement;
  } finally {
    if (grace !== null) clearTimeout(grace);
    forget?.();
  }
}

/** What upstream refused with. */
interface Refused {
  readonly error: UpstreamError;
  readonly costUnknown: boolean;
  /** In words, as it was sent. */
  readonly request: string;
}

/** The channel's status mapping first; retry and health are judged by its result. */
export function judged(
  { directory }: Pick<RelayPorts, 'directory'>,
  { provider, parsed }: Pick<AttemptTarget, 'provider' | 'parsed'>,
  { error, costUnknown, request }: Refused,
): AttemptFailure {
  const status = mappedStatus(parsed, error.status);
  const { keywords } = directory.settings().autoDisable;
  const dead = error.outOfOrder === true || saysChannelIsDead(provider, status, error, { keywords, request });
  const outOfOrder = dead ? reasonOf(status, error, request) : null;
  if (costUnknown) {
    const retryable = error.code !== noRoomForAnswer && isRetryable(error.status);
    const forOperator = fromUpstream(error, error.status);
    return {
      ...failed(errorForCaller(error, error.status), retryable),
      ...{ forOperator, answered: error.status, costUnknown, outOfOrder },
    };
  }
  // Too much at once is answered as ever: with words of the operator's choice it may be the rate of a minute.
  const isHidden = dead && status !== 429 && error.outOfOrder !== true;
  const shown = isHidden ? accountUnavailable(error.status, status) : errorForCaller(error, status);
  return {
    ...failed(shown, isRetryable(shown.status)),
    forOperator: fromUpstream(error, status),
    answered: error.status,
    unauthorised: error.status === 401,
    outOfOrder,
  };
}
