import { describe, expect, test } from 'vitest';
import type { Wire } from '../../../src/relay/contracts/answer-writer.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { byteByByte, comesInFrames, cutEverywhere, frameFrom, framesIn, type Golden, goldens, play } from './golden.js';

const streams = goldens.filter(({ stream }) => stream);
const wholes = goldens.filter(({ stream }) => !stream);

const outcome = ({ expected }: Golden) => ({
  usage: expected.usage,
  generated: { text: expected.text, toolCalls: expected.toolCalls, finishReason: expected.finishReason },
});

const request = ({ provider, channel, caller, upstreamModel, options }: Golden, passThrough = false) =>
  provider.protocol.request({ provider, channel, caller, model: upstreamModel, options: { ...options, passThrough } });

test('every provider with a codec has at least one golden case', () => {
  expect(new Set(goldens.map(({ provider }) => provider.type)).size).toBeGreaterThanOrEqual(19);
});

describe.each(goldens.map((golden) => [golden.name, golden] as const))('%s: the request', (_name, golden) => {
  test('is sent to the right address with no headers but our own', () => {
    const { url, headers } = request(golden);
    expect({ url, headers }).toEqual({ url: golden.sent.url, headers: golden.sent.headers });
  });

  test('carries the converted body', () => {
    expect(JSON.parse(wordsOf(request(golden).content))).toEqual(golden.sent.body);
  });

  test('reports the model it names and the effort it requests', () => {
    const { model, reasoningEffort } = request(golden);
    const { expected, upstreamModel } = golden;
    expect({ model, reasoningEffort }).toEqual({
      model: expected.model ?? upstreamModel,
      reasoningEffort: expected.reasoningEffort ?? null,
    });
  });
});

/** The same stream in other spellings and with other accidents of transport. */
const spellings: readonly (readonly [string, (text: string) => string])[] = [
  ['CRLF line ends', (text) => text.replaceAll('\n', '\r\n')],
  ['CR line ends', (text) => text.replaceAll('\n', '\r')],
  ['no space after the colon', (text) => text.replaceAll('data: ', 'data:')],
  ['a byte order mark', (text) => `\ufeff${text}`],
  ['comments between and inside frames', (text) => text.replaceAll('data: ', ': ping\n\n: inside\ndata: ')],
  ['other fields beside the data', (text) => text.replaceAll('data: ', 'event: message\nid: 7\nretry: 10\ndata: ')],
  ['frames spread over two data lines', (text) => text.replaceAll(/^data: \{/gm, 'data: {\ndata: ')],
  ['extra blank lines', (text) => text.replaceAll('\n\n', '\n\n\n\n')],
  ['no blank line at the end', (text) => text.replace(/\n+$/, '')],
  ['no end mark', (text) => text.replace('data: [DONE]\n\n', '')],
  ['lines that are not JSON', (text) => text.replaceAll('data: {', 'data: ping\n\ndata: {broken\n\ndata: {')],
];

const endMarks: Readonly<Record<Wire, string>> = {
  openai: 'data: [DONE]\n\n',
  anthropic: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  gemini: '\n\n',
  responses: '\n\n',
  task: '',
};

describe.each(streams.map((golden) => [golden.name, golden] as const))('%s: the stream', (_name, golden) => {
  const { upstream } = golden;

  test('delivers the expected frames to the caller, and the usage and the text to the relay', () => {
    const { answer, usage, generated, error } = play(golden, [upstream]);
    expect(answer).toBe(golden.answer);
    expect({ usage, generated }).toEqual(outcome(golden));
    expect(error).toBeNull();
  });

  test('is the same when cut at every byte', () => {
    const wrong: number[] = [];
    const whole = JSON.stringify(play(golden, [upstream]));
    for (const { at, pieces } of cutEverywhere(upstream))
      if (JSON.stringify(play(golden, pieces)) !== whole) wrong.push(at);
    expect(wrong).toEqual([]);
  });

  test('is the same byte by byte', () => {
    expect(play(golden, byteByByte(upstream))).toEqual(play(golden, [upstream]));
  });

  test.skipIf(comesInFrames(golden)).each(spellings)('is the same with %s', (_spelling, spelled) => {
    const other = Buffer.from(spelled(upstream.toString('utf8')));
    for (const chunks of [[other], byteByByte(other)]) {
      const { answer, usage, generated } = play(golden, chunks);
      expect(answer).toBe(golden.answer);
      expect({ usage, generated }).toEqual(outcome(golden));
    }
  });

  const frames = framesIn(golden);
  const first = (count: number): Buffer => Buffer.concat(frames.slice(0, count));

  test('stops at an error in the middle after passing on what precedes it, and discloses no secrets', () => {
    const { key } = golden.channel;
    const text = `Engine overloaded at http://10.0.0.7:8000/v1 with ${key}`;
    const said = JSON.stringify({ error: { message: text, type: 'server_error', code: null } });
    const error = frameFrom(golden, said);
    for (let count = 0; count < frames.length; count++) {
      const broken = play(golden, [first(count), error, first(frames.length)]);
      const before = play(golden, [first(count)]);
      expect(broken.forwarded).toBe(before.forwarded);
      expect(broken.generated).toEqual(before.generated);
      expect(broken.error).toMatchObject({ status: 429, type: 'server_error' });
      expect(broken.error?.message).toBe('Engine overloaded at *** with ***');
    }
  });

  test('passes on whole frames only when the upstream disconnects, and can still be closed', () => {
    for (let count = 0; count < frames.length; count++) {
      const next = frames[count] ?? Buffer.alloc(0);
      const torn = play(golden, [first(count), next.subarray(0, next.length / 2)]);
      expect(torn.forwarded).toBe(play(golden, [first(count)]).forwarded);
      expect(torn.finished).toBe(false);
      expect(torn.error).toBeNull();
      expect(torn.answer.endsWith(endMarks[golden.caller.dialect.wire])).toBe(true);
    }
  });

  test.runIf(golden.caller.dialect.wire === 'openai')(
    'reports usage once, just before the end, and only to a caller that requested it',
    () => {
      const payloads = (golden.answer ?? '').split('\n\n').map((frame) => frame.replace(/^data: /, ''));
      const withUsage = payloads.flatMap((payload, at) => (payload.includes('"usage":{') ? [at] : []));
      expect(withUsage).toEqual(golden.caller.wantsUsage ? [payloads.length - 3] : []);
    },
  );
});

const answered = ({ provider, channel, caller, upstream, info, expected }: Golden) => {
  const status = expected.status ?? 200;
  const answer = provider.protocol.answer({
    provider,
    channel,
    caller,
    status,
    headers: { 'content-type': 'application/json', ...expected.headers },
    body: upstream,
    info,
  });
  if (!answer.ok) return answer;
  const { usage, generated } = answer;
  return { ok: true, bytes: caller.dialect.whole(answer, caller, channel), usage, generated } as const;
};

const refusals = wholes.filter(({ expected }) => expected.error);
const answers = wholes.filter(({ expected }) => !expected.error);
const untouched = answers.filter(({ answer, upstream }) => answer === upstream.toString('utf8'));

test.each(refusals.map((golden) => [golden.name, golden] as const))(
  '%s: the reported failure contains nothing confidential',
  (_name, golden) => {
    expect(answered(golden)).toMatchObject({ ok: false, error: golden.expected.error });
  },
);

test.each(answers.map((golden) => [golden.name, golden] as const))(
  '%s: the answer is the expected one, with usage and text',
  (_name, golden) => {
    const answer = answered(golden);
    if (!answer.ok) throw new Error(answer.error.message);
    expect(JSON.parse(answer.bytes.toString('utf8'))).toEqual(JSON.parse(golden.answer ?? ''));
    const { said, toolCalls, finishReason } = answer.generated;
    expect({ usage: answer.usage, generated: { text: said.toString(), toolCalls, finishReason } }).toEqual(
      outcome(golden),
    );
  },
);

test.each(untouched.map((golden) => [golden.name, golden] as const))(
  '%s: an answer that needs no change is passed on byte for byte',
  (_name, golden) => {
    const answer = answered(golden);
    expect(answer.ok && answer.bytes).toBe(golden.upstream);
  },
);

/** Of a wire that is none of the family's nothing can go out as it came. */
const ownWire = new Set([4, 11, 14, 15, 16, 18, 21, 23, 24, 33, 34, 37, 41]);

describe('pass-through', () => {
  test.each(
    streams
      .filter(({ provider, caller }) => !ownWire.has(provider.type) && caller.dialect.wire === 'openai')
      // A chat is put in other words there, whatever it holds.
      .filter(({ channel }) => channel.responsesOnly !== true)
      .map((golden) => [golden.name, golden] as const),
  )('%s: the body is sent unchanged, except for model and usage', (_name, golden) => {
    const sent = JSON.parse(wordsOf(request(golden, true).content));
    const { body } = golden.caller;
    const asked = sent.stream_options?.include_usage === true;
    const usage = asked ? { stream_options: sent.stream_options } : {};
    // Completions are in a form of their own there.
    if (body.prompt !== undefined && [39, 42].includes(golden.provider.type))
      return expect(sent.prompt).toBe(body.prompt);
    expect(sent).toEqual({ ...body, model: golden.upstreamModel, ...usage });
  });
});
