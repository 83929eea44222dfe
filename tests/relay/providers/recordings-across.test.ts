import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { completionTokens, promptTokens } from '../../../src/domain/call/usage.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { eventText } from '../../support/upstreams/anthropic-upstream.js';
import { type Protocol, protocols } from '../../support/upstreams/dialect-upstreams.js';
import { byteByByte, cutEverywhere, play } from './golden.js';
import { answerSentTo, comparable, type Listener, payloadsIn, receivedBy } from './received-answer.js';

/*
 * Recorded answers of Anthropic's and of Google's, when WIRE_FIXTURES names a folder, told to clients of all
 * dialects: who speaks the same gets the bytes, the others hear the same as OpenAI's clients, for whom the neighbouring
 * suites work out what must be heard.
 */

const folder = process.env.WIRE_FIXTURES ?? '';

interface Recording {
  readonly name: string;
  readonly own: Protocol;
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
  recordings.filter((one) => one.stream === stream).map((recording) => [recording.name, recording] as const);

/** Chats of OpenAI's wire, which callers of the Responses interface are told as responses. */
const chats = (
  [
    ['openai/chat', 3],
    ['groq', 8],
    ['deepseek/chat', 43],
    ['moonshotai', 25],
    ['alibaba', 17],
    ['mistral', 42],
    ['perplexity', 27],
    ['openai-compatible/chat', 8],
  ] as const
)
  .filter(([path]) => folder !== '' && existsSync(join(folder, path)))
  .flatMap(([path, type]) =>
    readdirSync(join(folder, path))
      .filter((file) => file.endsWith('.chunks.txt'))
      .map((file): Recording => {
        const lines = readFileSync(join(folder, path, file), 'utf8').split('\n');
        const frames = lines.filter((line) => line.trim() !== '').map((line) => `data: ${line}\n\n`);
        const bytes = Buffer.from(`${frames.join('')}data: [DONE]\n\n`);
        return { name: `${path}/${file}`, own: 'openai', type, stream: true, bytes };
      }),
  );

const goldenOf = ({ type, stream, bytes }: Recording, dialect: Listener) => answerSentTo(dialect, type, stream, bytes);

const others = ({ own }: Recording): Listener[] => [
  ...protocols.filter((name) => name !== own && name !== 'openai'),
  'responses',
];

const short = 3 * 1024;
/** Longer ones are not read byte by byte: that takes a minute. */
const long = 64 * 1024;

/** Every place of what is short; every 32nd of what is long. */
const cuts = ({ bytes }: Recording) => cutEverywhere(bytes, bytes.length <= short ? 1 : 32);

function playedTo(recording: Recording, dialect: Listener, pieces: readonly Buffer[]) {
  const { answer, usage } = play(goldenOf(recording, dialect), pieces);
  return { answer, usage };
}

describe.runIf(recordings.length > 0)('a recorded stream', () => {
  test.each(named(true))(
    '%s reaches callers of the same dialect byte for byte, wherever it is cut',
    (_name, recording) => {
      const { bytes, own } = recording;
      const text = bytes.toString('utf8');
      expect(playedTo(recording, own, [bytes]).answer).toBe(text);
      for (const { pieces } of cuts(recording)) expect(playedTo(recording, own, pieces).answer).toBe(text);
    },
  );

  test.each(named(true))('%s has the same content in every other dialect, wherever it is cut', (_name, recording) => {
    const { bytes } = recording;
    const reference = playedTo(recording, 'openai', [bytes]);
    const expected = receivedBy('openai', payloadsIn(reference.answer), true);
    if (reference.usage === null) throw new Error('a recording without usage');
    expect([expected.input, expected.output]).toEqual([
      promptTokens(reference.usage),
      completionTokens(reference.usage),
    ]);
    for (const dialect of others(recording)) {
      const whole = playedTo(recording, dialect, [bytes]);
      expect(receivedBy(dialect, payloadsIn(whole.answer), true)).toEqual(comparable(expected, dialect));
      expect(whole.usage).toEqual(reference.usage);
      expect(playedTo(recording, dialect, byteByByte(bytes))).toEqual(whole);
      for (const { pieces } of cuts(recording)) expect(playedTo(recording, dialect, pieces)).toEqual(whole);
    }
  });
});

test.runIf(chats.length > 0).each(chats.map((recording) => [recording.name, recording] as const))(
  '%s of OpenAI’s wire has the same content as a response, wherever it is cut',
  (_name, recording) => {
    const { bytes } = recording;
    const reference = playedTo(recording, 'openai', [bytes]);
    const whole = playedTo(recording, 'responses', [bytes]);
    const expected = receivedBy('openai', payloadsIn(reference.answer), true);
    expect(receivedBy('responses', payloadsIn(whole.answer), true)).toEqual(comparable(expected, 'responses'));
    expect(whole.usage).toEqual(reference.usage);
    if (bytes.length <= long) expect(playedTo(recording, 'responses', byteByByte(bytes))).toEqual(whole);
    for (const { pieces } of cuts(recording)) expect(playedTo(recording, 'responses', pieces)).toEqual(whole);
  },
  120_000,
);

test.runIf(recordings.length > 0).each(named(false))('%s has the same content in every dialect', (_name, recording) => {
  const playWith = (dialect: Listener) => {
    const { provider, channel, caller, info, upstream } = goldenOf(recording, dialect);
    const headers = { 'content-type': 'application/json' };
    const answer = provider.protocol.answer({ provider, channel, caller, status: 200, headers, body: upstream, info });
    if (!answer.ok) throw new Error(answer.error.message);
    return { usage: answer.usage, text: caller.dialect.whole(answer, caller, channel).toString('utf8') };
  };
  const reference = playWith('openai');
  const expected = receivedBy('openai', [JSON.parse(reference.text)], false);
  expect(playWith(recording.own).text).toBe(recording.bytes.toString('utf8'));
  for (const dialect of others(recording)) {
    const { usage, text } = playWith(dialect);
    expect(receivedBy(dialect, [JSON.parse(text)], false)).toEqual(comparable(expected, dialect));
    expect(usage).toEqual(reference.usage);
  }
});
