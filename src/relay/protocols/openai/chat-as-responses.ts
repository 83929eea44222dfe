import { factsOf } from '../../../domain/models/model-facts.js';
import type { ChatRequest } from '../../contracts/neutral-request.js';
import {
  type CallerRequest,
  NotConvertible,
  type RequestInput,
  type UpstreamRequest,
} from '../../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, memberNamesIn, textIn } from '../../json/json.js';
import { declinesThinking } from '../declined-thinking.js';
import { baseOf, neutralAs } from '../request-builder.js';
import { itemsOf } from './chat-items.js';
import { responsesTextOf, responsesToolsOf } from './chat-tools.js';
import { setThinking } from './plain-words.js';
import { asPriced } from './request.js';
import { responsesPost } from './responses-request.js';
import type { OpenAiVariant, Target } from './variant.js';

/*
 * A chat put to an upstream that has Responses alone. What the interface has no word for is refused by its name, as leaving
 * it out would change what the caller gets.
 */

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

/** Members that both interfaces have, by the same name and with the same meaning. */
const sameNames = [
  'temperature',
  'top_p',
  'user',
  'metadata',
  'service_tier',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
] as const;

/** Members that are sent in other words, or are for the gateway. */
const toldOtherwise: ReadonlySet<string> = new Set([
  ...sameNames,
  'model',
  'messages',
  'n',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'reasoning_effort',
  'reasoning',
  'thinking',
  'verbosity',
  'response_format',
  'tools',
  'functions',
  'tool_choice',
  'function_call',
  'parallel_tool_calls',
  'logprobs',
  'top_logprobs',
  'store',
  'modalities',
]);

/** Members whose value may say that nothing is wanted of them. */
const idle: ReadonlyMap<string, (value: JsonValue | undefined) => boolean> = new Map([
  ['stop', (value) => value === '' || (isList(value) && value.length === 0)],
  ['presence_penalty', (value) => value === 0],
  ['frequency_penalty', (value) => value === 0],
  ['logit_bias', (value) => isObject(value) && Object.keys(value).length === 0],
]);

/** Callers of other dialects send it to everybody, and OpenAI's models know it in neither interface. */
const leftOutAcross = 'top_k';

function refuseUnknown(body: JsonObject, { dialect }: CallerRequest): void {
  for (const name of memberNamesIn(body)) {
    if (toldOtherwise.has(name) || idle.get(name)?.(body[name]) === true) continue;
    if (name === leftOutAcross && dialect.wire !== 'openai') continue;
    throw refused(`${name}: the Responses API, the only one of this upstream, has no such parameter`);
  }
}

function refuseOtherValues({ n, store, modalities }: JsonObject): void {
  if ((countIn(n) ?? 1) > 1)
    throw refused('n must be 1: the Responses API, the only one of this upstream, has one choice');
  if (store === true) throw refused("store must be false: callers share the provider's account");
  if (isList(modalities) && modalities.some((one) => one !== 'text'))
    throw refused(
      'modalities must be text: the Responses API, the only one of this upstream, answers with nothing else',
    );
}

/** The larger of two is what is held for; 0 is none. */
function limitOf({ max_tokens: older, max_completion_tokens: newer }: JsonObject, { outputLimit }: CallerRequest) {
  const given = [countIn(older) ?? 0, countIn(newer) ?? 0];
  const limit = outputLimit ?? Math.max(...given);
  return limit === 0 ? {} : { max_output_tokens: limit };
}

/** Summaries are requested for who asks for thinking that is shown: some accounts may not ask for them. */
const summaryIn = ({ thinking, reasoning }: JsonObject): JsonObject => {
  if (isObject(reasoning) && textIn(reasoning.summary) !== null) return { summary: reasoning.summary };
  const shown = isObject(thinking) && thinking.type !== 'disabled' && thinking.display !== 'omitted';
  return shown ? { summary: 'auto' } : {};
};

function reasoningOf(body: JsonObject, { wire }: CallerRequest['dialect'], variant: OpenAiVariant, model: string) {
  const { reasoning, reasoning_effort: named } = body;
  const effort = named ?? (isObject(reasoning) ? reasoning.effort : undefined);
  const effortMembers: JsonObject = effort === undefined ? {} : { reasoning_effort: effort };
  if (wire !== 'openai' || isObject(body.thinking)) setThinking(effortMembers, variant, model, declinesThinking(body));
  const said = textIn(effortMembers.reasoning_effort);
  const asked = { ...(said !== null && { effort: said }), ...summaryIn(body) };
  return Object.keys(asked).length === 0 ? {} : { reasoning: asked };
}

/** What the model has thought comes back sealed, so that the next turn can bring it. Models that think nothing refuse it. */
function includedFor({ logprobs }: JsonObject, model: string): JsonObject {
  const { isOpenAi, takesReasoningParameters } = factsOf(model);
  const include = [
    ...(takesReasoningParameters || !isOpenAi ? ['reasoning.encrypted_content'] : []),
    ...(logprobs === true ? ['message.output_text.logprobs'] : []),
  ];
  return include.length === 0 ? {} : { include };
}

function streaming({ stream }: CallerRequest, { stream_options: options }: JsonObject): JsonObject {
  if (!stream) return {};
  const obfuscation = isObject(options) ? options.include_obfuscation : undefined;
  return { stream, ...(typeof obfuscation === 'boolean' && { stream_options: { include_obfuscation: obfuscation } }) };
}

/** Throws NotConvertible. */
export function chatAsResponses(variant: OpenAiVariant, input: RequestInput): UpstreamRequest {
  const { provider, channel, caller, model, options } = input;
  const asked: Target = { base: baseOf(provider, channel), model, channel, caller, options };
  let body = asPriced({ ...neutralAs(caller, 'chat'), model }, asked);
  for (const edit of options.passThrough ? [] : (variant.edits ?? [])) body = edit(body, asked);
  refuseUnknown(body, caller);
  refuseOtherValues(body);
  const chat = body as ChatRequest & JsonObject;
  const named = textIn(body.model) ?? model;
  const same: JsonObject = {};
  for (const name of sameNames) if ((body[name] ?? null) !== null) same[name] = body[name];
  const put: JsonObject = {
    model: named,
    input: itemsOf(chat.messages),
    ...limitOf(body, caller),
    ...responsesToolsOf(chat),
    ...responsesTextOf(chat, body.verbosity),
    ...reasoningOf(body, caller.dialect, variant, named),
    ...includedFor(body, named),
    ...(countIn(body.top_logprobs) !== null && { top_logprobs: body.top_logprobs }),
    ...same,
    ...streaming(caller, body),
  };
  // Where it goes is that of Responses, whatever the caller has asked by; of an id nobody would learn.
  const target = { ...asked, model: named, caller: { ...caller, mode: 'responses' as const } };
  return responsesPost(variant, { ...target, options: { ...options, keepsUpstream: false } }, put);
}
