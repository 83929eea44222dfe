import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { CallFacts, CallOutcome, ReleaseReason } from '../domain/call.js';
import { CallId, type ChannelId } from '../domain/ids.js';
import { type Attempt, attempt, type Got } from './attempt.js';
import { authenticate, type Caller } from './authenticate.js';
import { CallerPresence } from './caller-presence.js';
import { channelParser } from './channel-settings.js';
import { beginStream, endFrame, errorFrame, pump, usageOf } from './delivery.js';
import { errorBody, quotaText, RelayError } from './errors.js';
import { watchGrowth } from './growth.js';
import { isAllowed } from './ip-allow-list.js';
import type { Reservation } from './metered.js';
import { type Order, placeOrder, readBodyObject } from './order.js';
import type { RelayPorts } from './ports.js';
import type { CallerRequest, Endpoint } from './protocols/protocol.js';
import { chooseChannel } from './routing.js';

/* One request in order: authenticate, limit, order, reserve, call, meter, answer. */

export interface IncomingCall {
  readonly requestId: string;
  readonly endpoint: Endpoint;
  /** Without query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly ip: string;
  readonly response: ServerResponse;
}

export interface Relay {
  /** Answers the call, whatever happens; never rejects. */
  handle(call: IncomingCall): Promise<void>;
  /** The caller behind a request that is no call, e.g. a model listing. Throws RelayError. */
  identify(call: Pick<IncomingCall, 'path' | 'query' | 'headers' | 'ip'>): Promise<Caller>;
  /** Calls under way. */
  active(): number;
}

const settlementFailed = (): RelayError =>
  new RelayError(503, 'store_unavailable', 'the event store cannot be reached; the charge will follow');

export function openRelay(ports: RelayPorts): Relay {
  const { directory, meter, clock, log } = ports;
  const parsedChannel = channelParser();
  let active = 0;

  const identify: Relay['identify'] = async ({ path, query, headers, ip }) => {
    const caller = await authenticate(ports, path, headers, query);
    if (!isAllowed(ip, caller.apiKey.terms.allowIps))
      throw new RelayError(403, 'ip_not_allowed', 'the client address is not in the allow list of the token');
    return caller;
  };

  const reserve = async (callId: CallId, caller: Caller, order: Order, path: string): Promise<Reservation> => {
    const { apiKey, user } = caller;
    const facts: CallFacts = {
      userId: user.id,
      apiKeyId: apiKey.id,
      apiKeyName: apiKey.terms.name,
      group: order.group,
      model: order.model,
      path,
      stream: order.stream,
    };
    const reserving = await meter.reserve(callId, facts, apiKey.terms.unlimited, order.estimate).catch(() => {
      throw new RelayError(503, 'store_unavailable', 'the event store cannot be reached; try again later');
    });
    if (reserving.ok) return reserving.reservation;
    const settings = directory.settings();
    const show = (quota: number) =>
      quotaText(quota, settings.prices.quotaPerUnit, settings.flag('DisplayInCurrencyEnabled'));
    const amounts = `available ${show(reserving.available)}, needed ${show(order.estimate.quota)}`;
    throw reserving.short === 'user'
      ? new RelayError(403, 'insufficient_user_quota', `the quota of the user is not sufficient: ${amounts}`)
      : new RelayError(403, 'pre_consume_token_quota_failed', `the quota of the token is not sufficient: ${amounts}`);
  };

  /** Tries channels until one answers, or nobody is left to ask or to wait. */
  const tryChannels = async (
    callId: CallId,
    order: Order,
    caller: CallerRequest,
    startedAt: number,
    presence: CallerPresence,
  ): Promise<{ last: Attempt; tried: ChannelId[]; costUnknown: boolean }> => {
    const failed = new Set<ChannelId>();
    const tried: ChannelId[] = [];
    const candidates = order.channels.map((channel) => ({
      id: channel.id,
      priority: channel.settings.priority,
      weight: channel.settings.weight,
      channel,
    }));
    const attempts = order.pinned ? 1 : directory.settings().retryTimes + 1;
    let costUnknown = false;
    for (let index = 0; ; index++) {
      const chosen = chooseChannel(candidates, index, failed, Math.random());
      if (chosen === null) throw new Error('an order without channels');
      tried.push(chosen.id);
      const call = { callId, requestedModel: order.requestedModel, caller, startedAt, presence };
      const last = await attempt(ports, call, chosen.channel, parsedChannel(chosen.channel));
      if (last.ok) return { last, tried, costUnknown };
      costUnknown ||= last.costUnknown;
      if (last.outOfOrder !== null && chosen.channel.settings.autoBan && directory.settings().autoDisable.enabled)
        ports.channelHealth.outOfOrder(chosen.id, last.outOfOrder);
      if (!last.retryable || index + 1 >= attempts || presence.gone) return { last, tried, costUnknown };
      failed.add(chosen.id);
    }
  };

  const serve = async (call: IncomingCall, presence: CallerPresence): Promise<void> => {
    const { requestId, path } = call;
    const caller = await identify(call);
    const concluded = ports.rateLimiter.admit(caller.user.id, directory.settings().modelRateLimit);
    let succeeded = false;
    try {
      const order = placeOrder(ports, caller, call.endpoint, readBodyObject(call.body));
      const startedAt = clock.now();
      const callId = CallId(requestId);
      const reservation = await reserve(callId, caller, order, path);
      const elapsed = () => Math.max(0, clock.now() - startedAt);
      const request: CallerRequest = {
        endpoint: order.endpoint,
        path,
        query: call.query,
        body: order.body,
        stream: order.stream,
        wantsUsage: order.wantsUsage,
        accept: call.headers.accept ?? null,
      };

      let concludedCall = false;
      const release = async (
        reason: ReleaseReason,
        error: RelayError | null,
        attempts: ChannelId[],
        unknown: boolean,
      ) => {
        concludedCall = true;
        await reservation.release({
          reason,
          status: error?.status ?? null,
          code: error?.code ?? null,
          attempts,
          useTimeMs: elapsed(),
          upstreamCostUnknown: unknown,
        });
      };

      try {
        const { last, tried, costUnknown } = await tryChannels(callId, order, request, startedAt, presence);
        if (tried.length > 1) log.info({ requestId, channels: tried.join('->') }, 'retried');
        if (!last.ok) {
          if (presence.gone) await release('caller-left', null, tried, costUnknown);
          else await release('upstream-failed', last.error, tried, costUnknown);
          throw last.error;
        }
        concludedCall = true;
        succeeded = await answer(call, order, reservation, last, tried, { presence, elapsed });
      } catch (error) {
        if (!concludedCall) await release('internal', null, [], true);
        throw error;
      }
    } finally {
      concluded(succeeded);
    }
  };

  /** Delivers and settles. The caller's last byte leaves after the settlement is durable. */
  const answer = async (
    { response, requestId }: IncomingCall,
    order: Order,
    reservation: Reservation,
    { got, upstreamModel, reasoningEffort }: Extract<Attempt, { ok: true }>,
    tried: ChannelId[],
    { presence, elapsed }: { presence: CallerPresence; elapsed: () => number },
  ): Promise<boolean> => {
    const channelId = tried.at(-1);
    if (channelId === undefined) throw new Error('an answer without a channel');
    const settle = async (told: Got, outcome: CallOutcome, firstTokenMs: number | null) => {
      const { usage: reported, generated } = told.kind === 'answer' ? told : told.reading.decoder;
      const { usage, usageSource } = usageOf(reported, generated, order.estimate.promptTokens, order.model);
      await reservation.settle({
        usage,
        usageSource,
        outcome,
        delivered: true,
        channelId,
        attempts: tried,
        upstreamModel: upstreamModel === order.requestedModel ? null : upstreamModel,
        useTimeMs: elapsed(),
        firstTokenMs,
        reasoningEffort,
      });
      return usage;
    };

    if (got.kind === 'answer') {
      await settle(got, presence.gone ? 'caller-left' : 'completed', null).catch(() => {
        throw settlementFailed();
      });
      response.writeHead(200, { 'content-type': got.contentType, 'content-length': got.bytes.length });
      response.end(got.bytes);
      return true;
    }

    const { reading } = got;
    const firstTokenMs = elapsed();
    beginStream(response);
    const { outcome, error } = await pump(response, reading, {
      presence,
      growth: watchGrowth(reservation, order.estimate),
      pingIntervalMs: directory.settings().pingIntervalMs,
    });
    try {
      const usage = await settle(got, outcome, firstTokenMs);
      if (error === null) response.end(reading.decoder.closing(usage));
      else response.end(`${errorFrame(error, requestId)}${endFrame}`);
    } catch {
      // Without the end mark: the caller must not take this answer for a complete one.
      response.end(errorFrame(settlementFailed(), requestId));
    }
    return error === null;
  };

  return {
    identify,
    active: () => active,
    async handle(call) {
      const { response, requestId } = call;
      const presence = new CallerPresence(response);
      if (presence.gone) return;
      active++;
      try {
        await serve(call, presence);
      } catch (error) {
        sendError(response, requestId, known(error, requestId));
      } finally {
        active--;
      }
    },
  };

  function known(error: unknown, requestId: string): RelayError {
    if (error instanceof RelayError) return error;
    log.error({ requestId, error: error instanceof Error ? error.stack : String(error) }, 'a call failed unexpectedly');
    return new RelayError(500, 'internal_error', 'internal error', 'gateway_panic');
  }
}

export function sendError(response: ServerResponse, requestId: string, error: RelayError): void {
  if (response.headersSent) {
    response.end();
    return;
  }
  const body = JSON.stringify(errorBody(error, requestId));
  response.writeHead(error.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...(error.retryAfter === null ? {} : { 'retry-after': error.retryAfter }),
  });
  response.end(body);
}
