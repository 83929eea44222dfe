import { isHostedSearch, isOfferedAnyway } from '../contracts/hosted-search.js';
import type { ChatMessage, ToolWords } from '../contracts/neutral-request.js';
import {
  type CallerRequest,
  NotConvertible,
  type Protocol,
  type Provider,
  type RequestOptions,
  type UpstreamChannel,
} from '../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../json/json.js';
import { outputLimitOf } from './chat-words.js';
import { openAi } from './openai/openai.js';
import type { OpenAiVariant, Reading } from './openai/variant.js';
import { neutralAs, written } from './request-builder.js';
import { choiceSays } from './says-something.js';

/* Spark's own wire: a WebSocket for each call, one frame out, and frames back until one bears the status of the last. */

/** Where a call goes, and what is understood there. */
interface SparkEndpoint {
  /** Signed. */
  readonly url: string;
  readonly appId: string;
  readonly domain: string;
  readonly takesSystem: boolean;
  readonly takesFunctions: boolean;
}

export type SparkEndpointOf = (
  provider: Provider,
  channel: UpstreamChannel,
  model: string,
  options: RequestOptions,
) => SparkEndpoint;

interface Turn extends JsonObject {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

const textOf = (content: JsonValue | undefined): string => {
  if (!isList(content)) return textIn(content) ?? '';
  const parts = objectsIn(content);
  if (parts.some(({ type }) => type !== 'text'))
    throw new NotConvertible('caller', 'messages: this provider takes text only');
  return parts.map(({ text }) => textIn(text) ?? '').join('\n');
};

/** The wire has no place for calls of tools and their results; they are written as text. */
const callsText = (message: ChatMessage): string =>
  objectsIn(message.tool_calls)
    .map((call) => (isObject(call.function) ? call.function : {}))
    .map(({ name, arguments: given }) => `Function call: ${textIn(name) ?? ''} ${textIn(given) ?? ''}`)
    .join('\n');

function turnsOf(message: ChatMessage, { takesSystem }: SparkEndpoint): readonly Turn[] {
  const content = textOf(message.content);
  switch (message.role) {
    case 'system':
    case 'developer':
      return takesSystem
        ? [{ role: 'system', content }]
        : [
            { role: 'user', content },
            { role: 'assistant', content: 'Okay' },
          ];
    case 'assistant': {
      const text = [content, callsText(message)].filter((text) => text !== '').join('\n');
      return [{ role: 'assistant', content: text }];
    }
    case 'tool':
    case 'function':
      return [{ role: 'user', content: `Result of the function call, by which to answer the question:\n${content}` }];
    default:
      return [{ role: 'user', content }];
  }
}

function functionsIn({ tools, tool_choice: choice }: ToolWords, { takesFunctions }: SparkEndpoint): JsonObject[] {
  if (objectsIn(tools).some((tool) => isHostedSearch(tool) && !isOfferedAnyway(tool)))
    throw new NotConvertible('caller', 'tools: web_search is not offered by this provider');
  const functions =
    choice === 'none' ? [] : objectsIn(tools).flatMap(({ function: one }) => (isObject(one) ? [one] : []));
  if (functions.length > 0 && !takesFunctions)
    throw new NotConvertible('caller', 'tools: this version of the model takes none');
  return functions.map(({ name, description, parameters }) => ({ name, description, parameters }));
}

/** 0 is refused, and so is what is above 1. */
export const sparkTemperature = (asked: number): number => Math.min(Math.max(asked, 0.01), 1);

const maxUserLength = 32;

function frameOf(caller: CallerRequest, endpoint: SparkEndpoint): JsonObject {
  const body = neutralAs(caller, 'chat');
  const user = textIn(body.user);
  const functions = functionsIn(body, endpoint);
  const { temperature, top_k: topK } = body;
  return {
    header: { app_id: endpoint.appId, uid: user !== null && user.length <= maxUserLength ? user : undefined },
    parameter: {
      chat: {
        domain: endpoint.domain,
        temperature: typeof temperature === 'number' ? sparkTemperature(temperature) : undefined,
        top_k: typeof topK === 'number' ? Math.min(Math.max(Math.round(topK), 1), 6) : undefined,
        max_tokens: outputLimitOf(body, caller) ?? undefined,
      },
    },
    payload: {
      message: { text: body.messages.flatMap((message) => turnsOf(message, endpoint)) },
      functions: functions.length > 0 ? { text: functions } : undefined,
    },
  };
}

/** An operator's own parameters may change the limit, but not raise it above what is reserved for the call. */
function overridden(frame: JsonObject, override: JsonObject, max: number): JsonObject {
  const { parameter, ...others } = { ...frame, ...override };
  const chat = isObject(parameter) && isObject(parameter.chat) ? parameter.chat : {};
  if (!isObject(parameter) || typeof chat.max_tokens !== 'number' || chat.max_tokens <= max)
    return { parameter, ...others };
  return { parameter: { ...parameter, chat: { ...chat, max_tokens: max } }, ...others };
}

const statuses: readonly (readonly [RegExp, number])[] = [
  [/^100(03|04|13|14|19|21)$|^10163$|^10907$/, 400],
  [/^100(05|15|16)$|^11200$/, 403],
  [/^100(06|07|08)$|^10110$|^1120[123]$/, 429],
];

/** Of a failure by its number. */
export const sparkStatus = (code: string): number => statuses.find(([pattern]) => pattern.test(code))?.[1] ?? 502;

const failure: OpenAiVariant['failure'] = ({ header }) => {
  if (!isObject(header) || typeof header.code !== 'number' || header.code === 0) return null;
  const code = String(header.code);
  return { status: sparkStatus(code), code, message: textIn(header.message) };
};

const last = 2;

const choicesIn = ({ payload }: JsonObject): JsonObject | null =>
  isObject(payload) && isObject(payload.choices) ? payload.choices : null;

const isLast = (frame: JsonObject): boolean =>
  choicesIn(frame)?.status === last || (isObject(frame.header) && frame.header.status === last);

/** `before`: calls that came before this frame. Further pieces of one come without a name. */
function toolCallIn(text: JsonObject, id: string, before: number): JsonObject | null {
  const { function_call: call } = text;
  if (!isObject(call)) return null;
  const name = textIn(call.name);
  if (name === null) {
    if (before === 0 || typeof call.arguments !== 'string') return null;
    return { index: before - 1, function: { arguments: call.arguments } };
  }
  const called = { name, arguments: textIn(call.arguments) ?? '' };
  return { index: before, id: `call_${id}_${before}`, type: 'function', function: called };
}

function usageIn({ payload }: JsonObject): JsonObject | undefined {
  const reported = isObject(payload) && isObject(payload.usage) ? payload.usage.text : undefined;
  if (!isObject(reported)) return undefined;
  const { prompt_tokens, completion_tokens, total_tokens } = reported;
  return { prompt_tokens, completion_tokens, total_tokens };
}

/** Frames into chunks as all wires have them. */
function translate(frame: JsonObject, reading: Reading): JsonObject | null {
  const { header } = frame;
  const reported = choicesIn(frame);
  const usage = usageIn(frame);
  const ended = isLast(frame);
  const { info } = reading;
  if (reported === null && usage === undefined && !ended) return null;
  let calls = reading.toolCalls;
  const first = reported?.status === 0 || reported?.seq === 0;
  const choices: JsonObject[] = objectsIn(reported?.text).map((text) => {
    const call = toolCallIn(text, info.callId, calls);
    if (call !== null && call.index === calls) calls++;
    const delta: JsonObject = {
      ...(first && { role: 'assistant' }),
      content: textIn(text.content) ?? '',
      ...(textIn(text.reasoning_content) !== null && { reasoning_content: text.reasoning_content }),
      ...(call !== null && { tool_calls: [call] }),
    };
    return { index: countIn(text.index) ?? 0, delta, finish_reason: null };
  });
  if (ended && choices.length === 0) choices.push({ index: 0, delta: {}, finish_reason: null });
  // The wire knows no reasons; where nothing was said there was no answer that could have ended.
  const answered = reading.said || choices.some(choiceSays);
  if (ended && answered) for (const choice of choices) choice.finish_reason = calls > 0 ? 'tool_calls' : 'stop';
  return {
    id: (isObject(header) && textIn(header.sid)) || info.callId,
    object: 'chat.completion.chunk',
    created: info.createdAt,
    model: info.model,
    choices,
    ...(usage !== undefined && { usage }),
  };
}

export const spark = (endpointOf: SparkEndpointOf): Protocol => ({
  ...openAi({ failure, translate, isLast }),
  request({ provider, channel, caller, model, options }) {
    const endpoint = endpointOf(provider, channel, model, options);
    const frame = frameOf(caller, endpoint);
    const sent =
      channel.paramOverride === null || options.passThrough
        ? frame
        : overridden(frame, channel.paramOverride, caller.maxOutput);
    const content = { kind: 'message', text: written(sent) } as const;
    return { method: 'GET', url: endpoint.url, headers: {}, content, model, reasoningEffort: null, thinking: 'unsaid' };
  },
});
