import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Usage } from '../../../src/domain/call/usage.js';
import type { Mode } from '../../../src/domain/channel/provider.js';
import { isList, isObject, type JsonObject, objectsIn, textIn } from '../../../src/relay/json/json.js';
import { serviceAccountDocument } from '../../support/upstreams/vertex-upstream.js';
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
 * Runs over a folder of recorded provider answers, one complete body per `.json` and one chunk per line of each
 * `.chunks.txt`, when WIRE_FIXTURES names one. What is expected is worked out here from the recording itself.
 */

const folder = process.env.WIRE_FIXTURES ?? '';
const present = folder !== '' && existsSync(folder);
if (!present) console.info('Recorded answers are not tested: WIRE_FIXTURES names no folder.');

interface Kind {
  readonly path: string;
  readonly type: number;
  readonly mode: Mode;
  /** The recordings come from a service that counts reasoning beside the completion. */
  readonly reasoningIsSeparate?: boolean;
  /** Of the channel, where it is more than a text. */
  readonly key?: string;
  /** Put a recorded body or chunk into the words that are looked for here, where the wire has others. */
  readonly plain?: (payloads: readonly JsonObject[]) => JsonObject[];
}

const kinds: readonly Kind[] = [
  { path: 'openai/chat', type: 3, mode: 'chat' },
  { path: 'openai/completion', type: 1, mode: 'completions' },
  { path: 'openai/embedding', type: 1, mode: 'embeddings' },
  { path: 'groq', type: 8, mode: 'chat' },
  { path: 'deepseek/chat', type: 43, mode: 'chat' },
  { path: 'moonshotai', type: 25, mode: 'chat' },
  { path: 'alibaba', type: 17, mode: 'chat' },
  { path: 'xai', type: 48, mode: 'chat', reasoningIsSeparate: true },
  { path: 'openai-compatible/chat', type: 8, mode: 'chat', reasoningIsSeparate: true },
  { path: 'perplexity', type: 27, mode: 'chat' },
  { path: 'mistral', type: 42, mode: 'chat' },
  { path: 'cohere', type: 34, mode: 'chat', plain: plainCohere },
  { path: 'voyage', type: 8, mode: 'embeddings' },
  { path: 'google', type: 24, mode: 'chat', plain: plainGoogle },
  {
    path: 'google',
    type: 41,
    mode: 'chat',
    plain: plainGoogle,
    key: serviceAccountDocument('https://tokens.example/'),
  },
];

interface Recording extends Kind {
  readonly name: string;
  readonly stream: boolean;
  /** The body, or the chunks. */
  readonly payloads: readonly JsonObject[];
  readonly raw: string;
}

/** The expected payloads, in the words that are looked for here. */
const plainOf = ({ plain, payloads }: Recording): readonly JsonObject[] => plain?.(payloads) ?? payloads;

const isRefusal = (raw: string): boolean => /^\s*\{\s*"error"/.test(raw);

const recordingsOf = (kind: Kind): Recording[] =>
  readdirSync(join(folder, kind.path))
    .filter((file) => file.endsWith('.json') || file.endsWith('.chunks.txt'))
    .filter((file) => kind.plain === undefined || !isRefusal(readFileSync(join(folder, kind.path, file), 'utf8')))
    .map((file) => {
      const raw = readFileSync(join(folder, kind.path, file), 'utf8');
      const stream = file.endsWith('.txt');
      const payloads = stream ? raw.split('\n').filter((line) => line.trim() !== '') : [raw];
      return {
        ...kind,
        name: `${kind.path}/${file} (type ${kind.type})`,
        stream,
        raw,
        payloads: payloads.map((text) => JSON.parse(text)),
      };
    });

const recordings = present ? kinds.filter(({ path }) => existsSync(join(folder, path))).flatMap(recordingsOf) : [];

/** What the answer says, put together from its choices. */
interface Said {
  content: string;
  reasoning: string;
  calls: { name: string; arguments: string }[];
  finish: string | null;
}

const partsText = (value: unknown, type: string): string => {
  if (typeof value === 'string') return type === 'text' ? value : '';
  return objectsIn(value)
    .filter((part) => part.type === type)
    .map((part) => (isList(part.thinking) ? partsText(part.thinking, 'text') : (textIn(part.text) ?? '')))
    .join('');
};

function saidIn(payloads: readonly JsonObject[]): Said {
  const said: Said = { content: '', reasoning: '', calls: [], finish: null };
  for (const choice of payloads.flatMap((payload) => objectsIn(payload.choices))) {
    const message = choice.delta ?? choice.message;
    said.finish = textIn(choice.finish_reason) ?? said.finish;
    said.content += textIn(choice.text) ?? '';
    if (!isObject(message)) continue;
    said.content += partsText(message.content, 'text');
    said.reasoning += partsText(message.content, 'thinking');
    said.reasoning += textIn(message.reasoning_content) ?? textIn(message.reasoning) ?? '';
    for (const [position, call] of objectsIn(message.tool_calls).entries()) {
      const at = typeof call.index === 'number' ? call.index : position;
      const before = said.calls[at] ?? { name: '', arguments: '' };
      const { name, arguments: given } = isObject(call.function) ? call.function : {};
      said.calls[at] = {
        name: before.name + (textIn(name) ?? ''),
        arguments: before.arguments + (textIn(given) ?? ''),
      };
    }
  }
  return said;
}

const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** The place that a path such as `$.steps[2].text` names, and its value so far. */
function put(holder: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.match(/[^$.[\]]+/g) ?? [];
  let at: Record<string, unknown> = holder;
  for (const [step, name] of names.slice(0, -1).entries()) {
    at[name] ??= /^\d+$/.test(names[step + 1] ?? '') ? [] : {};
    at = at[name] as Record<string, unknown>;
  }
  const last = names.at(-1) ?? '';
  at[last] = typeof at[last] === 'string' && typeof value === 'string' ? at[last] + value : value;
}

/** Google's answers by the plain reading of their members: what has come in pieces is put together at the end. */
function plainGoogle(payloads: readonly JsonObject[]): JsonObject[] {
  const calls: { name: string; args: Record<string, unknown> }[] = [];
  const delta = { content: '', reasoning_content: '' };
  let finish: string | null = null;
  let usage: JsonObject = {};
  for (const payload of payloads) {
    if (isObject(payload.usageMetadata)) usage = payload.usageMetadata;
    for (const candidate of objectsIn(payload.candidates)) {
      finish = textIn(candidate.finishReason) ?? finish;
      for (const part of objectsIn(isObject(candidate.content) ? candidate.content.parts : null)) {
        delta[part.thought === true ? 'reasoning_content' : 'content'] += textIn(part.text) ?? '';
        const { functionCall: call } = part;
        if (!isObject(call)) continue;
        if (typeof call.name === 'string')
          calls.push({ name: call.name, args: isObject(call.args) ? { ...call.args } : {} });
        const { args } = calls.at(-1) ?? { args: {} };
        for (const piece of objectsIn(call.partialArgs)) put(args, String(piece.jsonPath), piece.stringValue);
      }
    }
  }
  const toolCalls = calls.map(({ name, args }, index) => ({
    index,
    function: { name, arguments: JSON.stringify(args) },
  }));
  return [
    {
      choices: [
        {
          delta: { ...delta, tool_calls: toolCalls },
          finish_reason: finish === 'STOP' ? (calls.length > 0 ? 'tool_calls' : 'stop') : finish,
        },
      ],
      usage: {
        prompt_tokens: number(usage.promptTokenCount),
        completion_tokens: number(usage.candidatesTokenCount) + number(usage.thoughtsTokenCount),
        completion_tokens_details: { reasoning_tokens: number(usage.thoughtsTokenCount) },
      },
    },
  ];
}

/** Cohere's answers by the plain reading of their members. */
function plainCohere(payloads: readonly JsonObject[]): JsonObject[] {
  const said = { content: '', reasoning_content: '' };
  const calls: { name: string; arguments: string }[] = [];
  let finish: string | null = null;
  let usage: JsonObject = {};
  for (const payload of payloads) {
    const holder = isObject(payload.delta) ? payload.delta : payload;
    finish = textIn(holder.finish_reason) ?? finish;
    if (isObject(holder.usage)) usage = holder.usage;
    const message = isObject(holder.message) ? holder.message : {};
    said.content += textIn(message.tool_plan) ?? '';
    for (const part of isObject(message.content) ? [message.content] : objectsIn(message.content)) {
      said.content += textIn(part.text) ?? '';
      said.reasoning_content += textIn(part.thinking) ?? '';
    }
    for (const call of isObject(message.tool_calls) ? [message.tool_calls] : objectsIn(message.tool_calls)) {
      const { name, arguments: given } = isObject(call.function) ? call.function : {};
      if (typeof name === 'string') calls.push({ name, arguments: '' });
      const last = calls.at(-1);
      if (last !== undefined) last.arguments += textIn(given) ?? '';
    }
  }
  const toolCalls = calls.map((call, index) => ({
    index,
    function: { ...call, arguments: call.arguments === '' || call.arguments === 'null' ? '{}' : call.arguments },
  }));
  const reasons: Record<string, string> = { COMPLETE: 'stop', TOOL_CALL: 'tool_calls', MAX_TOKENS: 'length' };
  const tokens = isObject(usage.tokens) ? usage.tokens : {};
  return [
    {
      choices: [{ delta: { ...said, tool_calls: toolCalls }, finish_reason: reasons[finish ?? ''] ?? null }],
      usage: {
        prompt_tokens: number(tokens.input_tokens),
        completion_tokens: number(tokens.output_tokens),
        prompt_tokens_details: { cached_tokens: number(usage.cached_tokens) },
      },
    },
  ];
}

/** The last usage in the recording, by the plain reading of its members. */
function usageIn(recording: Recording): Usage | null {
  const { reasoningIsSeparate } = recording;
  const reported = plainOf(recording)
    .map((payload) => payload.usage)
    .findLast(isObject);
  if (!reported) return null;
  const input = isObject(reported.prompt_tokens_details) ? reported.prompt_tokens_details : {};
  const output = isObject(reported.completion_tokens_details) ? reported.completion_tokens_details : {};
  const total = number(reported.total_tokens);
  const prompt = reported.prompt_tokens === undefined ? total : number(reported.prompt_tokens);
  const completion = reasoningIsSeparate ? total - prompt : number(reported.completion_tokens);
  const parts = {
    cachedInput: number(input.cached_tokens),
    imageInput: number(input.image_tokens),
    audioInput: number(input.audio_tokens),
    reasoning: number(output.reasoning_tokens),
    audioOutput: number(output.audio_tokens),
  };
  const whole = {
    input: prompt - parts.cachedInput - parts.imageInput - parts.audioInput,
    output: completion - parts.reasoning - parts.audioOutput,
    ...parts,
  };
  return Object.fromEntries(Object.entries(whole).filter(([, count]) => count > 0));
}

const bytesOf = ({ stream, raw, payloads }: Recording, kept = payloads): Buffer =>
  Buffer.from(
    stream ? `${kept.map((payload) => `data: ${JSON.stringify(payload)}\n\n`).join('')}data: [DONE]\n\n` : raw,
  );

function goldenOf(recording: Recording, upstream: Buffer, wantsUsage: boolean): Golden {
  const { type, mode, stream, key = plainChannel.key } = recording;
  const body: JsonObject = {
    model: 'recorded',
    stream,
    ...(wantsUsage && { stream_options: { include_usage: true } }),
  };
  return {
    name: recording.name,
    provider: providerOfType(type),
    channel: { ...plainChannel, key, baseUrl: 'https://recorded.example' },
    caller: callerOf(mode, body),
    upstreamModel: 'recorded',
    options: { ...usualOptions, azureDefaultApiVersion: '', siteAddress: '', now: 0 },
    info: { callId: 'call-1', model: 'recorded', createdAt: 0 },
    sent: { url: '', headers: {}, body: {} },
    upstream,
    stream,
    answer: null,
    expected: {},
  };
}

const payloadsOf = (answer: string): JsonObject[] =>
  answer
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => JSON.parse(frame.slice('data: '.length)));

const playedTo = (recording: Recording, chunks: readonly Buffer[], wantsUsage = true): string =>
  JSON.stringify(play(goldenOf(recording, Buffer.alloc(0), wantsUsage), chunks));

/** Cuts the bytes at each place, or at each `step`th, and names first cuts where something else came out. */
function differing(recording: Recording, bytes: Buffer, step = 1): number[] {
  const whole = playedTo(recording, [bytes]);
  return [...cutEverywhere(bytes, step)]
    .filter(({ pieces }) => playedTo(recording, pieces) !== whole)
    .map(({ at }) => at);
}

const smallEnough = 8 * 1024;
const edge = 4 * 1024;
/** What is longer is read eight times between its edges. */
const stepOfLong = 32;

/** As many chunks of the beginning, or of the end, as fill the edge. */
function edgeOf(recording: Recording, end: 'first' | 'last'): Buffer {
  const ordered = end === 'first' ? [...recording.payloads] : [...recording.payloads].reverse();
  const kept: JsonObject[] = [];
  for (let size = 0; size < edge && ordered.length > 0; size += JSON.stringify(kept.at(-1)).length)
    kept.push(...ordered.splice(0, 1));
  return bytesOf(recording, end === 'first' ? kept : kept.reverse());
}

const streams = recordings.filter(({ stream }) => stream).map((recording) => [recording.name, recording] as const);
const wholes = recordings.filter(({ stream }) => !stream).map((recording) => [recording.name, recording] as const);

test.runIf(present)('the folder holds recordings', () => {
  expect(recordings).not.toEqual([]);
});

describe.runIf(present).each(streams)('the recorded stream %s', (_name, recording) => {
  const bytes = bytesOf(recording);
  const played = play(goldenOf(recording, bytes, true), [bytes]);

  test('is settled with the usage it reports', () => {
    expect(played.usage).toEqual(usageIn(recording));
  });

  test('reaches the caller with all text, thinking, tool calls and finish reasons', () => {
    expect(saidIn(payloadsOf(played.answer))).toEqual(saidIn(plainOf(recording)));
  });

  test('is recorded whole for counting', () => {
    const { content, reasoning, calls, finish } = saidIn(plainOf(recording));
    const called = calls.map((call) => call.name + call.arguments).join('');
    expect(played.generated.text.length).toBe((content + reasoning + called).length);
    expect(played.generated.toolCalls).toBe(calls.length);
    expect(played.generated.finishReason).toBe(finish);
  });

  test('reports usage in one last chunk to a caller that requested it, and to no other', () => {
    const reported = payloadsOf(played.answer).filter(({ usage }) => isObject(usage));
    expect(reported).toHaveLength(1);
    expect(reported[0]?.choices).toEqual([]);
    const unasked = payloadsOf(play(goldenOf(recording, bytes, false), [bytes]).answer);
    expect(unasked.filter(({ usage }) => isObject(usage))).toEqual([]);
    expect(saidIn(unasked)).toEqual(saidIn(plainOf(recording)));
  });

  test('is the same wherever the network cuts it', () => {
    expect(playedTo(recording, byteByByte(bytes))).toBe(playedTo(recording, [bytes]));
    if (bytes.length <= smallEnough) {
      expect(differing(recording, bytes)).toEqual([]);
      return;
    }
    expect(differing(recording, bytes, stepOfLong)).toEqual([]);
    for (const end of ['first', 'last'] as const) {
      const part = edgeOf(recording, end);
      expect(differing(recording, part)).toEqual([]);
    }
  });
});

test.runIf(present).each(wholes)(
  'the recorded answer %s is passed on with its text and its usage',
  (_name, recording) => {
    const golden = goldenOf(recording, bytesOf(recording), false);
    const { provider, channel, caller, upstream, info } = golden;
    const answer = provider.protocol.answer({
      provider,
      channel,
      caller,
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: upstream,
      info,
    });
    if (!answer.ok) throw new Error(answer.error.message);
    expect(answer.usage).toEqual(usageIn(recording));
    expect(saidIn([JSON.parse(caller.dialect.whole(answer, caller, channel).toString('utf8'))])).toEqual(
      saidIn(plainOf(recording)),
    );
    const { content, reasoning, calls, finish } = saidIn(plainOf(recording));
    const called = calls.map((call) => call.name + call.arguments).join('');
    expect(answer.generated.said.length).toBe((content + reasoning + called).length);
    expect(answer.generated.toolCalls).toBe(calls.length);
    expect(answer.generated.finishReason).toBe(finish);
  },
);
