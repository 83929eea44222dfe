import { isList, isObject, type JsonObject, objectsIn, textIn } from '../relay/json/json.js';

/* What the simulated provider says: OpenAI's wire, written out once per model and text. */

export interface Tokens {
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly reasoning: number;
  /** What of the prompt and of the completion is sound. */
  readonly audioInput: number;
  readonly audioOutput: number;
}

export interface Speech {
  readonly pieces: readonly string[];
  readonly reasoning: readonly string[];
  readonly toolCall: { readonly name: string; readonly arguments: string } | null;
  /** The limit of the request came before the end. */
  readonly cut: boolean;
}

export type SpokenEndpoint = 'chat' | 'completions';

const created = 1_750_000_000;
const fingerprint = 'fp_simulated';
export const doneFrame = 'data: [DONE]\n\n';

/** About four characters to a token; at least one, so that every call costs something. */
export function promptTokensOf(body: JsonObject): number {
  const messages = isList(body.messages) ? body.messages : objectsIn(body.input);
  const texts =
    messages.length > 0
      ? objectsIn(messages).flatMap(({ content }) =>
          isList(content) ? objectsIn(content).map((part) => part.text) : [content],
        )
      : [body.prompt ?? body.input].flat();
  const length = texts.reduce<number>((total, text) => total + (typeof text === 'string' ? text.length : 4), 0);
  return Math.max(Math.ceil(length / 4), 1);
}

/** The call a model with tools would make: the first tool, once; after a tool's result it speaks. */
export function toolCallFor(body: JsonObject): Speech['toolCall'] {
  if (body.tool_choice === 'none' || objectsIn(body.messages).at(-1)?.role === 'tool') return null;
  const tool = objectsIn(body.tools)[0]?.function;
  const name = isObject(tool) ? textIn(tool.name) : null;
  return name === null ? null : { name, arguments: '{"location":"Copenhagen"}' };
}

export const usageOf = ({ prompt, completion, cached, reasoning, audioInput, audioOutput }: Tokens): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: cached, audio_tokens: audioInput },
  completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: audioOutput },
});

const head = (endpoint: SpokenEndpoint, model: string, stream: boolean): JsonObject => ({
  id: endpoint === 'chat' ? 'chatcmpl-simulated' : 'cmpl-simulated',
  object: endpoint === 'completions' ? 'text_completion' : stream ? 'chat.completion.chunk' : 'chat.completion',
  created,
  model,
  system_fingerprint: fingerprint,
});

const frame = (payload: JsonObject): string => `data: ${JSON.stringify(payload)}\n\n`;

const finishOf = (speech: Speech): string => (speech.cut ? 'length' : speech.toolCall ? 'tool_calls' : 'stop');

/** The frames of a stream up to and including the finish reason; usage and end mark follow. */
export function framesOf(endpoint: SpokenEndpoint, model: string, speech: Speech, answers = 1): string[] {
  const indexes = Array.from({ length: answers }, (_, index) => index);
  const chunk = (choice: JsonObject, finish: string | null): string =>
    indexes
      .map((index) => ({ index, ...choice, logprobs: null, finish_reason: finish }))
      .map((said) => frame({ ...head(endpoint, model, true), choices: [said] }))
      .join('');
  if (endpoint === 'completions')
    return [...speech.pieces.map((text) => chunk({ text }, null)), chunk({ text: '' }, finishOf(speech))];
  const delta = (content: JsonObject): string => chunk({ delta: content }, null);
  const called = (call: JsonObject): string => delta({ tool_calls: [{ index: 0, ...call }] });
  const spoken = speech.toolCall
    ? [
        called({ id: 'call_simulated_1', type: 'function', function: { name: speech.toolCall.name, arguments: '' } }),
        ...(speech.toolCall.arguments.match(/.{1,6}/gs) ?? []).map((part) => called({ function: { arguments: part } })),
      ]
    : speech.pieces.map((content) => delta({ content }));
  return [
    delta({ role: 'assistant', content: '' }),
    ...speech.reasoning.map((piece) => delta({ reasoning_content: piece })),
    ...spoken,
    chunk({ delta: {} }, finishOf(speech)),
  ];
}

export const usageFrame = (endpoint: SpokenEndpoint, model: string, tokens: Tokens): string =>
  frame({ ...head(endpoint, model, true), choices: [], usage: usageOf(tokens) });

/** The frame an upstream sends when it fails after it has begun. */
export const errorFrame = frame({
  error: { message: 'The simulated provider failed', type: 'server_error', param: null, code: 'simulated_failure' },
});

/** A complete answer with its usage left out: text before and after the place where usage goes. */
export function simulatedBody(
  endpoint: SpokenEndpoint,
  model: string,
  speech: Speech,
  answers = 1,
): readonly [string, string] {
  const text = speech.pieces.join('');
  const reasoning = speech.reasoning.length > 0 ? { reasoning_content: speech.reasoning.join('') } : {};
  const message = speech.toolCall
    ? {
        role: 'assistant',
        content: null,
        ...reasoning,
        tool_calls: [{ id: 'call_simulated_1', type: 'function', function: { ...speech.toolCall } }],
      }
    : { role: 'assistant', content: text, ...reasoning };
  const spoken: JsonObject = endpoint === 'chat' ? { message } : { text };
  const body = JSON.stringify({
    ...head(endpoint, model, false),
    choices: Array.from({ length: answers }, (_, index) => ({
      index,
      ...spoken,
      logprobs: null,
      finish_reason: finishOf(speech),
    })),
  });
  return [body.slice(0, -1), '}'];
}

/** Vectors that are equal for equal texts: eight numbers spelled from the text's characters. */
function vectorOf(text: string): number[] {
  const sums = new Array<number>(8).fill(0);
  for (let at = 0; at < text.length; at++) sums[at % 8] = ((sums[at % 8] ?? 0) * 31 + text.charCodeAt(at)) % 997;
  return sums.map((sum) => sum / 997);
}

export function embeddingsOf(model: string, body: JsonObject, tokens: Tokens): JsonObject {
  const inputs = isList(body.input) && typeof body.input[0] !== 'number' ? body.input : [body.input ?? ''];
  const base64 = body.encoding_format === 'base64';
  return {
    object: 'list',
    data: inputs.map((input, index) => {
      const vector = vectorOf(typeof input === 'string' ? input : JSON.stringify(input));
      const embedding = base64 ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector;
      return { object: 'embedding', index, embedding };
    }),
    model,
    usage: { prompt_tokens: tokens.prompt, total_tokens: tokens.prompt },
  };
}
