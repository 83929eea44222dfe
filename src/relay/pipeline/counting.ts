import type { ChannelView } from '../../application/ports/storage-ports.js';
import { Quota, zero } from '../../domain/kernel/quota.js';
import type { Caller, KeyCaller, Shown } from '../admission/authenticate.js';
import type { HeldBody, RelayPorts } from '../contracts/ports.js';
import { countIn, isObject, parseJson } from '../json/json.js';
import type { AnswerPlace } from '../upstream/answer-room.js';
import { attempt } from './attempt.js';
import { callerRequest } from './caller-request.js';
import { channelParser } from './channel-settings.js';
import { refusalOf } from './payment-refusal.js';
import type { IncomingCall } from './relay.js';
import { orderSteps, type ResolvedCall } from './resolve-call.js';
import { chooseChannel } from './routing.js';
import { named, type SentBody, sentBody } from './sent-text.js';

/*
 * How many tokens a prompt has: asked of a provider that counts in the caller's own words, else estimated. Nobody pays, so
 * it is for who could pay a call, is bounded in size, and answers with a number and nothing else of upstream's.
 */

/** The largest context there is, and pictures beside it. */
const maxCountedBytes = 8 * 1024 * 1024;

export interface TokenCount {
  /** As the provider counts; null: nobody counted. */
  readonly told: number | null;
  /** As counted here, without the margins of a hold. */
  readonly estimated: number;
}

export type Count = (call: IncomingCall) => Promise<TokenCount>;

/** In the words of either dialect that counts; null: there is no count in it. */
function countTold(answer: Buffer): number | null {
  const told = parseJson(answer.toString());
  return isObject(told) ? countIn(told.input_tokens ?? told.totalTokens) : null;
}

/** A prompt to be counted, and for whom. */
interface ToCount {
  readonly caller: Caller;
  readonly order: ResolvedCall;
  readonly sent: SentBody;
  readonly bodyBytes: number;
  readonly answerPlace: AnswerPlace;
}

/** A count is worth no second try: there is always the estimate. */
export function openCounting(ports: RelayPorts, identify: (shown: Shown) => Promise<KeyCaller>): Count {
  const { directory, limits, providerOf, clock } = ports;
  const parsedChannel = channelParser();
  const orderPorts = { directory, providerOf, parsedChannel };

  const countsFor = ({ settings }: ChannelView): boolean =>
    providerOf(settings.type)?.modes.includes('counting') ?? false;

  const askUpstream = async (
    call: IncomingCall,
    { caller, order, sent, bodyBytes, answerPlace }: ToCount,
  ): Promise<number | null> => {
    const { endpoint } = call;
    const channels = order.channels.filter(countsFor).map((channel) => {
      const { priority, weight } = channel.settings;
      return { id: channel.id, priority, weight, channel };
    });
    const chosen = chooseChannel(channels, 0, new Set(), Math.random());
    if (chosen === null) return null;
    const parsed = parsedChannel(chosen.channel);
    const leave = await limits.enterChannel(chosen.id, parsed.maxCalls);
    if (leave === null) return null;
    const { headers, query } = call;
    const { promptTokens } = order.estimate;
    const request = callerRequest({ endpoint, mode: 'counting', query, headers, sent, paid: null, promptTokens });
    const asked = {
      callId: call.requestId,
      requestedModel: order.requestedModel,
      caller: request,
      bodyBytes,
      startedAt: clock.now(),
      payer: caller.user.id,
      answerPlace,
      presence: null,
      underWay: null,
    };
    try {
      const answered = await attempt(ports, asked, chosen.channel, parsed);
      if (!answered.ok) return null;
      if (answered.got.kind === 'answer') return countTold(answered.got.bytes);
      answered.got.reading.cancel();
      return null;
    } finally {
      leave();
    }
  };

  return async (call) => {
    const { endpoint, request, ip } = call;
    const caller = await identify(call);
    const leave = await limits.admit(caller.user.id, caller.apiKey.id, directory.settings());
    const answerPlace = ports.answers.place(caller.user.id);
    let body: HeldBody | null = null;
    let succeeded = false;
    try {
      if (await ports.gate.isUserSpent(caller.user.id))
        throw refusalOf(
          { short: 'user', available: zero },
          { least: Quota(1), minOfKey: Quota(1) },
          directory.settings(),
        );
      const held = await ports.bodies[endpoint.body](request, ip, caller.user.id, maxCountedBytes);
      body = held;
      const { bytes, upload } = held;
      const value = named(held.value, call.model);
      const order = await ports.largeWork.runSteps(bytes, () =>
        orderSteps(orderPorts, caller, { endpoint, body: value, bytes, upload }),
      );
      const sent = sentBody(held, (given) => named(given, call.model));
      const told = await askUpstream(call, { caller, order, sent, bodyBytes: bytes, answerPlace });
      succeeded = true;
      return { told, estimated: order.estimate.promptTokens };
    } finally {
      body?.leave();
      answerPlace.leave();
      leave(succeeded);
    }
  };
}
