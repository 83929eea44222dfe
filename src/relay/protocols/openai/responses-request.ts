import { reasoningEffortOf } from '../../../domain/call/call-texts.js';
import { factsOf } from '../../../domain/models/model-facts.js';
import { isStoredThought } from '../../contracts/kept-ids.js';
import type { RequestInput, UpstreamRequest } from '../../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';
import type { RequestContent } from '../../upstream/request-content.js';
import type { JsonSource } from '../carried.js';
import { baseOf, written } from '../request-builder.js';
import { thinkingInOpenAi } from '../requested-thinking.js';
import { withoutCarriedReasoning } from './carried-reasoning.js';
import { asPriced, postOf, serviceSent } from './request.js';
import { withOtherThoughtIds } from './thought-ids.js';
import type { OpenAiVariant, Target } from './variant.js';

/* A request of the Responses interface, carried to an upstream that has it: as it came, but for what is ours to say. */

/** `name-high` → name, with that effort of reasoning; for names that may say so at the interface of their maker. */
function withEffort(body: JsonObject): JsonObject {
  const [, name, effort] = /^(.+)-(high|medium|low)$/.exec(textIn(body.model) ?? '') ?? [];
  if (name === undefined || effort === undefined || factsOf(name).effortSuffixOf === null) return body;
  return { ...body, model: name, reasoning: { ...(isObject(body.reasoning) ? body.reasoning : {}), effort } };
}

const limitNames = ['max_output_tokens', 'max_completion_tokens', 'max_tokens'] as const;

/**
 * An operator's own parameters, a limit by whichever name: it is neither raised above what is reserved for nor taken
 * away.
 */
function overridden(asked: JsonObject, override: JsonObject, max: number): JsonObject {
  const rest = { ...override };
  for (const name of limitNames) delete rest[name];
  const body: JsonObject = { ...asked, ...rest };
  for (const name of limitNames) {
    const limit = countIn(override[name]);
    if (limit === null || limit === 0) continue;
    body.max_output_tokens = Math.min(limit, max);
    break;
  }
  return body;
}

/**
 * Where nothing is to be kept in an account that callers share, nothing is, whoever asks for it. `later`: the caller asks
 * for it in the background, which an operator cannot.
 */
function unkept(body: JsonObject, keeps: boolean, later: boolean): JsonObject {
  const now = body.background === true && !(keeps && later) ? { ...body, background: false } : body;
  return keeps || now.store === false ? now : { ...now, store: false };
}

const isStored = (item: JsonValue): boolean => isObject(item) && isStoredThought(item);

/** Whose it is is not known where nothing is to be kept. The same where there is none. */
const withoutStoredThoughts = (input: JsonValue | undefined): JsonValue | undefined =>
  isList(input) && input.some(isStored) ? input.filter((item) => !isStored(item)) : input;

/** Throws NotConvertible. */
export function responsesRequest(
  variant: OpenAiVariant,
  { provider, channel, caller, model, options }: RequestInput,
): UpstreamRequest {
  const asked: Target = { base: baseOf(provider, channel), model, channel, caller, options };
  let body = asPriced({ ...caller.body, model }, asked);
  if (caller.outputLimit !== null) body = { ...body, max_output_tokens: caller.outputLimit };
  if (!options.passThrough) body = withEffort(body);
  return responsesPost(variant, { ...asked, model: textIn(body.model) ?? model }, body, caller.source);
}

/**
 * A body in this interface's words, on its way. `source`: the caller's text, where the body is that one but for what was
 * changed. Throws NotConvertible.
 */
export function responsesPost(
  variant: OpenAiVariant,
  target: Target,
  given: JsonObject,
  source?: JsonSource,
): UpstreamRequest {
  const { channel, caller, options } = target;
  const asked = variant.reshapeResponses?.(given, target) ?? given;
  const override = options.passThrough ? null : channel.paramOverride;
  let body = override === null ? asked : overridden(asked, override, caller.maxOutput);
  // What sums up, or counts, keeps nothing. A caller of another interface has no use for what is kept.
  if (caller.below === undefined)
    body = unkept(body, options.keepsUpstream && caller.mode === 'responses', caller.inBackground === true);
  const carried = withOtherThoughtIds(withoutCarriedReasoning(body.input));
  // Where things are kept, it is their caller's: that was looked at before.
  const input = options.keepsUpstream ? carried : withoutStoredThoughts(carried);
  if (input !== body.input) body = { ...body, input };
  const content: RequestContent = { kind: 'json', text: written(body, source) };
  const { reasoning } = body;
  return {
    ...postOf(variant, target, content),
    reasoningEffort: reasoningEffortOf(isObject(reasoning) ? textIn(reasoning.effort) : null),
    thinking: thinkingInOpenAi(body),
    service: serviceSent(caller, body, override),
  };
}
