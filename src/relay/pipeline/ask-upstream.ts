import type { UserId } from '../../domain/kernel/ids.js';
import {
  accountUnavailable,
  fromUpstream,
  networkFailure,
  type RelayError,
  saturatedHere,
  toldToCaller,
} from '../contracts/errors.js';
import type { RelayPorts } from '../contracts/ports.js';
import type { CallerRequest, Provider, UpstreamChannel, UpstreamRequest } from '../contracts/protocol.js';
import type { CallerPresence } from '../delivery/caller-presence.js';
import type { InFlightCall } from '../metering/in-flight-calls.js';
import type { ThinkingAsked } from '../protocols/thinking-asked.js';
import type { Got } from '../upstream/answer-reading.js';
import type { AnswerPlace } from '../upstream/answer-room.js';
import { noRoomForAnswer } from '../upstream/lost-answer.js';
import { passedHeaders } from '../upstream/passed-headers.js';
import { wordsOf } from '../upstream/request-content.js';
import type { Unreached } from '../upstream/upstream.js';
import { readAnswer } from '../upstream/upstream-answer.js';
import type { UpstreamError } from '../upstream/upstream-error.js';
import { reasonOf, saysChannelIsDead } from './channel-health.js';
import { mappedStatus, type ParsedChannel } from './channel-settings.js';
import { isRetryable } from './routing.js';

/* A request that is ready is sent to one channel, and what comes back is judged. */

/** What was asked of upstream, as far as it differs from what was asked of us. */
export interface Asked {
  readonly upstreamModel: string;
  readonly reasoningEffort: string | null;
  readonly thinking: ThinkingAsked;
}

export type Attempt =
  | ({
      readonly ok: true;
      readonly got: Got;
      /** Of upstream's, for the caller: names and values in turn. null: none. */
      readonly headers: readonly string[] | null;
    } & Asked)
  | {
      readonly ok: false;
      readonly retryable: boolean;
      /** For the caller. */
      readonly error: RelayError;
      /** In upstream's own words where the caller gets others. */
      readonly forOperator: RelayError;
      /** What upstream answered with, before any mapping; null: it gave no answer. */
      readonly answered: number | null;
      /** Upstream may have done the work, and may charge for it. */
      readonly costUnknown: boolean;
      /** Upstream was still at it when nobody was left to wait for it. null: it was not, or somebody was. */
      readonly abandoned: Asked | null;
      /** Nothing was sent, and another channel may be asked as if this one were not there. */
      readonly passedOver: 'busy' | 'unsuited' | null;
      /** Upstream did not take the credentials that were shown. */
      readonly unauthorised: boolean;
      /** Set when the failure says that the channel itself is out of order: why. */
      readonly outOfOrder: string | null;
    };

export type AttemptFailure = Extract<Attempt, { ok: false }>;

export interface AttemptCall {
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
  readonly answerPlace: AnswerPlace;
  /** null: nobody waits for the answer but ourselves. */
  readonly presence: CallerPresence | null;
  /** Where to note how far it has come. */
  readonly underWay: InFlightCall | null;
}

const thinksFirst = (model: string): boolean => /^o[13]/.test(model);

/** Where and for whom a request is sent. */
export interface Place {
  readonly provider: Provider;
  readonly channel: UpstreamChannel;
  readonly parsed: ParsedChannel;
}

export type AskPorts = Pick<RelayPorts, 'directory' | 'upstream' | 'config' | 'largeWork' | 'answers'>;

export async function ask(
  ports: AskPorts,
  { callId, requestedModel, caller, startedAt, payer, answerPlace, presence, underWay }: AttemptCall,
  { provider, channel, parsed }: Place,
  request: UpstreamRequest,
): Promise<Attempt> {
  const info = { callId, model: request.model, createdAt: Math.floor(startedAt / 1000) };
  const idleMs = ports.config.streamIdleMs * (thinksFirst(request.model) ? 2 : 1);
  const { answerTimeoutMs, callerGoneMs } = ports.config;
  const { model: upstreamModel, reasoningEffort, thinking } = request;
  const asked: Asked = { upstreamModel, reasoningEffort, thinking };
  const sending = ports.upstream.send(request, {
    proxy: channel.proxy,
    timeoutMs: answerTimeoutMs,
    idleMs: caller.stream || caller.answersSound ? idleMs : answerTimeoutMs,
    payer,
  });
  if (underWay !== null) {
    underWay.sending = sending;
    underWay.upstreamModel = request.model === requestedModel ? null : request.model;
  }
  let grace: NodeJS.Timeout | null = null;
  let abandoned = null as Asked | null;
  const abandon = (): void => {
    abandoned = asked;
    sending.cancel();
  };
  // What upstream has accepted must be paid for: it is waited for, though not for ever.
  const wait = (): void => {
    grace = setTimeout(abandon, callerGoneMs).unref();
  };
  const forget = caller.stream ? presence?.whenGone(wait) : undefined;
  if (caller.stream && presence?.gone) wait();
  try {
    const sent = await sending.sent;
    if (!sent.ok) {
      const failure = { ...unreached(sent), costUnknown: sent.requestSent };
      return sent.requestSent && abandoned !== null ? { ...failure, costUnknown: false, abandoned } : failure;
    }
    const { largeWork, answers } = ports;
    const room = { largest: answers.largest, place: answerPlace };
    const patience = { idleMs, unseenMs: answerTimeoutMs };
    const answered = { provider, channel, caller, info, sending, patience, largeWork, ...room };
    const read = await readAnswer(answered, sent.answer);
    if (read.ok) {
      const headers = passedHeaders(caller.dialect.upstreamHeaders, sent.answer.headers, channel);
      return { ok: true, upstreamModel, reasoningEffort, thinking, got: read.got, headers };
    }
    answerPlace.leave();
    const { error, costUnknown } = read;
    const judgement = judged(ports, { provider, parsed }, { error, costUnknown, request: wordsOf(request.content) });
    return costUnknown && abandoned !== null ? { ...judgement, costUnknown: false, abandoned } : judgement;
  } finally {
    if (grace !== null) clearTimeout(grace);
    forget?.();
  }
}

/** The channel, or its host, is as busy as it may be. */
export const noRoom = (): AttemptFailure => ({ ...failed(saturatedHere(), true), passedOver: 'busy' });

/** Nothing came back, or there was no way to ask. */
export function unreached({ saturated, blocked, timedOut }: Unreached): AttemptFailure {
  if (saturated) return noRoom();
  if (blocked) return failed(networkFailure('the address of the upstream is not allowed'), true);
  return failed(networkFailure(timedOut ? 'the upstream did not answer in time' : undefined), true);
}

export const failed = (error: RelayError, retryable: boolean): AttemptFailure => ({
  ok: false,
  retryable,
  error,
  forOperator: error,
  answered: null,
  costUnknown: false,
  abandoned: null,
  passedOver: null,
  unauthorised: false,
  outOfOrder: null,
});

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
  { provider, parsed }: Pick<Place, 'provider' | 'parsed'>,
  { error, costUnknown, request }: Refused,
): AttemptFailure {
  const status = mappedStatus(parsed, error.status);
  const { keywords } = directory.settings().autoDisable;
  const dead = saysChannelIsDead(provider, status, error, { keywords, request });
  const outOfOrder = dead ? reasonOf(status, error, request) : null;
  if (costUnknown) {
    const retryable = error.code !== noRoomForAnswer && isRetryable(error.status);
    const forOperator = fromUpstream(error, error.status);
    return {
      ...failed(toldToCaller(error, error.status), retryable),
      ...{ forOperator, answered: error.status, costUnknown, outOfOrder },
    };
  }
  // Too much at once is told as ever: with words of the operator's choice it may be the rate of a minute.
  const told = dead && status !== 429 ? accountUnavailable(error.status, status) : toldToCaller(error, status);
  return {
    ...failed(told, isRetryable(told.status)),
    forOperator: fromUpstream(error, status),
    answered: error.status,
    unauthorised: error.status === 401,
    outOfOrder,
  };
}
