import { factsOf } from '../../../domain/models/model-facts.js';
import { isHostedSearch } from '../../contracts/hosted-search.js';
import { anthropicReasoning, isAnthropicReasoning } from '../../contracts/neutral.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { declinesThinking } from '../declined-thinking.js';
import { openAiCallId } from '../tool-call-ids.js';
import { effortOfOthers, knownEffort, minEffort } from './efforts.js';
import type { Edit, OpenAiVariant } from './variant.js';

/*
 * Neutral bodies of callers with other dialects have more in them than OpenAI's upstreams know, which refuse what they do
 * not know. OpenAI's own callers say what they mean: their bodies are left alone.
 */

const withoutCache = ({ cache_control: _, ...part }: JsonObject): JsonObject => part;

function partOf(part: JsonObject, path: string): JsonObject {
  const { file } = part;
  if (part.type === 'file' && isObject(file) && file.file_url !== undefined)
    throw new NotConvertible('caller', `${path}: this provider takes documents as data, not by their address`);
  return withoutCache(part);
}

const isText = ({ type }: JsonObject): boolean => type === 'text';

const textOf = (parts: readonly JsonObject[]): string => parts.map(({ text }) => text).join('\n');

/** Many an upstream of the family takes nothing but a text where there is nothing else. */
const plainContent = (parts: readonly JsonObject[], path: string): JsonValue =>
  parts.every(isText) ? textOf(parts) : parts.map((part, at) => partOf(part, `${path}[${at}]`));

/** A result of a tool is a text here; pictures in it are shown by the user right after. */
function resultOf(
  { is_error: failed, content, cache_control: _, ...message }: JsonObject,
  shown: JsonObject[],
  path: string,
): JsonObject {
  const parts = isList(content) ? objectsIn(content).map((part, at) => partOf(part, `${path}[${at}]`)) : [];
  shown.push(...parts.filter((part) => !isText(part)));
  const text = isList(content) ? textOf(parts.filter(isText)) : content;
  return { ...message, content: failed === true ? `Error: ${text ?? ''}` : text };
}

/** Ids as every upstream of the family takes them. */
const withFitIds = (message: JsonObject): JsonObject => ({
  ...message,
  ...(typeof message.tool_call_id === 'string' && { tool_call_id: openAiCallId(message.tool_call_id) }),
  ...(isList(message.tool_calls) && {
    tool_calls: objectsIn(message.tool_calls).map((call) =>
      typeof call.id === 'string' ? { ...call, id: openAiCallId(call.id) } : call,
    ),
  }),
});

/** OpenAI's own models refuse members that they do not know, and bring none of them. */
const withoutExtra = (message: JsonObject): JsonObject =>
  isList(message.tool_calls)
    ? { ...message, tool_calls: objectsIn(message.tool_calls).map(({ extra_content: _, ...call }) => call) }
    : message;

/** Anthropic's models are behind upstreams of this family too, which take what is signed in the words they bring it in. */
const withFormat = (detail: JsonObject): JsonObject =>
  isAnthropicReasoning(detail) ? { ...detail, format: anthropicReasoning } : detail;

/**
 * What its upstream brought of a model's thinking: some refuse the next turn without it. What Anthropic's models have
 * signed goes to no others, unless an upstream is shown any thinking.
 */
function thoughtOf(message: JsonObject, { replaysReasoning = false }: OpenAiVariant, model: string): JsonObject {
  const { reasoning, reasoning_content: thought, reasoning_details: details } = message;
  const thoughts = thought ?? reasoning;
  if (replaysReasoning) return thoughts === undefined ? {} : { reasoning_content: thoughts };
  const { isOpenAi, isClaude } = factsOf(model);
  const signed = objectsIn(details).some((detail) => isAnthropicReasoning(detail));
  if (signed && isClaude) return { reasoning_details: objectsIn(details).map(withFormat) };
  if (isOpenAi || signed) return {};
  const kept = objectsIn(details).filter(({ type }) => type === 'reasoning.encrypted');
  return {
    ...(reasoning !== undefined && { reasoning }),
    ...(thought !== undefined && { reasoning_content: thought }),
    ...(kept.length > 0 && { reasoning_details: kept }),
  };
}

function plainMessages(messages: JsonValue | undefined, variant: OpenAiVariant, model: string): JsonObject[] {
  const ownModel = factsOf(model).isOpenAi;
  const plain: JsonObject[] = [];
  let shown: JsonObject[] = [];
  const show = (): void => {
    if (shown.length > 0) plain.push({ role: 'user', content: shown });
    shown = [];
  };
  for (const [at, message] of objectsIn(messages).entries()) {
    const path = `messages[${at}].content`;
    const { reasoning_details: _, reasoning_content: __, reasoning: ___, ...bare } = message;
    const fit = withFitIds(bare);
    const rest = ownModel ? withoutExtra(fit) : fit;
    if (rest.role === 'tool') {
      plain.push(resultOf(rest, shown, path));
      continue;
    }
    show();
    const { content } = rest;
    const said = isList(content) ? { ...rest, content: plainContent(objectsIn(content), path) } : rest;
    plain.push({ ...said, ...thoughtOf(message, variant, model) });
  }
  show();
  return plain;
}

/** OpenAI's own models alone know them: how long an answer is to be, and what names a conversation or its user. */
const ownMembers = ['verbosity', 'prompt_cache_key', 'safety_identifier'];

/** Nobody here is given a budget, or left to decide. */
const switchOf = (thinking: JsonValue | undefined, declined: boolean): JsonObject =>
  declined || isObject(thinking) ? { thinking: { type: declined ? 'disabled' : 'enabled' } } : {};

/** In place: no thinking as the model accepts it, and an effort that it knows. */
export function setThinking(plain: JsonObject, variant: OpenAiVariant, model: string, declined: boolean): void {
  const own = factsOf(model).isOpenAi;
  const { reasoning_effort: effort } = plain;
  if (declined || (own && typeof effort === 'string')) delete plain.reasoning_effort;
  if (declined) Object.assign(plain, variant.minThinking?.(model) ?? (own ? minEffort(model) : {}));
  else if (own && typeof effort === 'string') {
    const known = knownEffort(model, effort);
    if (known !== null) plain.reasoning_effort = known;
  } else if (typeof effort === 'string' && variant.knowsAllEfforts !== true)
    plain.reasoning_effort = effortOfOthers(model, effort);
}

/** Throws NotConvertible. */
export const inPlainWords =
  (variant: OpenAiVariant): Edit =>
  (body, { model }) => {
    const { thinking, ...rest } = body;
    const declined = declinesThinking(body);
    const plain: JsonObject = {
      ...rest,
      messages: plainMessages(body.messages, variant, model),
      ...(variant.knowsThinking && switchOf(thinking, declined)),
    };
    const search = objectsIn(body.tools).find(isHostedSearch);
    if (search !== undefined)
      throw new NotConvertible(
        'caller',
        `tools: ${textIn(search.type)} is run by providers that have the Responses interface, or one of another vendor's, and this channel has chat alone`,
      );
    if (isList(body.tools)) plain.tools = objectsIn(body.tools).map(withoutCache);
    if (factsOf(model).isOpenAi) delete plain.top_k;
    else for (const name of ownMembers) delete plain[name];
    setThinking(plain, variant, model, declined);
    return plain;
  };
