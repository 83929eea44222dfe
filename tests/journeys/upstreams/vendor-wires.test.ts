import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  type Caller,
  type Callers,
  chunksIn,
  errorIn,
  isWholeStream,
  openCallers,
} from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';
import { chatglmWires } from '../../support/upstreams/vendor-wires/chatglm.js';
import { cloudflareWires } from '../../support/upstreams/vendor-wires/cloudflare.js';
import { hunyuanWires } from '../../support/upstreams/vendor-wires/hunyuan.js';
import { libraryWires } from '../../support/upstreams/vendor-wires/library.js';
import type { Scripted, VendorWire } from '../../support/upstreams/vendor-wires/vendor-wire.js';
import { tokensAsked, wenxinWires } from '../../support/upstreams/vendor-wires/wenxin.js';

/* Vendors whose interface is their own, over HTTP: what they are sent, what callers get, and what is charged. */

const wires: readonly VendorWire[] = [
  ...hunyuanWires,
  ...wenxinWires,
  ...chatglmWires,
  ...libraryWires,
  ...cloudflareWires,
];
const quota = 10_000_000;

/** `then`: what becomes of the connection behind the text. Left out: the answer ends. */
interface Answering extends Scripted {
  readonly then?: 'cut' | 'open';
}

let gateway: TestGateway;
let callers: Callers;
const upstreams: Upstream[] = [];
let user: TestUser;
let caller: Caller;
let scripted: Answering | ((wire: VendorWire) => Answering);
/** How the calls after the next one are answered. null: as that one. */
let refusedOnce: Answering | null = null;
let faults: string[] = [];

const startVendor = (wire: VendorWire): Promise<Upstream> =>
  startUpstream((call, response) => {
    if (wire.side?.(call, response)) return;
    const { status, text, then } = typeof scripted === 'function' ? scripted(wire) : scripted;
    scripted = refusedOnce ?? scripted;
    refusedOnce = null;
    const isStream = text.startsWith('data:') || text.startsWith('event:');
    const fault = wire.fault(call, streamed);
    if (fault !== null) faults.push(`${fault}: ${call.url} ${call.body}`);
    response.writeHead(status, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    if (then === undefined) response.end(text);
    else response.write(text, () => (then === 'cut' ? response.destroy() : undefined));
  });

beforeAll(async () => {
  gateway = await startTestGateway({ RELAY_TIMEOUT: '3', STREAMING_TIMEOUT: '2', CALLER_GONE_SECONDS: '1' });
  callers = openCallers(gateway.url);
  const ones = JSON.stringify(Object.fromEntries(wires.map(({ model }) => [model, 1])));
  for (const option of ['ModelRatio', 'CompletionRatio']) await gateway.setOption(option, ones);
  await gateway.setOption('RetryTimes', '0');
  for (const wire of wires) {
    const { type, model, key, other = '' } = wire;
    const upstream = await startVendor(wire);
    upstreams.push(upstream);
    await gateway.addChannel({ type, models: [model], baseUrl: upstream.url, key, other, autoBan: false });
  }
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  for (const upstream of upstreams) await upstream.stop();
});
beforeEach(async () => {
  faults = [];
  user = await gateway.addUser(quota);
  caller = callers.with(await gateway.addApiKey(user));
});

let streamed = false;
const ok = (text: string): Answering => ({ status: 200, text });
const left = (expected: number) => until(async () => ((await gateway.available(user)) === expected ? true : null));

const boundary = 'b'.repeat(20);
const part = (disposition: string, content: string | Buffer): Buffer[] => [
  Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n`),
  Buffer.from(content),
  Buffer.from('\r\n'),
];

const form = (model: string, recording: Buffer): Buffer =>
  Buffer.concat([
    ...part('name="model"', model),
    ...part('name="file"; filename="a.wav"', recording),
    Buffer.from(`--${boundary}--\r\n`),
  ]);

const ask = ({ mode, model, recording = Buffer.alloc(0) }: VendorWire, stream: boolean) => {
  streamed = stream;
  switch (mode) {
    case 'chat':
      return caller.chat({ model, ...(stream && { stream, stream_options: { include_usage: true } }) });
    case 'embeddings':
      return caller.send('/v1/embeddings', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: { model, input: 'What is a ledger?' },
      });
    case 'transcription':
      return caller.send('/v1/audio/transcriptions', {
        method: 'POST',
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: form(model, recording),
      });
  }
};

/** The first event of the answer, and what becomes of the connection then. */
const begun =
  (then: 'cut' | 'open') =>
  ({ events }: VendorWire): Answering => ({ ...ok((events ?? []).slice(0, 1).join('')), then });

const chargedForPart = async (answer: Answer): Promise<number> => {
  expect(answer.text).toContain('"error"');
  const line = await lineOf(gateway, user, answer);
  expect(line.quota).toBe(line.prompt_tokens + line.completion_tokens);
  expect(line.quota).toBeLessThan(40);
  return line.quota;
};

/** Six seconds are a hundred tokens, at a thousand a minute. */
const charges = { chat: 30, embeddings: 20, transcription: 100 };

describe.each(wires.map((wire) => [wire.name, wire] as const))('%s', (_name, wire) => {
  const { events, counts, mode } = wire;
  const used = charges[mode];

  const charged = async (answer: Awaited<ReturnType<typeof ask>>): Promise<void> => {
    expect(faults).toEqual([]);
    expect(answer.status).toBe(200);
    const line = await lineOf(gateway, user, answer);
    if (counts) expect(line).toMatchObject({ quota: used, usage_source: 'upstream' });
    else {
      expect(line).toMatchObject({ usage_source: 'estimated' });
      expect(line.quota).toBe(line.prompt_tokens + line.completion_tokens);
      expect(line.prompt_tokens).toBeGreaterThan(0);
    }
    await left(quota - line.quota);
  };

  test('sends what its vendor documents, and is charged by its usage', async () => {
    scripted = ok(wire.whole);
    const answer = await ask(wire, false);
    await charged(answer);
    const { choices, data, text } = JSON.parse(answer.text) as { choices: unknown; data: unknown; text: unknown };
    if (mode === 'transcription') expect(text).toBe('A list of debts.');
    else if (mode === 'chat')
      expect(choices).toMatchObject([{ message: { content: expect.stringContaining('A list of debts.') } }]);
    else expect(data).toMatchObject([{ index: 0, embedding: [0.25, -0.5] }]);
  });

  test.runIf(events !== null)('streams, and is charged the same', async () => {
    scripted = ok((events ?? []).join(''));
    const answer = await ask(wire, true);
    await charged(answer);
    expect(isWholeStream(answer)).toBe(true);
    const words = chunksIn(answer).flatMap(({ choices }) =>
      (choices as { delta: { content?: string } }[]).map(({ delta }) => delta.content ?? ''),
    );
    expect(words.join('')).toContain('A list of debts.');
  });

  test.runIf(mode === 'chat')('is reached in Anthropic’s dialect too', async () => {
    scripted = ok(wire.whole);
    streamed = false;
    const answer = await caller.send('/v1/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: { model: wire.model, max_tokens: 100, messages: [{ role: 'user', content: 'What is a ledger?' }] },
    });
    await charged(answer);
    expect(JSON.parse(answer.text)).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
  });

  test.each([401, 429, 500] as const)('passes a refusal on that is as good as %i, free of charge', async (status) => {
    scripted = wire.refusals[status];
    for (const stream of events === null ? [false] : [false, true]) {
      const answer = await ask(wire, stream);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      if (status === 429) expect(answer.status).toBe(429);
      expect(errorIn(answer).message).not.toBe('');
      for (const secret of wire.secrets) expect(answer.text).not.toContain(secret);
    }
    await left(quota);
  });

  test.runIf(events !== null)('that is cut within a stream ends with an error, and costs what was sent', async () => {
    scripted = begun('cut');
    await left(quota - (await chargedForPart(await ask(wire, true))));
  });

  test.each([
    ['a page', '<!doctype html><title>Busy</title>'],
    ['nothing', ''],
    ['an empty object', '{}'],
    ['a list', '[]'],
  ])('that answers with %s has not answered', async (_what, text) => {
    scripted = ok(text);
    expect((await ask(wire, false)).status).toBe(502);
    await left(quota);
  });
});

test('vendors that stay silent within a stream end it with an error, and cost what was sent', async () => {
  scripted = begun('open');
  const streaming = wires.filter(({ events }) => events !== null);
  const answers = await Promise.all(streaming.map((wire) => ask(wire, true)));
  let charge = 0;
  for (const answer of answers) charge += await chargedForPart(answer);
  await left(quota - charge);
});

test('vendors that hang are given up, and their callers pay nothing', async () => {
  scripted = (wire) => ({ status: 200, text: wire.whole.slice(0, 1), then: 'open' });
  const answers = await Promise.all(wires.map((wire) => ask(wire, false)));
  expect(answers.filter(({ status }) => status < 500)).toEqual([]);
  await left(quota);
});

test('a token that Wenxin takes no more is replaced once, and the call is served', async () => {
  const [wire] = wenxinWires;
  if (wire === undefined) throw new Error('no wire');
  const { count } = tokensAsked;
  scripted = wire.refusals[401];
  refusedOnce = ok(wire.whole);
  const answer = await ask(wire, false);
  expect(answer.status).toBe(200);
  expect(tokensAsked.count).toBe(count + 1);
  expect((await lineOf(gateway, user, answer)).quota).toBe(30);
});
