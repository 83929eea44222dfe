import type { UpstreamChannel } from '../../../src/relay/contracts/protocol.js';
import { messages } from '../../../src/relay/dialects/anthropic/endpoints/messages.js';
import { streamOfEvents } from '../../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { chat } from '../../../src/relay/dialects/openai/endpoints/chat.js';
import { responsesInChatCaller } from '../../../src/relay/dialects/openai/responses-in-chat/dialect.js';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../../src/relay/json/json.js';
import { responseEventsFault } from '../../support/callers/response-events.js';
import type { Protocol } from '../../support/upstreams/dialect-upstreams.js';
import { callerOf, type Golden, plainChannel, providerOfType, usualOptions } from './golden.js';

/* An answer as clients of each dialect put it together, by the plain reading of its members. */

/** The dialects of the wires, and that of callers who ask for responses where there is chat alone. */
export type Listener = Protocol | 'responses';

const dialects = {
  openai: chat.dialect,
  anthropic: messages.dialect,
  gemini: streamOfEvents.dialect,
  responses: responsesInChatCaller,
};

/** What a client of this dialect gets of an upstream of this type. */
export function answerSentTo(
  dialect: Listener,
  type: number,
  stream: boolean,
  upstream: Buffer,
  channel: Partial<UpstreamChannel> = {},
): Golden {
  const plain = callerOf('chat', { model: 'told', stream, stream_options: { include_usage: true } });
  return {
    ...{ name: 'told', provider: providerOfType(type), upstreamModel: 'told' },
    channel: { ...plainChannel, ...channel },
    caller: { ...plain, dialect: dialects[dialect] },
    options: usualOptions,
    info: { callId: 'call-1', model: 'told', createdAt: 0 },
    ...{ sent: { url: '', headers: {}, body: {} }, upstream, stream, answer: null, expected: {} },
  };
}

export interface Heard {
  content: string;
  reasoning: string;
  calls: { name: string; args: unknown }[];
  finish: string | null;
  input: number;
  output: number;
}

const count = (value: unknown): number => (typeof value === 'number' ? value : 0);
const words = (value: unknown): string => (typeof value === 'string' ? value : '');
const object = (value: unknown): JsonObject => (isObject(value) ? value : {});
const silence = (): Heard => ({ content: '', reasoning: '', calls: [], finish: null, input: 0, output: 0 });
/** As whoever runs the tool takes it; null: it was cut off. */
const parsedArgs = (text: string): unknown => parseJson(text || '{}');

function byOpenAi(payloads: readonly JsonObject[]): Heard {
  const heard = silence();
  const calls: { name: string; text: string }[] = [];
  for (const payload of payloads) {
    const usage = object(payload.usage);
    heard.input = count(usage.prompt_tokens) || heard.input;
    heard.output = count(usage.completion_tokens) || heard.output;
    for (const choice of objectsIn(payload.choices)) {
      heard.finish = typeof choice.finish_reason === 'string' ? choice.finish_reason : heard.finish;
      const message = object(choice.delta ?? choice.message);
      heard.content += words(message.content) + words(message.refusal);
      heard.reasoning += words(message.reasoning_content);
      for (const [position, call] of objectsIn(message.tool_calls).entries()) {
        const at = typeof call.index === 'number' ? call.index : position;
        const { name, text } = calls[at] ?? { name: '', text: '' };
        const called = object(call.function);
        calls[at] = { name: name + words(called.name), text: text + words(called.arguments) };
      }
    }
  }
  heard.calls = calls.map(({ name, text }) => ({ name, args: parsedArgs(text) }));
  return heard;
}

const stops: Readonly<Record<string, string>> = {
  ...{ end_turn: 'stop', stop_sequence: 'stop', pause_turn: 'stop', tool_use: 'tool_calls' },
  ...{ max_tokens: 'length', refusal: 'content_filter' },
};

const inputOf = (usage: JsonObject): number =>
  count(usage.input_tokens) + count(usage.cache_read_input_tokens) + count(usage.cache_creation_input_tokens);

function byAnthropic(payloads: readonly JsonObject[], stream: boolean): Heard {
  const heard = silence();
  const texts = new Map<unknown, { name: string; text: string }>();
  const takeBlock = (block: JsonObject): void => {
    heard.content += block.type === 'text' ? words(block.text) : '';
    heard.reasoning += block.type === 'thinking' ? words(block.thinking) : '';
  };
  if (!stream) {
    const [message = {}] = payloads;
    const blocks = objectsIn(message.content);
    for (const block of blocks) takeBlock(block);
    heard.calls = blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ name, input }) => ({ name: words(name), args: input }));
    heard.finish = stops[words(message.stop_reason)] ?? null;
    heard.input = inputOf(object(message.usage));
    heard.output = count(object(message.usage).output_tokens);
    return heard;
  }
  for (const { type, index, content_block: block, delta, message, usage } of payloads) {
    if (type === 'message_start') heard.input = inputOf(object(object(message).usage));
    if (isObject(block)) {
      takeBlock(block);
      if (block.type === 'tool_use') texts.set(index, { name: words(block.name), text: '' });
    }
    const said = object(delta);
    heard.content += words(said.text);
    heard.reasoning += words(said.thinking);
    const call = texts.get(index);
    if (call !== undefined && said.type === 'input_json_delta') call.text += words(said.partial_json);
    if (type !== 'message_delta') continue;
    heard.finish = stops[words(said.stop_reason)] ?? heard.finish;
    heard.input = inputOf(object(usage)) || heard.input;
    heard.output = count(object(usage).output_tokens);
  }
  heard.calls = [...texts.values()].map(({ name, text }) => ({ name, args: parsedArgs(text) }));
  return heard;
}

function byGemini(payloads: readonly JsonObject[]): Heard {
  const heard = silence();
  let finish: string | null = null;
  for (const { candidates, usageMetadata } of payloads) {
    const usage = object(usageMetadata);
    heard.input = count(usage.promptTokenCount) + count(usage.toolUsePromptTokenCount) || heard.input;
    heard.output = count(usage.candidatesTokenCount) + count(usage.thoughtsTokenCount) || heard.output;
    for (const candidate of objectsIn(candidates)) {
      finish = typeof candidate.finishReason === 'string' ? candidate.finishReason : finish;
      for (const part of objectsIn(object(candidate.content).parts)) {
        heard[part.thought === true ? 'reasoning' : 'content'] += words(part.text);
        if (isObject(part.functionCall))
          heard.calls.push({ name: words(part.functionCall.name), args: part.functionCall.args ?? {} });
      }
    }
  }
  const known: Readonly<Record<string, string>> = { STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'content_filter' };
  heard.finish = heard.calls.length > 0 && finish === 'STOP' ? 'tool_calls' : (known[finish ?? ''] ?? finish);
  return heard;
}

/** The events of a response must fit together, too. */
function byResponses(payloads: readonly JsonObject[], stream: boolean): Heard {
  const heard = silence();
  const fault = stream ? responseEventsFault(payloads) : null;
  if (fault !== null) throw new Error(fault);
  const response = object(stream ? payloads.at(-1)?.response : payloads[0]);
  for (const { type, content, summary, name, arguments: given } of objectsIn(response.output)) {
    if (type === 'message')
      heard.content += objectsIn(content)
        .map((part) => words(part.text ?? part.refusal))
        .join('');
    if (type === 'reasoning')
      heard.reasoning += objectsIn(summary)
        .map(({ text }) => words(text))
        .join('');
    if (type === 'function_call') heard.calls.push({ name: words(name), args: parsedArgs(words(given)) });
  }
  const { reason } = object(response.incomplete_details);
  const whole = heard.calls.length > 0 ? 'tool_calls' : 'stop';
  heard.finish = reason === 'max_output_tokens' ? 'length' : typeof reason === 'string' ? reason : whole;
  heard.input = count(object(response.usage).input_tokens);
  heard.output = count(object(response.usage).output_tokens);
  return heard;
}

/** Lines end at line feeds alone: other separators may stand in texts. */
export const payloadsIn = (answer: string): JsonObject[] =>
  answer
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));

export function receivedBy(dialect: Listener, payloads: readonly JsonObject[], stream: boolean): Heard {
  switch (dialect) {
    case 'openai':
      return byOpenAi(payloads);
    case 'anthropic':
      return byAnthropic(payloads, stream);
    case 'gemini':
      return byGemini(payloads);
    case 'responses':
      return byResponses(payloads, stream);
  }
}

/**
 * What of an answer a dialect has words for: Gemini's has none for calls that were cut off, nor for calls to be answered;
 * a response does not say that calls are to be answered.
 */
export function comparable(heard: Heard, dialect: Listener): Heard {
  if (dialect !== 'gemini' && dialect !== 'responses') return heard;
  const calls = dialect === 'gemini' ? heard.calls.filter(({ args }) => args !== null) : heard.calls;
  const finish = heard.finish === 'stop' && calls.length > 0 ? 'tool_calls' : heard.finish;
  return { ...heard, calls, finish: calls.length < heard.calls.length ? 'MALFORMED_FUNCTION_CALL' : finish };
}
