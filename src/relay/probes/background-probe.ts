import type {
  AskBackgroundCall,
  BackgroundCall,
  BackgroundState,
} from '../../application/ports/background-call-ports.js';
import { failureCodeOf } from '../../domain/call/call-texts.js';
import { RelayError } from '../contracts/errors.js';
import type { Generated } from '../contracts/protocol.js';
import { responses } from '../dialects/openai/endpoints/responses.js';
import { isObject, type JsonObject, parseJson, textIn } from '../json/json.js';
import { believedUsage, claimedUsage } from '../metering/believed-usage.js';
import { authorisedRequest, forgetRefused } from '../pipeline/authorised-request.js';
import {
  type Keeper,
  keeperOf,
  type ResourcePorts,
  resourceCaller,
  resourceRequest,
} from '../pipeline/kept/resource-request.js';
import type { StagePorts } from '../pipeline/stage-ports.js';
import { servedTier } from '../pipeline/usage-of-call.js';
import { Lost } from '../upstream/upstream-response.js';

/* How far a call in the background is: its upstream is asked as its caller would ask, and what it says is read as an answer. */

type ProbePorts = ResourcePorts & Pick<StagePorts, 'upstream' | 'answers' | 'largeWork' | 'log' | 'authorising'>;

const patienceMs = 10_000;
const noQuery = new URLSearchParams();
const running: BackgroundState = { kind: 'running' };
const unreached: BackgroundState = { kind: 'unreached' };
const missing: BackgroundState = { kind: 'missing' };
const lost: BackgroundState = { kind: 'lost' };
/** Whatever else it is called, it is not at an end. */
const ends: ReadonlySet<string> = new Set(['completed', 'incomplete', 'failed', 'cancelled']);

export const backgroundProbe =
  (ports: ProbePorts): AskBackgroundCall =>
  async (call, stop) => {
    try {
      const keeper = await keeperOf(ports, call.channelId, responses, true);
      const state = stop ? await asked(ports, keeper, call, true) : running;
      // What has ended cannot be stopped: it is looked at.
      return state.kind === 'ended' ? state : await asked(ports, keeper, call, false);
    } catch (error) {
      if (!(error instanceof RelayError) && !(error instanceof Lost)) throw error;
      return unreached;
    }
  };

async function asked(ports: ProbePorts, keeper: Keeper, call: BackgroundCall, stop: boolean): Promise<BackgroundState> {
  const { upstreamModel } = call.course;
  const caller = resourceCaller(responses, noQuery, {}, { stream: false, model: call.model });
  const path = stop ? [call.responseId, 'cancel'] : [call.responseId];
  const bare = resourceRequest(ports, keeper, caller, {
    ...{ method: stop ? 'POST' : 'GET', instead: null, path, query: noQuery, content: null },
    model: upstreamModel ?? call.model,
  });
  const request = await authorisedRequest(ports, keeper, bare);
  const { proxy } = keeper.channel;
  const sending = ports.upstream.send(request, { proxy, timeoutMs: patienceMs, idleMs: patienceMs, payer: null });
  const slot = ports.answers.newSlot('background');
  try {
    const sent = await sending.sent;
    if (!sent.ok) return unreached;
    const { status, headers, body } = sent.answer;
    forgetRefused(ports, keeper, request, status);
    const bytes = await body.whole(ports.answers.maxBytes, slot);
    // Another refusal may be one of the moment; this one is what it says of what it has not.
    if (status === 404 && !stop) return missing;
    if (status !== 200) return unreached;
    return await ports.largeWork.run(bytes.length, () => stateIn(ports, keeper, call, { headers, bytes, caller }));
  } finally {
    sending.cancel();
    slot.leave();
  }
}

interface Answered {
  readonly headers: Parameters<Keeper['provider']['protocol']['answer']>[0]['headers'];
  readonly bytes: Buffer;
  readonly caller: ReturnType<typeof resourceCaller>;
}

function stateIn(
  { log }: Pick<ProbePorts, 'log'>,
  { provider, channel }: Keeper,
  call: BackgroundCall,
  { headers, bytes, caller }: Answered,
): BackgroundState {
  const response = parseJson(bytes.toString('utf8'));
  const status = isObject(response) ? textIn(response.status) : null;
  if (!isObject(response) || status === null) return unreached;
  if (!ends.has(status)) return running;
  const failed = status === 'failed';
  if (failed && !isObject(response.usage)) return { kind: 'failed', code: codeOf(response) };
  // What has failed is read as what was cancelled: it has cost what it says.
  const body = failed ? Buffer.from(JSON.stringify({ ...response, status: 'cancelled', error: null })) : bytes;
  const model = call.course.upstreamModel ?? call.model;
  const info = { callId: call.callId, model, createdAt: Math.floor(call.since / 1000) };
  const answer = provider.protocol.answer({ provider, channel, caller, status: 200, headers, body, info });
  // Its prompt alone is no measure of what it may have thought and said.
  const measured = status === 'completed' || isObject(response.usage) || (answer.ok && answer.generated.said.bytes > 0);
  if (!measured) return { kind: 'unmeasured', kept: answer.ok ? keptOf(answer.generated) : undefined };
  if (!answer.ok) return answer.costUnknown ? lost : { kind: 'failed', code: failureCodeOf(answer.error.code) };
  const { usage, generated } = answer;
  const { bound, promptTokens: promptEstimate } = call;
  const believed = believedUsage(usage, generated, { bound, promptEstimate, model: call.model });
  if (believed.usageSource === 'disbelieved')
    log.warn(
      { requestId: call.callId, reported: usage, bound },
      'an upstream reported more usage than the call can have',
    );
  const serviceTier = servedTier({ service: call.service ?? undefined }, generated.serviceTier);
  const outcome = failed ? 'upstream-broke' : 'completed';
  return {
    kind: 'ended',
    used: {
      ...{ usage: believed.usage, usageSource: believed.usageSource, outcome, serviceTier },
      ...{ kept: keptOf(generated), upstreamCost: generated.upstreamCost, claimed: claimedUsage(believed, usage) },
      answerId: generated.answerId,
    },
  };
}

const keptOf = ({ kept = [] }: Generated) => (kept.length > 0 ? kept : undefined);

const codeOf = ({ error }: JsonObject): string | null => (isObject(error) ? failureCodeOf(textIn(error.code)) : null);
