import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { SpendingTerms } from '../../domain/api-key/api-key-terms.js';
import type { CallFacts, FailedAttempt } from '../../domain/call/call.js';
import type { Release } from '../../domain/call/call-conclusion.js';
import { failureCodeOf } from '../../domain/call/call-texts.js';
import { isUnavailable } from '../../domain/kernel/failure.js';
import { CallId, type ChannelId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { authenticate, type Caller, checkNotBanned, type KeyCaller, type Shown } from '../admission/authenticate.js';
import { isAllowed } from '../admission/ip-allow-list.js';
import type { Endpoint } from '../contracts/endpoint.js';
import { RelayError, refusalFor } from '../contracts/errors.js';
import type { RelayPorts } from '../contracts/ports.js';
import { type Answered, type Course, openAnswering } from '../delivery/answering.js';
import { CallerPresence } from '../delivery/caller-presence.js';
import { type Heartbeat, noHeartbeat, openHeartbeats } from '../delivery/heartbeats.js';
import { watchStalledCallers } from '../delivery/stalled-callers.js';
import type { InFlightCall } from '../metering/in-flight-calls.js';
import type { Reservation } from '../metering/metered.js';
import type { AnswerPlace } from '../upstream/answer-room.js';
import { type AccountWatch, watchAccount } from './account-watch.js';
import { type Attempt, type AttemptCall, type AttemptFailure, noRoom } from './ask-upstream.js';
import { attempt } from './attempt.js';
import { callerRequest } from './caller-request.js';
import { channelParser } from './channel-settings.js';
import { type Count, openCounting } from './counting.js';
import { refusalOf } from './payment-refusal.js';
import { type Answering, refuse, refuseInStream } from './refusal.js';
import { type KnownOfCall, nothingKnown, refusedCall } from './refused-call.js';
import { knownGroupIn, orderSteps, type ResolvedCall, servedBody } from './resolve-call.js';
import { chooseChannel } from './routing.js';
import { named, sentBody } from './sent-text.js';

/* One request in order: authenticate, limit, order, reserve, call, meter, answer. */

export interface IncomingCall extends Shown, Answering {
  /** The user who calls in person; `credential` is not looked at then. Left out: an API key calls. */
  readonly inPerson?: UserView;
  readonly endpoint: Endpoint;
  /** The model that the address names, whatever the body says; null: the body names it. */
  readonly model: string | null;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Its body is not read yet: who calls is asked first. */
  readonly request: IncomingMessage;
}

export interface Relay {
  /** Answers the call, whatever happens; never rejects. */
  handle(call: IncomingCall): Promise<void>;
  /** The caller behind a request that is no call, e.g. a model listing. Throws RelayError. */
  identify(shown: Shown): Promise<KeyCaller>;
  /** How many tokens the prompt of a call has: nothing is generated, and nobody pays. Throws RelayError. */
  count: Count;
  /** Calls under way. */
  active(): number;
}

const none = (): void => {};

/** Who calls without an API key spends what there is. */
const inPerson: SpendingTerms = { unlimited: true, budget: null };

/** A call whose upstream answers, and its place at the channel. */
interface Accepted extends Answered {
  readonly leaveChannel: () => void;
}

/** A call that is paid for: somebody waits for its answer, and how far it has come is noted. */
interface ServedCall extends AttemptCall {
  readonly presence: CallerPresence;
  readonly underWay: InFlightCall;
}

/** Who is served, and what is known of that so far. */
interface Serving {
  readonly caller: Caller;
  readonly presence: CallerPresence;
  readonly answerPlace: AnswerPlace;
  readonly known: KnownOfCall;
}

/** What became of asking channels in turn. */
interface Tried {
  readonly last: Attempt;
  readonly tried: readonly ChannelId[];
  /** undefined: none failed. */
  readonly failed: readonly FailedAttempt[] | undefined;
  readonly unknownAttempts: number;
  /** Gives back the place at the channel that answers. */
  readonly leave: () => void;
  readonly faulted: AccountWatch;
}

const failedAttempt = (
  channelId: ChannelId,
  { answered, forOperator }: AttemptFailure,
  tookMs: number,
): FailedAttempt => ({
  channelId,
  status: answered,
  code: failureCodeOf(forOperator.code),
  durationMs: Math.max(0, tookMs),
});

export function openRelay(ports: RelayPorts): Relay {
  const { directory, limits, meter, clock, log } = ports;
  const parsedChannel = channelParser();
  const orderPorts = { directory, providerOf: ports.providerOf, parsedChannel };
  const stalledCallers = watchStalledCallers({
    limitMs: ports.config.callerStallMs,
    gaveUp: ({ requestId, pending }) =>
      log.info({ requestId, pending }, 'a caller takes nothing of its answer any more and is given up'),
  });
  const heartbeats = openHeartbeats();
  const { answer, settleAbandoned } = openAnswering({ ...ports, stalledCallers });
  let active = 0;

  const elapsedSince = (startedAt: Instant) => (): number => Math.max(0, clock.now() - startedAt);

  const identified = async (shown: Shown, known: KnownOfCall): Promise<KeyCaller> => {
    const caller = await authenticate(ports, shown, known);
    if (!isAllowed(shown.ip, caller.apiKey.terms.allowIps))
      throw new RelayError(403, 'ip_not_allowed', 'the client address is not in the allow list of the token');
    return caller;
  };

  const identify: Relay['identify'] = (shown) => identified(shown, nothingKnown());

  const callerOf = async (call: IncomingCall, known: KnownOfCall): Promise<Caller> => {
    const { inPerson: user } = call;
    if (user === undefined) return identified(call, known);
    known.user = user;
    checkNotBanned(user);
    return { user, apiKey: null, pinnedChannel: null };
  };

  const reserve = async (callId: CallId, caller: Caller, order: ResolvedCall): Promise<Reservation> => {
    const { apiKey, user } = caller;
    const facts: CallFacts = {
      userId: user.id,
      apiKeyId: apiKey?.id ?? null,
      apiKeyName: apiKey?.terms.name ?? `playground-${order.group}`,
      group: order.group,
      model: order.model,
      path: order.endpoint.path,
      stream: order.stream,
    };
    const { unlimited, budget } = apiKey?.terms ?? inPerson;
    const reserving = await meter.reserve(callId, facts, { unlimited, budget }, order.estimate);
    if (reserving.ok) return reserving.reservation;
    throw refusalOf(reserving.shortage, order.estimate, directory.settings());
  };

  const heartbeatOf = ({ response, head, endpoint }: IncomingCall, presence: CallerPresence): Heartbeat => {
    const { pingIntervalMs: intervalMs, streamOpenMs: openAfterMs } = directory.settings();
    return heartbeats.begin({ response, presence, head, dialect: endpoint.dialect, openAfterMs, intervalMs });
  };

  /** Tries channels until one answers, or nobody is left to ask or to wait. */
  const tryChannels = async (order: ResolvedCall, call: ServedCall): Promise<Tried> => {
    const { callId, presence, underWay } = call;
    const failed = new Set<ChannelId>();
    const tried: ChannelId[] = [];
    const failures: FailedAttempt[] = [];
    let open = order.channels.map((channel) => ({
      id: channel.id,
      priority: channel.settings.priority,
      weight: channel.settings.weight,
      channel,
    }));
    let failure: AttemptFailure | null = null;
    const attempts = order.pinned ? 1 : directory.settings().retryTimes + 1;
    let unknownAttempts = 0;
    let begun = clock.now();
    const ended = (last: Attempt, tried: readonly ChannelId[], leave = none, faulted: AccountWatch = none): Tried => ({
      last,
      tried,
      faulted,
      failed: failures.length === 0 ? undefined : failures,
      unknownAttempts,
      leave,
    });
    for (let index = 0; ; ) {
      const chosen = chooseChannel(open, index, failed, Math.random());
      if (chosen === null) return ended(failure ?? noRoom(), tried);
      const parsed = parsedChannel(chosen.channel);
      const withThis = [...tried, chosen.id];
      underWay.attempts = withThis;
      const leave = await limits.enterChannel(chosen.id, parsed.maxCalls);
      let last: Attempt;
      try {
        last = leave !== null ? await attempt(ports, call, chosen.channel, parsed) : noRoom();
      } catch (error) {
        leave?.();
        if (failure === null || !isUnavailable(error)) throw error;
        // What an upstream has said tells the caller more than that nobody else could be asked.
        log.warn({ requestId: callId, err: error }, 'no further channel could be asked');
        return ended(failure, tried);
      }
      if (last.ok) return ended(last, withThis, leave ?? none, watchAccount(ports, chosen.channel, parsed));
      leave?.();
      if (last.passedOver !== null) {
        // It was no attempt. That the request suits nobody else tells the caller more than that there is no room.
        if (last.passedOver === 'unsuited') failure ??= last;
        open = open.filter((candidate) => candidate !== chosen);
        continue;
      }
      tried.push(chosen.id);
      failure = last;
      const now = clock.now();
      // What was given up because its caller had left has not failed.
      if (last.abandoned === null) failures.push(failedAttempt(chosen.id, last, now - begun));
      begun = now;
      underWay.sending = null;
      if (last.costUnknown) underWay.unknownAttempts = ++unknownAttempts;
      if (last.outOfOrder !== null && chosen.channel.settings.autoBan && directory.settings().autoDisable.enabled)
        ports.channelHealth.outOfOrder(chosen.id, chosen.channel.secrets.key, last.outOfOrder);
      if (!last.retryable || ++index >= attempts || presence.gone) return ended(last, tried);
      failed.add(chosen.id);
    }
  };

  /**
   * From the body to an upstream that has begun to answer; null: the caller has left. What the caller sent is in memory
   * for no longer than this takes, so nothing that is handed on may refer to it, closures made here included.
   */
  const ask = async (
    call: IncomingCall,
    { caller, presence, answerPlace, known }: Serving,
  ): Promise<Accepted | null> => {
    const { requestId, endpoint } = call;
    const payer = caller.user.id;
    const body = await ports.bodies[endpoint.body](call.request, call.ip, payer);
    try {
      const { bytes, upload } = body;
      const value = named(body.value, call.model);
      known.model = value.model ?? endpoint.usualModel;
      known.group = knownGroupIn(caller, value, directory.settings());
      const order = await ports.largeWork.runSteps(bytes, () =>
        orderSteps(orderPorts, caller, { endpoint, body: value, bytes, upload }),
      );
      const sent = sentBody(body, (given) => servedBody(caller, named(given, call.model)));
      const startedAt = clock.now();
      const callId = CallId(requestId);
      const reservation = await reserve(callId, caller, order);
      known.reserved = true;
      const elapsed = elapsedSince(startedAt);
      const { query, headers } = call;
      const paid = { order, reservation, files: upload === null ? null : upload.files };
      const { promptTokens } = order.estimate;
      const request = callerRequest({ endpoint, query, headers, sent, paid, promptTokens });

      let concludedCall = false;
      let handedOn = false;
      const release = async (release: Release): Promise<void> => {
        concludedCall = true;
        await reservation.release(release);
      };

      const heartbeat = order.stream ? heartbeatOf(call, presence) : noHeartbeat;
      known.heartbeat = heartbeat;
      try {
        if (presence.gone) {
          await release({ kind: 'caller-left', attempts: [], useTimeMs: elapsed(), unknownAttempts: 0 });
          return null;
        }
        const { underWay } = reservation;
        const { requestedModel } = order;
        const rest = { startedAt, payer, answerPlace, presence, underWay };
        const served: ServedCall = { callId, requestedModel, caller: request, bodyBytes: bytes, ...rest };
        const asked = await tryChannels(order, served);
        const { last, tried, failed, unknownAttempts, leave, faulted } = asked;
        if (tried.length > 1) log.info({ requestId, channels: tried.join('->') }, 'retried');
        const course: Course = { tried, failed, unknownAttempts, faulted, presence, elapsed };
        if (!last.ok && last.abandoned !== null) {
          concludedCall = true;
          await settleAbandoned({ order, reservation, course }, last.abandoned);
          throw last.error;
        }
        if (!last.ok) {
          const unanswered = { attempts: tried, failedAttempts: failed, useTimeMs: elapsed(), unknownAttempts };
          const { status, code } = last.error;
          if (presence.gone) await release({ kind: 'caller-left', ...unanswered });
          else await release({ kind: 'upstream-failed', status, code: failureCodeOf(code), ...unanswered });
          throw last.error;
        }
        handedOn = true;
        return { order, reservation, last, course, heartbeat, leaveChannel: leave };
      } catch (error) {
        const { costlyAttempts: unknownAttempts } = reservation.underWay;
        if (!concludedCall) await release({ kind: 'internal', useTimeMs: elapsed(), unknownAttempts });
        throw error;
      } finally {
        if (!handedOn) reservation.leave();
      }
    } finally {
      body.leave();
    }
  };

  const serve = async (call: IncomingCall, presence: CallerPresence, known: KnownOfCall): Promise<void> => {
    const caller = await callerOf(call, known);
    known.user = caller.user;
    const leave = await limits.admit(caller.user.id, caller.apiKey?.id ?? null, directory.settings());
    let succeeded = false;
    const answerPlace = ports.answers.place(caller.user.id);
    try {
      const answered = await ask(call, { caller, presence, answerPlace, known });
      if (answered === null) return;
      try {
        succeeded = await answer(call, answered);
      } finally {
        answered.reservation.leave();
        answered.leaveChannel();
      }
    } finally {
      answerPlace.leave();
      leave(succeeded);
    }
  };

  return {
    identify,
    count: openCounting(ports, identify),
    active: () => active,
    async handle(call) {
      const { response, requestId } = call;
      const presence = new CallerPresence(response, requestId);
      if (presence.gone) return;
      active++;
      const known = nothingKnown();
      try {
        await serve(call, presence, known);
      } catch (error) {
        const refusal = refusalFor(error, requestId, log);
        if (known.heartbeat.open && !response.writableEnded) refuseInStream(call, refusal, call.endpoint.dialect);
        else refuse(call, refusal, call.endpoint.dialect);
        if (known.reserved || presence.gone) return;
        // Where the log did not answer it may hold a reservation, and then tells by itself what becomes of the call.
        const callId = error instanceof RelayError ? CallId(requestId) : null;
        ports.refusals.count(refusedCall(call, known, refusal), callId, clock.now());
      } finally {
        known.heartbeat.stop();
        active--;
      }
    },
  };
}
