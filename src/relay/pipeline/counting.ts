import type { ChannelView } from '../../application/ports/storage-ports.js';
import { Quota, zero } from '../../domain/kernel/quota.js';
import { authenticate, type Caller } from '../admission/authenticate.js';
import type { HeldBody } from '../contracts/ports.js';
import { countIn, isObject, parseJson } from '../json/json.js';
import type { AnswerSlot } from '../upstream/answer-room.js';
import { attemptChannel } from './attempt-channel.js';
import { dropAnswer } from './attempt-failure.js';
import type { UnreadCall } from './call-context.js';
import { callerRequest } from './caller-request.js';
import { byChance, chooseChannel } from './channels/routing.js';
import { servedAsAsked } from './channels/served-mode.js';
import { keptCallOf } from './kept/kept-call.js';
import { continuedBody } from './kept/stored-conversation.js';
import { paymentRefusal } from './payment-refusal.js';
import { type Resolution, resolutionSteps } from './resolution.js';
import type { ChannelRequest } from './send-attempt.js';
import { named, type SentBody, sentBody } from './sent-text.js';
import type { StagePorts } from './stage-ports.js';

/*
 * How many tokens a prompt has: asked of a provider that counts in the caller's own words, else estimated. Nobody pays, so
 * it is for who could pay a call, is bounded in size, and answers with a number and nothing else of upstream's.
 */

/** The largest context there is, and pictures beside it. */
const maxCountedBytes = 8 * 1024 * 1024;

export interface TokenCount {
  /** As the provider counts; null: nobody counted. */
  readonly reported: number | null;
  /** As counted here, without the margins of a reservation. */
  readonly estimated: number;
}

/** In the words of either dialect that counts; null: there is no count in it. */
function reportedCount(answer: Buffer): number | null {
  const reported = parseJson(answer.toString());
  return isObject(reported) ? countIn(reported.input_tokens ?? reported.totalTokens) : null;
}

/** A prompt to be counted, and for whom. */
interface ToCount {
  readonly caller: Caller;
  readonly resolution: Resolution;
  readonly sent: SentBody;
  readonly bodyBytes: number;
  readonly answerSlot: AnswerSlot;
}

/**
 * One that counts, of those that serve the model; null: none does. Where the endpoint has an address of its own for it,
 * whoever serves its mode may have that too.
 */
function channelThatCounts(ports: StagePorts, { channels, endpoint }: Resolution): ChannelView | null {
  const mode = endpoint.below === undefined ? 'counting' : endpoint.mode;
  const counting = channels
    .filter((channel) => servedAsAsked([channel], ports, { mode }))
    .map((channel) => {
      const { priority, weight } = channel.settings;
      return { id: channel.id, priority, weight, channel };
    });
  return chooseChannel(counting, 0, new Set(), byChance(Math.random()))?.channel ?? null;
}

/** A count is worth no second try: there is always the estimate. null: nobody counted. */
async function countUpstream(
  ports: StagePorts,
  { endpoint, headers, query, requestId }: UnreadCall,
  { caller, resolution, sent, bodyBytes, answerSlot }: ToCount,
): Promise<number | null> {
  const channel = channelThatCounts(ports, resolution);
  if (channel === null) return null;
  const parsed = ports.parsedChannel(channel);
  const leave = await ports.limits.enterChannel(channel.id, parsed.maxCalls);
  if (leave === null) return null;
  try {
    const { promptTokens } = resolution.estimate;
    const request: ChannelRequest = {
      callId: requestId,
      requestedModel: resolution.requestedModel,
      caller: callerRequest({
        endpoint,
        mode: endpoint.below === undefined ? 'counting' : endpoint.mode,
        query,
        headers,
        sent,
        paid: null,
        promptTokens,
      }),
      bodyBytes,
      startedAt: ports.clock.now(),
      payer: caller.user.id,
      answerSlot,
      connection: null,
      inFlightCall: null,
    };
    const answered = await attemptChannel(ports, request, channel, parsed);
    if (!answered.ok) return null;
    if (answered.got.kind === 'answer') return reportedCount(answered.got.bytes);
    dropAnswer(answered.got);
    return null;
  } finally {
    leave();
  }
}

/** Counts the prompt of a call. Throws RelayError. */
export async function countPrompt(ports: StagePorts, call: UnreadCall): Promise<TokenCount> {
  const { directory, limits, answers, gate, bodies, largeWork } = ports;
  const { endpoint, bodySource, ip, model } = call;
  const caller = await authenticate(ports, call);
  const { user, apiKey } = caller;
  const leave = await limits.admit(user.id, apiKey.id, directory.settings());
  const answerSlot = answers.newSlot(user.id);
  let held: HeldBody | null = null;
  let succeeded = false;
  try {
    if (await gate.isUserSpent(user.id))
      throw paymentRefusal(
        { short: 'user', available: zero },
        { min: Quota(1), minOfKey: Quota(1) },
        directory.settings(),
      );
    held = await bodies[endpoint.body](bodySource, ip, user.id, maxCountedBytes);
    const body = await continuedBody(ports, user.id, endpoint, held);
    const { bytes, upload } = body;
    const value = named(body.value, model);
    const kept = await keptCallOf(ports, user.id, endpoint, value);
    const resolution = await largeWork.runSteps(bytes, () =>
      resolutionSteps(ports, caller, { endpoint, body: value, bytes, upload, kept, parent: null }),
    );
    const sent = sentBody(body, (given) => ports.comparedMessages.withOwnAlone(user.id, named(given, model)));
    const reported = await countUpstream(ports, call, { caller, resolution, sent, bodyBytes: bytes, answerSlot });
    succeeded = true;
    return { reported, estimated: resolution.estimate.promptTokens };
  } finally {
    held?.leave();
    answerSlot.leave();
    leave(succeeded);
  }
}
