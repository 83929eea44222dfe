import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CallerRequest } from '../../../src/relay/contracts/protocol.js';
import { messages } from '../../../src/relay/dialects/anthropic/endpoints/messages.js';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../../src/relay/json/json.js';
import { eventText } from '../../support/upstreams/anthropic-upstream.js';
import { framesOf } from '../../support/upstreams/event-stream.js';
import {
  byteByByte,
  callerOf,
  cutEverywhere,
  type Golden,
  plainChannel,
  play,
  providerOfType,
  usualOptions,
} from './golden.js';

/*
 * Recorded answers of Anthropic's, one body per `.json` and one event per line of each `.chunks.txt`, when WIRE_FIXTURES
 * names a folder: byte for byte to who speaks the same, by meaning to OpenAI's clients. What is expected is worked out
 * here from the recording itself.
 */

const folder = join(process.env.WIRE_FIXTURES ?? '', 'anthropic');
const present = (process.env.WIRE_FIXTURES ?? '') !== '' && existsSync(folder);
const files = present ? readdirSync(folder) : [];

/** Some hold several answers one after the other; the first is the call's. */
function firstAnswer(events: readonly JsonObject[]): readonly JsonObject[] {
  const end = events.findIndex(({ type }) => type === 'message_stop');
  return events.slice(0, end + 1);
}

const recorded = (file: string): string => readFileSync(join(folder, file), 'utf8');

const streams = files
  .filter((file) => file.endsWith('.chunks.txt'))
  .map((file) => {
    const lines = recorded(file)
      .split('\n')
      .filter((line) => line.trim() !== '');
    return [file, firstAnswer(lines.map((line) => JSON.parse(line)))] as const;
  });
const wholes = files.filter((file) => file.endsWith('.json')).map((file) => [file, recorded(file)] as const);

function goldenOf(upstream: Buffer, stream: boolean, own: boolean): Golden {
  const plain = callerOf('chat', { model: 'recorded', stream, stream_options: { include_usage: true } });
  const caller: CallerRequest = own ? { ...plain, dialect: messages.dialect } : plain;
  return {
    name: 'recorded',
    provider: providerOfType(14),
    channel: plainChannel,
    caller,
    upstreamModel: 'recorded',
    options: usualOptions,
    info: { callId: 'call-1', model: 'recorded', createdAt: 0 },
    sent: { url: '', headers: {}, body: {} },
    upstream,
    stream,
    answer: null,
    expected: {},
  };
}

interface Meaning {
  content: string;
  reasoning: string;
  calls: { name: string; input: unknown }[];
}

/** One that was cut off has no meaning but its text. */
const inputOf = (text: string): unknown => parseJson(text) ?? text;

/** By the plain reading of blocks and of what is said of them afterwards. */
function meaningOf(events: readonly JsonObject[]): Meaning {
  const meaning: Meaning = { content: '', reasoning: '', calls: [] };
  const open = new Map<unknown, { name: string; text: string }>();
  const close = (index: unknown): void => {
    const call = open.get(index);
    if (call !== undefined) meaning.calls.push({ name: call.name, input: inputOf(call.text || '{}') });
    open.delete(index);
  };
  for (const { type, index, content_block: block, delta } of events) {
    if (type === 'content_block_stop') close(index);
    if (isObject(block) && block.type === 'tool_use') {
      close(index);
      const given = isObject(block.input) && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : '';
      open.set(index, { name: String(block.name), text: given });
    }
    for (const piece of [block, delta]) {
      if (!isObject(piece)) continue;
      if (piece.type === 'text' || piece.type === 'text_delta') meaning.content += piece.text;
      if (piece.type === 'thinking' || piece.type === 'thinking_delta') meaning.reasoning += piece.thinking;
      const call = open.get(index);
      if (piece.type === 'input_json_delta' && call !== undefined) call.text += piece.partial_json;
    }
  }
  return meaning;
}

/** What OpenAI's clients put together. */
function receivedBy(payloads: readonly JsonObject[]): Meaning {
  const calls: { name: string; text: string }[] = [];
  const meaning: Meaning = { content: '', reasoning: '', calls: [] };
  for (const choice of payloads.flatMap(({ choices }) => objectsIn(choices))) {
    const message = isObject(choice.delta) ? choice.delta : isObject(choice.message) ? choice.message : {};
    meaning.content += message.content ?? '';
    meaning.reasoning += message.reasoning_content ?? '';
    for (const [position, call] of objectsIn(message.tool_calls).entries()) {
      const at = typeof call.index === 'number' ? call.index : position;
      const { name, arguments: given } = isObject(call.function) ? call.function : {};
      const before = calls[at] ?? { name: '', text: '' };
      calls[at] = { name: before.name + (name ?? ''), text: before.text + (given ?? '') };
    }
  }
  meaning.calls = calls.map(({ name, text }) => ({ name, input: inputOf(text) }));
  return meaning;
}

const reasons: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
  max_tokens: 'length',
};

const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Input and output as reported: the rounds that compacted, where there were some. */
function totals(reported: JsonObject): { prompt: number; completion: number } {
  const rounds = objectsIn(reported.iterations);
  const sums = rounds.some(({ type }) => type === 'compaction') ? rounds : [reported];
  const sum = (...names: string[]): number =>
    sums.reduce((total, one) => total + names.reduce((all, name) => all + count(one[name]), 0), 0);
  return {
    prompt: sum('input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'),
    completion: sum('output_tokens'),
  };
}

const payloadsOf = (answer: string): JsonObject[] =>
  answer
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => JSON.parse(frame.slice('data: '.length)));

const smallEnough = 4 * 1024;

/** Every place of a short stream; of a long one, every eighth. */
const cutsOf = (bytes: Buffer) => cutEverywhere(bytes, bytes.length <= smallEnough ? 1 : 8);

test.runIf(present)('the folder holds recordings', () => {
  expect(streams.length).toBeGreaterThan(0);
  expect(wholes.length).toBeGreaterThan(0);
});

describe.runIf(present).each(streams)('the recorded stream %s', (_name, events) => {
  const bytes = Buffer.from(events.map(eventText).join(''));
  const own = goldenOf(bytes, true, true);
  const other = goldenOf(bytes, true, false);
  const played = play(other, [bytes]);

  test('reaches callers of the same dialect byte for byte, wherever the network cuts it', () => {
    const wrong = [...cutsOf(bytes)].filter(({ pieces }) => play(own, pieces).answer !== bytes.toString('utf8'));
    expect(wrong.map(({ at }) => at)).toEqual([]);
    expect(play(own, byteByByte(bytes)).answer).toBe(bytes.toString('utf8'));
  });

  test('has the same content for OpenAI’s clients, wherever the network cuts it', () => {
    expect(receivedBy(payloadsOf(played.answer))).toEqual(meaningOf(events));
    const finish = events.map(({ delta }) => (isObject(delta) ? delta.stop_reason : null)).findLast(Boolean);
    expect(played.generated.finishReason).toBe(reasons[String(finish)]);
    expect(play(other, byteByByte(bytes))).toEqual(played);
  });

  test('has the same content for both in Amazon’s frames, wherever the network cuts it', () => {
    const frames = Buffer.concat(framesOf(bytes.toString('utf8')));
    const atAmazon = (golden: Golden): Golden => ({
      ...golden,
      provider: providerOfType(33),
      channel: { ...plainChannel, key: 'api-key|us-east-1' },
      // Other makers' models are asked by another interface there.
      info: { ...golden.info, model: 'anthropic.claude-sonnet-4-5-20250929-v1:0' },
    });
    expect(play(atAmazon(own), byteByByte(frames)).answer).toBe(bytes.toString('utf8'));
    expect(play(atAmazon(other), byteByByte(frames))).toEqual(played);
  });

  test('is settled with the usage it reports, and both dialects report the same', () => {
    const reported = events
      .map(({ message, usage }) => (isObject(message) ? message.usage : usage))
      .filter(isObject)
      .reduce((all, usage) => Object.assign(all, usage), {} as JsonObject);
    const { prompt, completion } = totals(reported);
    expect(payloadsOf(played.answer).at(-1)?.usage).toMatchObject({
      prompt_tokens: prompt,
      completion_tokens: completion,
    });
    expect(play(own, [bytes]).usage).toEqual(played.usage);
  });
});

describe.runIf(present).each(wholes)('the recorded answer %s', (_name, text) => {
  const bytes = Buffer.from(text);
  const message = JSON.parse(text) as JsonObject;
  const answered = (own: boolean) => {
    const { provider, channel, caller, info } = goldenOf(bytes, false, own);
    const answer = provider.protocol.answer({
      provider,
      channel,
      caller,
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: bytes,
      info,
    });
    if (!answer.ok) throw new Error(answer.error.message);
    return { answer, bytes: caller.dialect.whole(answer, caller, channel) };
  };

  test('reaches callers of the same dialect byte for byte', () => {
    expect(answered(true).bytes).toBe(bytes);
  });

  test('has the same content for OpenAI’s clients, and costs the same', () => {
    const { answer, bytes: reported } = answered(false);
    const body = JSON.parse(reported.toString('utf8')) as JsonObject;
    const blocks = objectsIn(message.content).flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_stop', index },
    ]);
    expect(receivedBy([body])).toEqual(meaningOf(blocks));
    const { prompt, completion } = totals(isObject(message.usage) ? message.usage : {});
    expect(body.usage).toMatchObject({ prompt_tokens: prompt, completion_tokens: completion });
    expect(answer.generated.finishReason).toBe(reasons[String(message.stop_reason)]);
  });
});
