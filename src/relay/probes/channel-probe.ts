import type { ChannelView, Clock } from '../../application/ports/storage-ports.js';
import type { ChannelProbe, ProbeResult } from '../../application/ports/upstream-ports.js';
import { completionTokens, noUsage, promptTokens } from '../../domain/call/usage.js';
import type { ChannelTestUsage } from '../../domain/channel/channel.js';
import { isImageMode, type PaidMode } from '../../domain/channel/provider.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { factsOf } from '../../domain/models/model-facts.js';
import { priceByPlainInput } from '../../domain/pricing/context-tiers.js';
import { pieceOfMode } from '../../domain/pricing/mode-pieces.js';
import { priceOf } from '../../domain/pricing/price-tables.js';
import { chargeOf, type Price } from '../../domain/pricing/pricing.js';
import { quantityRatio } from '../../domain/pricing/rates.js';
import { reasoningOverhead } from '../catalogue/reasoning-overhead.js';
import type { Endpoint } from '../contracts/endpoint.js';
import type { Provider } from '../contracts/protocol.js';
import { chat } from '../dialects/openai/endpoints/chat.js';
import { embeddings } from '../dialects/openai/endpoints/embeddings.js';
import { moderations } from '../dialects/openai/endpoints/moderations.js';
import { rerank } from '../dialects/openai/endpoints/rerank.js';
import { countIn, type JsonObject } from '../json/json.js';
import { believedUsage } from '../metering/believed-usage.js';
import { estimateReservation } from '../metering/reservation-estimate.js';
import { attemptChannel, type ChannelAttemptPorts } from '../pipeline/attempt-channel.js';
import { type AnsweredAttempt, type AttemptFailure, dropAnswer } from '../pipeline/attempt-failure.js';
import { callerRequest } from '../pipeline/caller-request.js';
import {
  channelParser,
  mappedModel,
  type ParsedChannel,
  servesByResponses,
} from '../pipeline/channels/channel-settings.js';
import { withOwnPrompts } from '../pipeline/own-tools.js';
import type { ChannelRequest } from '../pipeline/send-attempt.js';

/* "Does this channel work?": one small request, with the channel's own mapping and key; nobody pays. */

const lastResort = 'gpt-4o-mini';

/** OpenAI refuses a smaller limit to a response. */
const leastOfResponses = 16;

/** What is asked of neither of the usual modes; null: it is of these. */
function otherRequest(
  { modes, modeAt }: Pick<Provider, 'modes' | 'modeAt'>,
  model: string,
  baseUrl: string,
): { endpoint: Endpoint; body: JsonObject } | null {
  const { reranks, moderates } = factsOf(model);
  const only = modeAt?.(baseUrl) ?? null;
  if (modes.includes('rerank') && (only === 'rerank' || (only === null && reranks)))
    return { endpoint: rerank, body: { model, query: 'hello', documents: ['hello world'] } };
  if (modes.includes('moderation') && (only === 'moderation' || (only === null && moderates)))
    return { endpoint: moderations, body: { model, input: 'hello world' } };
  return null;
}

/** `byResponses`: the model is served by the Responses API alone. */
function smallRequest(
  provider: Provider,
  model: string,
  baseUrl: string,
  byResponses: boolean,
): { endpoint: Endpoint; body: JsonObject } {
  const other = otherRequest(provider, model, baseUrl);
  if (other !== null) return other;
  const { embeds, testLimit } = factsOf(model);
  const limit: JsonObject = { ...testLimit };
  if (byResponses)
    for (const name of Object.keys(limit)) limit[name] = Math.max(countIn(limit[name]) ?? 0, leastOfResponses);
  return embeds || !provider.modes.includes('chat')
    ? { endpoint: embeddings, body: { model, input: ['hello world'] } }
    : {
        endpoint: chat,
        body: { model, messages: [{ role: 'user', content: 'hi' }], stream: false, ...limit },
      };
}

/** As its name says, or the address of the channel. */
function makesPictures({ modeAt }: Pick<Provider, 'modeAt'>, model: string, baseUrl: string): boolean {
  const only = modeAt?.(baseUrl) ?? null;
  return factsOf(model).drawsOnly || (only !== null && isImageMode(only));
}

const testModelOf = ({ settings }: ChannelView, wanted: string): string =>
  wanted || settings.testModel || settings.models[0] || lastResort;

interface ProbePorts extends ChannelAttemptPorts {
  readonly clock: Clock;
  /** The user in whose name tests are made. */
  readonly root: () => Promise<UserId | null>;
}

interface TestPorts extends ProbePorts {
  readonly parsedChannel: (channel: ChannelView) => ParsedChannel;
}

/** What is tested, and by what. */
interface SmallTest {
  readonly channel: ChannelView;
  readonly provider: Provider;
  readonly model: string;
  readonly price: Price;
  readonly endpoint: Endpoint;
  readonly body: JsonObject;
}

const refused = (message: string, responseTimeMs = 0, outOfOrder: string | null = null): ProbeResult => ({
  ok: false,
  message,
  responseTimeMs,
  usage: null,
  outOfOrder,
});

async function rootAcceptsUnpriced({ root, directory }: ProbePorts): Promise<boolean> {
  const id = await root();
  return id !== null && ((await directory.user(id))?.acceptUnpricedModels ?? false);
}

async function priceOfTest(ports: ProbePorts, model: string, mode: PaidMode): Promise<Price> {
  const { prices, selfUseMode } = ports.directory.settings();
  const soldBy = pieceOfMode[mode];
  const price =
    priceOf(prices, model, '', selfUseMode, soldBy) ??
    priceOf(prices, model, '', await rootAcceptsUnpriced(ports), soldBy);
  if (price === null) throw new Failure('price-missing', { model });
  return price;
}

function requestOfTest({ endpoint, body, model }: SmallTest, startedAt: number): Omit<ChannelRequest, 'answerSlot'> {
  const sent = { source: null, body, exact: () => body };
  const query = new URLSearchParams();
  return {
    callId: 'channel-test',
    requestedModel: model,
    caller: callerRequest({ endpoint, query, headers: {}, sent, paid: null, promptTokens: 0 }),
    bodyBytes: 0,
    startedAt,
    payer: null,
    connection: null,
    inFlightCall: null,
  };
}

/** The words of a failure, for the operator who tests. */
function failureText({ provider, channel }: SmallTest, { forOperator: error, answered }: AttemptFailure): string {
  const hint = answered === 404 ? (provider.baseHint?.(channel.settings.baseUrl.trim()) ?? null) : null;
  return `status code ${error.status}: ${error.message}${hint === null ? '' : ` (${hint})`}`;
}

/** What the answer has used, and would have cost without the ratio of a group; null: upstream reported no usage. */
function usageOfTest(
  ports: TestPorts,
  { channel, model, price, endpoint, body }: SmallTest,
  { upstreamModel }: AnsweredAttempt,
  { usage: reported, generated }: Extract<AnsweredAttempt['got'], { kind: 'answer' }>,
): ChannelTestUsage | null {
  const names = new Set([model, upstreamModel]);
  const sent = endpoint.demand({ body, bytes: JSON.stringify(body).length, model, names, upload: null });
  const estimate = estimateReservation({
    demand: withOwnPrompts(sent, ports, model, [channel]),
    names,
    price,
    settings: ports.directory.settings(),
    thinking: reasoningOverhead(ports, body, names, [channel]),
    allowed: noUsage,
  });
  const { bound, promptTokens: promptEstimate } = estimate;
  const { usage, usageSource } = believedUsage(reported, generated, { bound, promptEstimate, model });
  // Judgements report no usage, nor do some servers' rankings.
  if (usageSource === 'estimated' && endpoint.mode !== 'moderation' && endpoint.mode !== 'rerank') return null;
  const inForce = price.per === 'token' ? priceByPlainInput(price, usage) : null;
  return {
    model,
    promptTokens: promptTokens(usage),
    completionTokens: completionTokens(usage),
    quota: chargeOf(usage, price.per === 'token' ? { ...price, group: '1' } : price),
    modelRatio: inForce?.model ?? '0',
    completionRatio: inForce === null ? '0' : quantityRatio(inForce, 'output'),
    modelPrice: price.per === 'call' ? price.price : null,
  };
}

/** `wanted`: a model; empty: the channel's own choice. Throws Failure, when the model has no price. */
async function testChannel(ports: TestPorts, channel: ChannelView, wanted: string): Promise<ProbeResult> {
  const { type } = channel.settings;
  const provider = ports.providerOf(type);
  if (!provider?.testable) return refused(`channel type ${type} is not supported by the test`);
  const model = testModelOf(channel, wanted);
  if (makesPictures(provider, model, channel.settings.baseUrl))
    return refused(`model ${model} makes pictures: a test would order one; test the channel by another model`);
  const parsed = ports.parsedChannel(channel);
  const names = [model, mappedModel(parsed.modelMapping, model) ?? model];
  const byResponses = servesByResponses(provider, channel.settings.baseUrl, parsed, names);
  const small = smallRequest(provider, model, channel.settings.baseUrl, byResponses);
  const price = await priceOfTest(ports, model, small.endpoint.mode);
  const test: SmallTest = { channel, provider, model, price, ...small };
  const startedAt = ports.clock.now();
  const answerSlot = ports.answers.newSlot('channel-test');
  const request: ChannelRequest = { ...requestOfTest(test, startedAt), answerSlot };
  const result = await attemptChannel(ports, request, channel, parsed).finally(() => answerSlot.leave());
  const responseTimeMs = ports.clock.now() - startedAt;
  if (!result.ok) return refused(failureText(test, result), responseTimeMs, result.outOfOrder);
  if (result.got.kind !== 'answer') {
    dropAnswer(result.got);
    return refused('the upstream answered with a stream that was not asked for', responseTimeMs);
  }
  const usage = usageOfTest(ports, test, result, result.got);
  if (usage === null) return refused('the upstream reported no usage', responseTimeMs);
  return { ok: true, message: '', responseTimeMs, usage, outOfOrder: null };
}

export function channelProbe(ports: ProbePorts): ChannelProbe {
  const testPorts: TestPorts = { ...ports, parsedChannel: channelParser() };
  return { test: (channel, wanted) => testChannel(testPorts, channel, wanted) };
}
