import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { completionTokens, promptTokens } from '../../../src/domain/usage.js';
import { messages } from '../../../src/relay/callers/anthropic/endpoints/messages.js';
import { streamOfEvents } from '../../../src/relay/callers/gemini/endpoints/generate-content.js';
import { chat } from '../../../src/relay/callers/openai/endpoints/chat.js';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../../src/relay/protocols/json.js';
import { eventText } from '../../support/anthropic-upstream.js';
import { byteByByte, callerOf, type Golden, plainChannel, play, providerOfType, usualOptions } from './golden.js';

/*
 * Recorded answers of Anthropic's and of Google's, when WIRE_FIXTURES names a folder, told to clients of all three
 * dialects: who speaks the same gets the bytes, the others hear the same as OpenAI's clients, for whom the neighbouring
 * suites work out what must be heard.
 */

const folder = process.env.WIRE_FIXTURES ?? '';
const dialects = { openai: chat.dialect, anthropic: messages.dialect, gemini: streamOfEvents.dialect };
type Name = keyof typeof dialects;

interface Recording {
  readonly name: string;
  readonly own: Name;
  readonly type: number;
  readonly stream: boolean;
  readonly bytes: Buffer;
}

const sources: readonly (Pick<Recording, 'own' | 'type'> & { path: string; frame: (event: JsonObject) => string })[] = [
  { path: 'anthropic', own: 'anthropic', type: 14, frame: eventText },
  { path: 'google', own: 'gemini', type: 24, frame: (event) => `data: ${JSON.stringify(event)}\n\n` },
];

/** Some recordings of Anthropic's hold several answers; the first is the call's. */
const firstAnswer = (events: readonly JsonObject[]): readonly JsonObject[] => {
  const end = events.findIndex(({ type }) => type === 'message_stop');
  return end < 0 ? events : events.slice(0, end + 1);
};

const recordings = sources
  .filter(({ path }) => folder !== '' && existsSync(join(folder, path)))
  .flatMap(({ path, own, type, frame }) =>
    readdirSync(join(folder, path))
      .filter((file) => /\.(json|chunks\.txt)$/.test(file))
      .map((file): Recording => {
        const text = readFileSync(join(folder, path, file), 'utf8');
        const stream = file.endsWith('.txt');
        const lines = text.split('\n').filter((line) => line.trim() !== '');
        const frames = stream ? firstAnswer(lines.map((line) => JSON.parse(line))).map(frame) : [text];
        return { name: `${path}/${file}`, own, type, stream, bytes: Buffer.from(frames.join('')) };
      }),
  )
  .filter(({ bytes }) => !/^\s*\{\s*"error"/.test(bytes.toString('utf8')));
const named = (stream: boolean) =>
  recordings.filter((one) => one.stream === stream).map((recording, at) => [recording.name, recording, at] as const);

function goldenOf({ type, stream, bytes }: Recording, dialect: Name): Golden {
  const plain = callerOf('chat', { model: 'recorded', stream, stream_options: { include_usage: true } });
  return {
    ...{ name: 'recorded', provider: providerOfType(type), channel: plainChannel, upstreamModel: 'recorded' },
    caller: { ...plain, dialect: dialects[dialect] },
    options: usualOptions,
    info: { callId: 'call-1', model: 'recorded', createdAt: 0 },
    ...{ sent: { url: '', headers: {}, body: {} }, upstream: bytes, stream, answer: null, expected: {} },
  };
}

interface Heard {
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
      heard.content += words(message.content);
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
  for (const { type, index, content_block: block, delta, usage } of payloads) {
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
    heard.input = inputOf(object(usage));
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

const payloadsIn = (answer: string): JsonObject[] =>
  answer.split('\n\n').flatMap((frame) => {
    const [, json] = /^data: (\{.*)$/m.exec(frame) ?? [];
    return json === undefined ? [] : [JSON.parse(json)];
  });

const heardBy = (dialect: Name, payloads: readonly JsonObject[], stream: boolean): Heard =>
  dialect === 'openai' ? byOpenAi(payloads) : dialect === 'gemini' ? byGemini(payloads) : byAnthropic(payloads, stream);

/** What of an answer a dialect has words for: Gemini's has none for calls that were cut off, nor for calls to be answered. */
function tellable(heard: Heard, dialect: Name): Heard {
  if (dialect !== 'gemini') return heard;
  const calls = heard.calls.filter(({ args }) => args !== null);
  const finish = heard.finish === 'stop' && calls.length > 0 ? 'tool_calls' : heard.finish;
  return { ...heard, calls, finish: calls.length < heard.calls.length ? 'MALFORMED_FUNCTION_CALL' : finish };
}

const others = ({ own }: Recording): Name[] =>
  (Object.keys(dialects) as Name[]).filter((name) => name !== own && name !== 'openai');

const short = 6 * 1024;
/** Prime, so that it falls on every place within frames of whatever length. */
const stride = 499;

/** Every byte of what is short; of what is long a few, others for each recording. */
function* cuts({ bytes }: Recording, at: number): Generator<number> {
  const step = bytes.length <= short ? 1 : stride;
  for (let cut = 1 + ((at * 37) % step); cut < bytes.length; cut += step) yield cut;
}

function playedTo(recording: Recording, dialect: Name, pieces: readonly Buffer[]) {
  const { answer, usage } = play(goldenOf(recording, dialect), pieces);
  return { answer, usage };
}

describe.runIf(recordings.length > 0)('recorded streams', () => {
  test.each(named(true))('%s reaches who speaks the same byte for byte, wherever it is cut', (_name, recording, at) => {
    const { bytes, own } = recording;
    const text = bytes.toString('utf8');
    expect(playedTo(recording, own, [bytes]).answer).toBe(text);
    for (const cut of cuts(recording, at))
      expect(playedTo(recording, own, [bytes.subarray(0, cut), bytes.subarray(cut)]).answer).toBe(text);
  });

  test.each(named(true))('%s says the same to every other dialect, wherever it is cut', (_name, recording, at) => {
    const { bytes } = recording;
    const reference = playedTo(recording, 'openai', [bytes]);
    const expected = byOpenAi(payloadsIn(reference.answer));
    if (reference.usage === null) throw new Error('a recording without usage');
    expect([expected.input, expected.output]).toEqual([
      promptTokens(reference.usage),
      completionTokens(reference.usage),
    ]);
    for (const dialect of others(recording)) {
      const whole = playedTo(recording, dialect, [bytes]);
      expect(heardBy(dialect, payloadsIn(whole.answer), true)).toEqual(tellable(expected, dialect));
      expect(whole.usage).toEqual(reference.usage);
      expect(playedTo(recording, dialect, byteByByte(bytes))).toEqual(whole);
      for (const cut of cuts(recording, at))
        expect(playedTo(recording, dialect, [bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(whole);
    }
  });
});

test.runIf(recordings.length > 0).each(named(false))('%s says the same to every dialect', (_name, recording) => {
  const tell = (dialect: Name) => {
    const { provider, channel, caller, info, upstream } = goldenOf(recording, dialect);
    const headers = { 'content-type': 'application/json' };
    const answer = provider.protocol.answer(provider, channel, caller, 200, headers, upstream, info);
    if (!answer.ok) throw new Error(answer.error.message);
    return { usage: answer.usage, text: caller.dialect.whole(answer, caller, channel).toString('utf8') };
  };
  const reference = tell('openai');
  const expected = byOpenAi([JSON.parse(reference.text)]);
  expect(tell(recording.own).text).toBe(recording.bytes.toString('utf8'));
  for (const dialect of others(recording)) {
    const { usage, text } = tell(dialect);
    expect(heardBy(dialect, [JSON.parse(text)], false)).toEqual(tellable(expected, dialect));
    expect(usage).toEqual(reference.usage);
  }
});
