import type { ChannelView, Clock } from '../../application/ports/storage-ports.js';
import type { ChannelProbe } from '../../application/ports/upstream-ports.js';
import { completionTokens, noUsage, promptTokens } from '../../domain/call/usage.js';
import type { ChannelTestUsage } from '../../domain/channel/channel.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { priceOf } from '../../domain/pricing/price-tables.js';
import { chargeOf } from '../../domain/pricing/pricing.js';
import { quantityRatio } from '../../domain/pricing/rates.js';
import { reasoningOverhead } from '../catalogue/reasoning-overhead.js';
import type { Endpoint } from '../contracts/endpoint.js';
import type { Provider } from '../contracts/protocol.js';
import { chat } from '../dialects/openai/endpoints/chat.js';
import { embeddings } from '../dialects/openai/endpoints/embeddings.js';
import type { JsonObject } from '../json/json.js';
import { believedUsage } from '../metering/believed-usage.js';
import { estimateHold } from '../metering/hold.js';
import { type AttemptPorts, attempt } from '../pipeline/attempt.js';
import { callerRequest } from '../pipeline/caller-request.js';
import { channelParser } from '../pipeline/channel-settings.js';

/* "Does this channel work?": one small request, with the channel's own mapping and key; nobody pays. */

const lastResort = 'gpt-4o-mini';

const isEmbedding = ({ modes }: Provider, model: string): boolean =>
  !modes.includes('chat') || /embed|bge-/i.test(model) || model.startsWith('m3e');

/** Enough for an answer, and for a thought where the model thinks first. */
function outputLimit(model: string): JsonObject {
  if (/^o[13]/.test(model)) return { max_completion_tokens: 10 };
  if (model.includes('thinking')) return model.includes('claude') ? {} : { max_tokens: 50 };
  // A picture has as many tokens as it has.
  if (model.includes('imagen')) return {};
  return { max_tokens: model.includes('gemini') ? 300 : 10 };
}

function smallRequest(provider: Provider, model: string): { endpoint: Endpoint; body: JsonObject } {
  return isEmbedding(provider, model)
    ? { endpoint: embeddings, body: { model, input: ['hello world'] } }
    : {
        endpoint: chat,
        body: { model, messages: [{ role: 'user', content: 'hi' }], stream: false, ...outputLimit(model) },
      };
}

const testModelOf = ({ settings }: ChannelView, wanted: string): string =>
  wanted || settings.testModel || settings.models[0] || lastResort;

interface ProbePorts extends AttemptPorts {
  readonly clock: Clock;
  /** The user in whose name tests are made. */
  readonly root: () => Promise<UserId | null>;
}

export function channelProbe(ports: ProbePorts): ChannelProbe {
  const parse = channelParser();

  const rootAcceptsUnpriced = async (): Promise<boolean> => {
    const id = await ports.root();
    return id !== null && ((await ports.directory.user(id))?.acceptUnpricedModels ?? false);
  };

  return {
    async test(channel, wanted) {
      const { type } = channel.settings;
      const refused = (message: string, responseTimeMs = 0, outOfOrder: string | null = null) => ({
        ok: false,
        message,
        responseTimeMs,
        usage: null,
        outOfOrder,
      });
      const provider = ports.providerOf(type);
      if (!provider?.testable) return refused(`channel type ${type} is not supported by the test`);
      const model = testModelOf(channel, wanted);
      const { prices, selfUseMode } = ports.directory.settings();
      const price = priceOf(prices, model, '', selfUseMode) ?? priceOf(prices, model, '', await rootAcceptsUnpriced());
      if (price === null) throw new Failure('price-missing', { model });

      const { endpoint, body } = smallRequest(provider, model);
      const startedAt = ports.clock.now();
      const sent = { source: null, body, exact: () => body };
      const query = new URLSearchParams();
      const caller = callerRequest({ endpoint, query, headers: {}, sent, paid: null, promptTokens: 0 });
      const answerPlace = ports.answers.place('channel-test');
      const call = {
        callId: 'channel-test',
        requestedModel: model,
        caller,
        bodyBytes: 0,
        startedAt,
        payer: null,
        answerPlace,
        presence: null,
        underWay: null,
      };
      const result = await attempt(ports, call, channel, parse(channel)).finally(() => answerPlace.leave());
      const responseTimeMs = ports.clock.now() - startedAt;
      if (!result.ok) {
        const { forOperator: error, outOfOrder, answered } = result;
        const hint = answered === 404 ? (provider.baseHint?.(channel.settings.baseUrl.trim()) ?? null) : null;
        const message = `status code ${error.status}: ${error.message}${hint === null ? '' : ` (${hint})`}`;
        return refused(message, responseTimeMs, outOfOrder);
      }
      if (result.got.kind !== 'answer') {
        result.got.reading.cancel();
        return refused('the upstream answered with a stream that was not asked for', responseTimeMs);
      }
      const names = new Set([model, result.upstreamModel]);
      const asked = { providerOf: ports.providerOf, parsedChannel: parse };
      const estimate = estimateHold({
        demand: endpoint.demand({ body, bytes: JSON.stringify(body).length, model, names, upload: null }),
        names,
        price,
        settings: ports.directory.settings(),
        thinking: reasoningOverhead(asked, body, names, [channel]),
        allowed: noUsage,
      });
      const { bound, promptTokens: promptEstimate } = estimate;
      const { usage: told, generated } = result.got;
      const { usage, usageSource } = believedUsage(told, generated, { bound, promptEstimate, model });
      if (usageSource === 'estimated') return refused('the upstream told no usage', responseTimeMs);
      const tested: ChannelTestUsage = {
        model,
        promptTokens: promptTokens(usage),
        completionTokens: completionTokens(usage),
        quota: chargeOf(usage, price.per === 'token' ? { ...price, group: '1' } : price),
        modelRatio: price.per === 'token' ? price.model : '0',
        completionRatio: price.per === 'token' ? quantityRatio(price, 'output') : '0',
        modelPrice: price.per === 'call' ? price.price : null,
      };
      return { ok: true, message: '', responseTimeMs, usage: tested, outOfOrder: null };
    },
  };
}
