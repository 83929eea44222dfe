import { isObject, type JsonObject, objectsIn, parseJson } from '../../../src/relay/json/json.js';
import type { Answer, Caller } from './callers.js';

/* One question in each dialect, and what its caller makes of the stream that comes: without a client's own patience. */

export interface StreamResult {
  readonly status: number;
  readonly requestId: string;
  readonly text: string;
  readonly words: string;
  /** Why it ended, in the dialect's words; null: not told. */
  readonly finish: string | null;
  /** The end mark came, where the dialect has one. */
  readonly marked: boolean;
  /** An error: of the whole answer, or inside it. */
  readonly error: JsonObject | null;
}

export interface StreamCaller {
  readonly dialect: string;
  /** `onHeaders`: called when the answer has begun. */
  stream(caller: Caller, model: string, onHeaders?: () => void): Promise<StreamResult>;
}

const dataIn = (text: string): JsonObject[] =>
  [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data = '']) => {
    const parsed = parseJson(data);
    return isObject(parsed) ? [parsed] : [];
  });

const errorOf = (frames: readonly JsonObject[]): JsonObject | null =>
  frames.flatMap(({ error }) => (isObject(error) ? [error] : []))[0] ?? null;

const framesOf = ({ text, status }: Answer): JsonObject[] => {
  const whole = status === 200 ? null : parseJson(text);
  return isObject(whole) ? [whole] : dataIn(text);
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const streamResult = (
  answer: Answer,
  frames: readonly JsonObject[],
  rest: Pick<StreamResult, 'words' | 'finish' | 'marked'>,
): StreamResult => ({
  status: answer.status,
  requestId: answer.requestId,
  text: answer.text,
  error: errorOf(frames),
  ...rest,
});

const headers = { 'content-type': 'application/json' };
const messages = [{ role: 'user', content: 'What is a ledger?' }];

const openAi: StreamCaller = {
  dialect: 'openai',
  async stream(caller, model, onHeaders) {
    const answer = await caller.chat({ model, stream: true, max_tokens: 50 }, { onHeaders });
    const frames = framesOf(answer);
    const choices = frames.flatMap((frame) => objectsIn(frame.choices));
    return streamResult(answer, frames, {
      words: choices.map(({ delta }) => (isObject(delta) ? textOf(delta.content) : '')).join(''),
      finish: choices.map(({ finish_reason: reason }) => textOf(reason)).find((reason) => reason !== '') ?? null,
      marked: answer.text.endsWith('data: [DONE]\n\n'),
    });
  },
};

const anthropic: StreamCaller = {
  dialect: 'anthropic',
  async stream(caller, model, onHeaders) {
    const body = { model, messages, max_tokens: 50, stream: true };
    const answer = await caller.send('/v1/messages', { method: 'POST', headers, body, onHeaders });
    const frames = framesOf(answer);
    const deltas = frames.map(({ delta }) => (isObject(delta) ? delta : {}));
    return streamResult(answer, frames, {
      words: deltas.map(({ text }) => textOf(text)).join(''),
      finish: deltas.map(({ stop_reason: reason }) => textOf(reason)).find((reason) => reason !== '') ?? null,
      marked: frames.some(({ type }) => type === 'message_stop'),
    });
  },
};

const contents = [{ role: 'user', parts: [{ text: 'What is a ledger?' }] }];

const geminiResult = (answer: Answer, frames: readonly JsonObject[], marked: boolean): StreamResult => {
  const candidates = frames.flatMap((frame) => objectsIn(frame.candidates));
  const parts = candidates.flatMap(({ content }) => objectsIn(isObject(content) ? content.parts : []));
  return streamResult(answer, frames, {
    words: parts.map(({ text }) => textOf(text)).join(''),
    finish: candidates.map(({ finishReason }) => textOf(finishReason)).find((reason) => reason !== '') ?? null,
    marked,
  });
};

const body = { contents, generationConfig: { maxOutputTokens: 50 } };

const gemini: StreamCaller = {
  dialect: 'gemini',
  async stream(caller, model, onHeaders) {
    const path = `/v1beta/models/${model}:streamGenerateContent?alt=sse`;
    const answer = await caller.send(path, { method: 'POST', headers, body, onHeaders });
    return geminiResult(answer, framesOf(answer), true);
  },
};

const geminiArray: StreamCaller = {
  dialect: 'gemini as an array',
  async stream(caller, model, onHeaders) {
    const path = `/v1beta/models/${model}:streamGenerateContent`;
    const answer = await caller.send(path, { method: 'POST', headers, body, onHeaders });
    const parsed: unknown = JSON.parse(answer.text);
    return geminiResult(answer, isObject(parsed) ? [parsed] : objectsIn(parsed), Array.isArray(parsed));
  },
};

export const streamCallers: readonly StreamCaller[] = [openAi, anthropic, gemini, geminiArray];
