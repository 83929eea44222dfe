import { isSeal } from '../../contracts/neutral.js';
import type { CallerRequest } from '../../contracts/protocol.js';
import { countIn, type JsonObject, objectsIn, textIn } from '../../json/json.js';
import { camelOf, memberIn, objectIn, partsIn, withMember, withoutMember } from './names.js';
import { type ThinkingSuffix, thinkingConfig, thinkingWithin } from './thinking.js';

/* A caller's request in Gemini's own words on its way to Gemini: as it came, but for what is ours to say. */

/** None of them costs more than the price of the model says. */
const plainTiers = new Set<unknown>(['standard', 'flex', 'SERVICE_TIER_UNSPECIFIED', 'unspecified']);

/** What is reserved and charged is for one model at a rate with a price, named by the address. */
function asPriced(
  { model: _, serviceTier, service_tier, ...body }: JsonObject,
  tiers: readonly string[] = [],
): JsonObject {
  const tier = serviceTier ?? service_tier;
  return plainTiers.has(tier) || (tier !== undefined && tiers.length > 0) ? { ...body, serviceTier: tier } : body;
}

/** The limit that can be afforded, or the caller's own as far as it is reserved for. */
function limited(body: JsonObject, { outputLimit, maxOutput }: CallerRequest): JsonObject {
  const config = objectIn(body, 'generationConfig') ?? {};
  const asked = memberIn(config, 'maxOutputTokens');
  const limit = outputLimit ?? (typeof asked === 'number' && asked > maxOutput ? maxOutput : null);
  return limit === null ? body : withMember(body, 'generationConfig', withMember(config, 'maxOutputTokens', limit));
}

/** What the suffix of the name is priced for. */
function thinkingAs(body: JsonObject, model: string, suffix: ThinkingSuffix | null, share: number): JsonObject {
  if (suffix === null) return body;
  const config = objectIn(body, 'generationConfig') ?? {};
  const limit = memberIn(config, 'maxOutputTokens');
  const thinking = thinkingConfig(
    {},
    { model, suffix, thinkingShare: share, limit: typeof limit === 'number' ? limit : null },
  );
  return thinking === null
    ? body
    : withMember(body, 'generationConfig', withMember(config, 'thinkingConfig', thinking));
}

/** Bears what thinking of Anthropic's was signed with, as this client got it when its conversation was with such a model. */
const isSealed = (part: JsonObject): boolean => isSeal(textIn(memberIn(part, 'thoughtSignature')) ?? '');

/** Google refuses signatures it has not made. */
function withoutSeals(body: JsonObject): JsonObject {
  const contents = objectsIn(body.contents);
  if (!contents.some((content) => partsIn(content).some(isSealed))) return body;
  const unsealed = contents.map((content) => ({
    ...content,
    parts: partsIn(content).map((part) => (isSealed(part) ? withoutMember(part, 'thoughtSignature') : part)),
  }));
  return { ...body, contents: unsealed };
}

/** `model`: without the suffix. */
export const nativeContent = (
  caller: CallerRequest,
  model: string,
  suffix: ThinkingSuffix | null,
  thinkingShare: number,
): JsonObject => {
  const body = thinkingAs(
    limited(asPriced(withoutSeals(caller.body), caller.tiers), caller),
    model,
    suffix,
    thinkingShare,
  );
  const config = objectIn(body, 'generationConfig');
  const { outputLimit } = caller;
  return config === null || outputLimit === null
    ? body
    : withMember(body, 'generationConfig', thinkingWithin(config, outputLimit));
};

/** One text or many: who wants many says so by `requests`. */
export function nativeEmbedding({ body }: CallerRequest, model: string) {
  const named = `models/${model}`;
  return Array.isArray(body.requests)
    ? ({
        action: 'batchEmbedContents',
        body: { ...asPriced(body), requests: objectsIn(body.requests).map((one) => ({ ...one, model: named })) },
      } as const)
    : ({ action: 'embedContent', body: { ...body, model: named } } as const);
}

/** A whole request to be counted names its model itself. */
export function nativeCounting({ body }: CallerRequest, model: string): JsonObject {
  const { model: _, ...rest } = body;
  const whole = objectIn(rest, 'generateContentRequest');
  return whole === null ? rest : withMember(rest, 'generateContentRequest', { ...whole, model: `models/${model}` });
}

/** Whether a body is a caller's in this wire's own words. */
export const isNative = ({ dialect }: CallerRequest): boolean => dialect.wire === 'gemini';

const limitIn = (body: JsonObject): number | null => {
  const config = objectIn(body, 'generationConfig');
  return config === null ? null : countIn(memberIn(config, 'maxOutputTokens')) || null;
};

/**
 * An operator's own parameters take the place of the request's, however either is spelled. They may change the limit, but
 * neither raise it above what is reserved for the call nor take it away.
 */
export function overridden(asked: JsonObject, override: JsonObject, max: number): JsonObject {
  let body = asked;
  for (const [name, value] of Object.entries(override)) body = withMember(body, camelOf(name), value ?? null);
  const config = objectIn(body, 'generationConfig') ?? {};
  const given = limitIn(body);
  const limit = Math.min(given ?? limitIn(asked) ?? max, max);
  if (given === limit || (given === null && limitIn(asked) === null)) return body;
  return withMember(body, 'generationConfig', withMember(config, 'maxOutputTokens', limit));
}
