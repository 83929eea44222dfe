import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import { billingOf } from '../../../src/domain/pricing/billing.js';
import { soundTokens } from '../../../src/relay/metering/transcription-usage.js';
import { type Answer, type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { expectLedgersToAgree, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { recording } from '../../support/inputs/recordings.js';
import { ogg, wav, webm } from '../../support/inputs/sound-files.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import {
  type SoundCall,
  type SoundUpstream,
  startSoundUpstream,
  transcript,
} from '../../support/upstreams/sound-upstream.js';

/* Files that are heard: what goes upstream, what comes back, and what it costs. */

const balance = 10_000_000;
const path = '/v1/audio/transcriptions';

let gateway: TestGateway;
let callers: Callers;
let upstream: SoundUpstream;
let second: SoundUpstream;
let user: TestUser;
let apiKey: string;
let caller: Caller;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startSoundUpstream();
  second = await startSoundUpstream();
  gateway = await startTestGateway({ MAX_REQUEST_BODY_MB: '4' });
  callers = openCallers(gateway.url);
  const models = ['whisper-1', 'gpt-4o-transcribe', 'per-call', 'mapped', 'silent'];
  await gateway.addChannel({
    ...{ models, baseUrl: upstream.url, priority: 10, modelMapping: '{"mapped":"whisper-large"}' },
    paramOverride: '{"temperature":0.2}',
  });
  await gateway.addChannel({ models, baseUrl: second.url });
  await gateway.addChannel({ type: 27, models: ['talks-only'], baseUrl: upstream.url });
  await gateway.setOption(
    'ModelRatio',
    '{"whisper-1":15,"gpt-4o-transcribe":1.25,"mapped":1,"silent":1,"talks-only":1}',
  );
  await gateway.setOption('ModelPrice', '{"per-call":0.02}');
  await gateway.setOption('RetryTimes', '1');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
  await second?.stop();
});
beforeEach(async () => {
  for (const each of [upstream, second]) {
    each.calls.length = 0;
    each.serve = transcript({ text: 'Hello.' });
  }
  user = await gateway.addUser(balance);
  apiKey = await gateway.addApiKey(user);
  caller = callers.with(apiKey);
  client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0, timeout: 30_000 });
});

const sound = (bytes: Buffer = wav(3), name = 'speech.wav', type = 'audio/wav') => toFile(bytes, name, { type });
const receivedBy = ({ calls }: SoundUpstream): SoundCall => {
  const [call, ...others] = calls;
  if (call === undefined || others.length > 0) throw new Error(`${calls.length} calls`);
  return call;
};

const boundary = 'b'.repeat(20);
/** Its disposition and its content. */
type Part = readonly [string, string | Buffer];

const form = (...parts: readonly Part[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap(([disposition, content]) => [
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
const sent = (body: Buffer, headers = {}): Promise<Answer> =>
  caller.send(path, {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers },
    body,
  });
const file = (bytes = wav(3)) => ['name="file"; filename="a.wav"', bytes] as const;
const model = (name: string) => ['name="model"', name] as const;

/** The log's line of a form that was answered, its charge checked against the balance. */
async function charged(...parts: readonly Part[]) {
  const answer = await sent(form(...parts));
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  const line = await lineOf(gateway, user, answer);
  expect(await gateway.available(user)).toBe(balance - line.quota);
  return { line, answer };
}

describe('a transcription by the official client', () => {
  test('sends the file unchanged, with every field and the mapped model', async () => {
    upstream.serve = transcript({ text: 'Hello.', usage: { type: 'duration', seconds: 3 } });
    const bytes = wav(3);
    const answer = await client.audio.transcriptions.create({
      model: 'mapped',
      file: await sound(bytes, 'Rede ü.wav'),
      language: 'de',
      prompt: 'Guten Tag',
      timestamp_granularities: ['word', 'segment'],
      response_format: 'json',
    });
    expect(answer.text).toBe('Hello.');
    const { url, headers, fields, files } = receivedBy(upstream);
    expect(url).toBe('/v1/audio/transcriptions');
    expect(headers.authorization).toBe('Bearer sk-upstream-key');
    expect(fields).toEqual(
      expect.arrayContaining([
        ['model', 'whisper-large'],
        ['language', 'de'],
        ['prompt', 'Guten Tag'],
        ['timestamp_granularities[]', 'word'],
        ['timestamp_granularities[]', 'segment'],
        // The channel's own parameter.
        ['temperature', '0.2'],
      ]),
    );
    expect(files).toEqual([{ name: 'file', fileName: 'Rede ü.wav', type: 'audio/wav', bytes }]);
  });

  test('has an address of its own for translations', async () => {
    expect((await client.audio.translations.create({ model: 'whisper-1', file: await sound() })).text).toBe('Hello.');
    expect(receivedBy(upstream).url).toBe('/v1/audio/translations');
  });

  test.each([
    ['text', 'text/plain', 'Hello.\n'],
    ['srt', 'text/plain', '1\n00:00:00,000 --> 00:00:01,000\nHello.\n'],
    ['vtt', 'text/vtt', 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello.\n'],
  ] as const)('returns %s unchanged', async (format, type, text) => {
    upstream.serve = (_, response) => void response.writeHead(200, { 'content-type': type }).end(text);
    expect(
      await client.audio.transcriptions.create({ model: 'whisper-1', file: await sound(), response_format: format }),
    ).toBe(text);
  });

  test('returns an upstream’s failure in the dialect, and costs nothing', async () => {
    const refuse: SoundUpstream['serve'] = (_, response) =>
      void response.writeHead(400, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          error: { message: 'Invalid file format.', type: 'invalid_request_error', param: 'file', code: null },
        }),
      );
    upstream.serve = refuse;
    await expect(client.audio.transcriptions.create({ model: 'whisper-1', file: await sound() })).rejects.toMatchObject(
      {
        status: 400,
        type: 'invalid_request_error',
        param: 'file',
      },
    );
    expect(await gateway.available(user)).toBe(balance);
  });
});

describe('the cost of a transcript', () => {
  test('is a thousand tokens a minute, of the seconds begun, and the log shows the calculation', async () => {
    const { line } = await charged(model('whisper-1'), file(wav(61.5)));
    // 62 / 60 × 1000 = 1033 tokens, at a ratio of 15
    expect(line).toMatchObject({
      quota: 15_495,
      prompt_tokens: 1_033,
      completion_tokens: 0,
      path,
      usage: { seconds: 62 },
    });
    if (line.price === null) throw new Error('a line without a price');
    expect(billingOf(line.usage, line.price)).toMatchObject({
      lines: [
        { quantity: 'input', count: 1_033, unitPrice: '15', amount: '15495' },
        { quantity: 'seconds', count: 62, amount: '0' },
      ],
      total: 15_495,
    });
  });

  describe('of a model whose seconds have a price', () => {
    afterAll(async () => {
      for (const name of ['whisper-1', 'gpt-4o-transcribe']) await gateway.setPrice(name, null);
    });

    test('is that of the seconds instead of tokens', async () => {
      await gateway.setPrice('whisper-1', [{ tokens: { input: { usd: '30' } }, pieces: { seconds: '0.0001' } }]);
      const { line } = await charged(model('whisper-1'), file(wav(61.5)));
      // 62 × 0.0001 × 500000
      expect(line).toMatchObject({ quota: 3_100, usage: { seconds: 62 }, prompt_tokens: 0 });
      if (line.price === null) throw new Error('a line without a price');
      expect(billingOf(line.usage, line.price).lines).toEqual([
        { quantity: 'seconds', count: 62, ratio: null, unitPrice: '50', amount: '3100' },
      ]);
    });

    test('is that of the seconds beside the tokens that its upstream reports', async () => {
      const tokens = { input: { usd: '2' }, output: { usd: '2' }, audioInput: { usd: '2' } };
      await gateway.setPrice('gpt-4o-transcribe', [{ tokens, pieces: { seconds: '0.0001' } }]);
      const details = { audio_tokens: 30, text_tokens: 4 };
      upstream.serve = transcript({
        text: 'Hello there.',
        usage: { type: 'tokens', input_tokens: 34, output_tokens: 6, total_tokens: 40, input_token_details: details },
      });
      const { line } = await charged(model('gpt-4o-transcribe'), file());
      expect(line).toMatchObject({ quota: 3 * 50 + 40, usage: { seconds: 3, audioInput: 30, output: 6 } });
    });
  });

  test('is the price of a call where the model has one', async () => {
    expect((await charged(model('per-call'), file())).line).toMatchObject({ quota: 10_000, usage: { seconds: 3 } });
  });

  test('is the upstream’s duration where the file states less', async () => {
    upstream.serve = transcript({ text: 'Hello.', usage: { type: 'duration', seconds: 600 } });
    const { line } = await charged(model('whisper-1'), file(ogg(1, 10, 40_000)));
    expect(line).toMatchObject({ usage: { seconds: 600 }, quota: 150_000, usage_source: 'upstream' });
  });

  test('is the file’s duration where the upstream reports less', async () => {
    upstream.serve = transcript({ text: 'Hello.', usage: { type: 'duration', seconds: 1 } });
    const { line, answer } = await charged(model('whisper-1'), file(wav(60)));
    expect(line).toMatchObject({ usage: { seconds: 60 }, quota: 15_000 });
    expect(JSON.parse(answer.text)).toEqual({ text: 'Hello.', usage: { type: 'duration', seconds: 60 } });
  });

  test('is the minimum duration of so many bytes where the upstream reports none and the file states too little', async () => {
    const lying = ogg(1, 50, 64_000);
    const { line } = await charged(model('whisper-1'), file(lying));
    expect(line).toMatchObject({ usage: { seconds: Math.ceil(lying.length / 64_000) }, usage_source: 'estimated' });
  });

  test('is the time to speak its text where no duration is known', async () => {
    upstream.serve = (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/plain' }).end('one two three four five '.repeat(100));
    const { line } = await charged(model('whisper-1'), file(ogg(1, 10, 4_000)), ['name="response_format"', 'text']);
    expect(line.usage.seconds).toBeGreaterThanOrEqual(45);
  });

  test('is the upstream’s duration of a file without one', async () => {
    upstream.serve = transcript({ text: 'Hello.', duration: '4.2' });
    expect((await charged(model('whisper-1'), file(webm(null, 40_000)))).line.usage.seconds).toBe(5);
  });

  test('is the upstream’s duration of a nearly silent recording', async () => {
    upstream.serve = transcript({ text: '', usage: { type: 'duration', seconds: 30 } });
    const { line } = await charged(model('whisper-1'), file(webm(null, 254 * 30)));
    expect(line).toMatchObject({ usage: { seconds: 30 }, usage_source: 'upstream' });
  });

  test('is the whole of a browser’s recording where the upstream reports nothing', async () => {
    const { line } = await charged(model('whisper-1'), file(recording(33)));
    expect(line).toMatchObject({ usage: { seconds: 33 }, usage_source: 'estimated' });
  });

  test('is speech of so many bytes where no duration is known', async () => {
    const recorded = webm(null, 40_000);
    const { line } = await charged(model('whisper-1'), file(recorded));
    expect(line.usage.seconds).toBe(Math.ceil(recorded.length / 2_000));
  });

  test('is never for a duration that the file cannot have, whatever the upstream reports', async () => {
    upstream.serve = transcript({ text: 'Hello.', usage: { type: 'duration', seconds: 1e9 } });
    expect((await charged(model('whisper-1'), file(wav(3)))).line).toMatchObject({
      usage: { seconds: 3 },
      usage_source: 'disbelieved',
    });
  });

  test('is tokens of audio and text where the model counts these', async () => {
    const usage = {
      ...{ type: 'tokens', input_tokens: 110, output_tokens: 20, total_tokens: 130 },
      input_token_details: { text_tokens: 10, audio_tokens: 100 },
    };
    upstream.serve = transcript({ text: 'Hello.', usage });
    const { line } = await charged(model('gpt-4o-transcribe'), file(wav(10)));
    // (10 + 100 × 2.4 + 20 × 4) × 1.25 = 412.5
    expect(line).toMatchObject({
      usage: { input: 10, audioInput: 100, output: 20 },
      quota: 413,
      usage_source: 'upstream',
    });
  });

  test('is by duration where that model reports nothing', async () => {
    const { line } = await charged(model('gpt-4o-transcribe'), file(wav(60)));
    expect(line).toMatchObject({ usage: { input: 1_000, seconds: 60 }, quota: 1_250 });
  });
});

describe('a streamed transcript', () => {
  const usage = { type: 'tokens', input_tokens: 110, output_tokens: 20, total_tokens: 130 };
  const event = (type: string, rest: object) => `data: ${JSON.stringify({ type, ...rest })}\n\n`;
  const begun =
    event('transcript.text.delta', { delta: 'Hello ' }) + event('transcript.text.delta', { delta: 'there.' });
  const ended = event('transcript.text.done', { text: 'Hello there.', usage });
  const streams =
    (text: string, end: (response: Parameters<SoundUpstream['serve']>[1]) => void): SoundUpstream['serve'] =>
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(text, () => end(response));
    };
  const streamed = async (name: string) =>
    client.audio.transcriptions.create({ model: name, file: await sound(wav(10)), stream: true });

  test('reaches the official client event by event, and costs what its last event reports', async () => {
    upstream.serve = streams(begun + ended, (response) => response.end());
    const events: unknown[] = [];
    for await (const each of await streamed('gpt-4o-transcribe')) events.push(each);
    expect(events).toEqual([
      { type: 'transcript.text.delta', delta: 'Hello ' },
      { type: 'transcript.text.delta', delta: 'there.' },
      { type: 'transcript.text.done', text: 'Hello there.', usage },
    ]);
    const { headers, fields } = receivedBy(upstream);
    expect([headers.accept, Object.fromEntries(fields).stream]).toEqual(['application/json', 'true']);
    // (110 × 2.4 + 20 × 4) × 1.25 = 430
    expect(await gateway.available(user)).toBe(balance - 430);
  });

  test('is made of a transcript that came whole', async () => {
    const types: string[] = [];
    for await (const { type } of await streamed('whisper-1')) types.push(type);
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.done']);
    // 10 / 60 × 1000 = 167 tokens at a ratio of 15
    expect(await gateway.available(user)).toBe(balance - 2_505);
  });

  test('that breaks off is charged for the recording, and ends with an error', async () => {
    upstream.serve = streams(begun, (response) => response.destroy());
    const answer = await sent(form(model('gpt-4o-transcribe'), file(wav(60)), ['name="stream"', 'true']));
    expect(answer.text).toContain('"delta":"there."');
    expect(answer.text).toContain('"error":');
    // 60 seconds are 1,000 tokens at a ratio of 1.25
    expect(await lineOf(gateway, user, answer)).toMatchObject({
      ...{ outcome: 'upstream-broke', usage: { seconds: 60 }, quota: 1_250 },
    });
  });

  test('sold by its length costs as much to a caller that disconnects, and needs no balance for its words', async () => {
    const words = event('transcript.text.delta', {
      delta: 'one two three four five six seven eight nine ten '.repeat(9),
    });
    const price = 2_505;
    const poor = await gateway.addUser(price);
    const asked = form(model('whisper-1'), file(wav(10)), ['name="stream"', 'true']);
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    upstream.serve = streams(words + event('transcript.text.done', { text: 'one' }), (response) => response.end());
    const poorCaller = callers.with(await gateway.addApiKey(poor));
    const { text } = await poorCaller.send(path, { method: 'POST', headers, body: asked });
    expect(text).toContain('transcript.text.done');
    expect(await gateway.available(poor)).toBe(0);

    upstream.serve = streams(words, () => undefined);
    const leaving = new AbortController();
    const answer = await fetch(`${gateway.url}${path}`, {
      ...{ method: 'POST', headers: { ...headers, authorization: `Bearer ${apiKey}` }, body: asked },
      signal: leaving.signal,
    });
    await answer.body?.getReader().read();
    leaving.abort();
    const requestId = answer.headers.get('x-request-id') ?? '';
    expect(await lineOf(gateway, user, { requestId })).toMatchObject({ outcome: 'caller-left', quota: price });
  });

  test('of several speakers may also be returned whole, with its segments', async () => {
    const segments = [{ type: 'transcript.text.segment', id: 'a', start: 0, end: 1, speaker: 'A', text: 'Hello.' }];
    upstream.serve = transcript({ task: 'transcribe', duration: 3, text: 'Hello.', segments, usage });
    const answer = await client.audio.transcriptions.create({
      ...{
        model: 'gpt-4o-transcribe',
        file: await sound(),
        response_format: 'diarized_json',
        chunking_strategy: 'auto',
      },
      ...{ known_speaker_names: ['A'], known_speaker_references: ['data:audio/wav;base64,UklGRg=='] },
    });
    expect(answer).toMatchObject({ text: 'Hello.', segments });
    expect(receivedBy(upstream).fields).toEqual(
      expect.arrayContaining([
        ['response_format', 'diarized_json'],
        ['known_speaker_references[]', 'data:audio/wav;base64,UklGRg=='],
      ]),
    );
    expect(await gateway.available(user)).toBe(balance - 430);
  });

  test('is refused of a translation', async () => {
    const answer = await caller.send('/v1/audio/translations', {
      ...{ method: 'POST', headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } },
      body: form(model('whisper-1'), file(), ['name="stream"', 'true']),
    });
    expect([answer.status, errorIn(answer)]).toEqual([400, expect.objectContaining({ param: 'stream' })]);
  });
});

describe('a transcription form is refused before any upstream request', () => {
  test.each([
    ['without a file', form(model('whisper-1')), 'invalid_audio_request', 'file'],
    [
      'with a file that is not one',
      form(model('whisper-1'), ['name="file"', 'sound']),
      'invalid_audio_request',
      'file',
    ],
    ['with an empty file', form(model('whisper-1'), file(Buffer.alloc(0))), 'invalid_audio_request', 'file'],
    ['with two files', form(model('whisper-1'), file(), file()), 'invalid_audio_request', 'file'],
    [
      'with a file under another name',
      form(model('whisper-1'), ['name="sound"; filename="a.wav"', wav(1)]),
      'invalid_audio_request',
      'file',
    ],
    ['with two models', form(file(), model('whisper-1'), model('silent')), 'invalid_audio_request', 'model'],
    [
      'that requests a stream of subtitles',
      form(model('whisper-1'), file(), ['name="stream"', 'true'], ['name="response_format"', 'srt']),
      'invalid_audio_request',
      'response_format',
    ],
    [
      'with a stream that is neither true nor false',
      form(model('whisper-1'), file(), ['name="stream"', '1']),
      'invalid_audio_request',
      'stream',
    ],
    ['with a model that takes no audio', form(model('talks-only'), file()), 'convert_request_failed', ''],
    ['that is malformed', form(model('whisper-1'), file()).subarray(0, 2_000), 'invalid_request', ''],
  ])('%s', async (_what, body, code, param) => {
    const answer = await sent(body);
    expect([answer.status, errorIn(answer)]).toEqual([400, expect.objectContaining({ code, param })]);
    expect(upstream.calls).toEqual([]);
    expect(await gateway.available(user)).toBe(balance);
  });

  test('that is JSON', async () => {
    const answer = await sent(Buffer.from('{"model":"whisper-1"}'), { 'content-type': 'application/json' });
    expect([answer.status, errorIn(answer).message]).toEqual([400, expect.stringContaining('multipart/form-data')]);
  });

  test('that is larger than the body limit', async () => {
    const answer = await sent(form(model('whisper-1'), file(wav(140))));
    expect([answer.status, errorIn(answer).code]).toEqual([413, 'read_request_body_failed']);
  });

  test('of a caller that cannot pay for its minimum cost', async () => {
    const poor = await gateway.addUser(1_000);
    caller = callers.with(await gateway.addApiKey(poor));
    const answer = await sent(form(model('whisper-1'), file(wav(60))));
    expect([answer.status, errorIn(answer).code]).toEqual([403, 'insufficient_user_quota']);
    expect(upstream.calls).toEqual([]);
  });
});

describe('a transcription form', () => {
  test('without a model uses the default one', async () => {
    const { line } = await charged(file());
    expect(line.model).toBe('whisper-1');
    expect(receivedBy(upstream).fields).toContainEqual(['model', 'whisper-1']);
  });

  test('goes whole to the next channel when the first one fails', async () => {
    upstream.serve = (_, response) => void response.writeHead(503).end();
    const bytes = wav(5);
    const { line } = await charged(model('whisper-1'), file(bytes), ['name="own"', 'kept']);
    expect(line.attempts).toHaveLength(2);
    expect(receivedBy(second).files[0]?.bytes.equals(bytes)).toBe(true);
    expect(receivedBy(second).fields).toContainEqual(['own', 'kept']);
  });

  test('that is answered with a page is not passed on', async () => {
    const page: SoundUpstream['serve'] = (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<script>alert(1)</script>');
    upstream.serve = page;
    second.serve = page;
    for (const format of ['json', 'text']) {
      const answer = await sent(form(model('whisper-1'), file(), ['name="response_format"', format]));
      expect([answer.status, errorIn(answer).code]).toEqual([502, 'bad_response_body']);
    }
  });

  test('gets a text with a content type of the gateway’s', async () => {
    upstream.serve = (_, response) => void response.writeHead(200, { 'content-type': 'image/svg+xml' }).end('Hello.');
    const { answer } = await charged(model('whisper-1'), file(), ['name="response_format"', 'text']);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
  });
});

test('concurrent transcriptions are reserved for at their cost, and the ledger is balanced', async () => {
  const each = 15 * soundTokens(60);
  const modest = await gateway.addUser(4 * each + 10);
  caller = callers.with(await gateway.addApiKey(modest));
  const waiting: (() => void)[] = [];
  upstream.serve = (call, response) => void waiting.push(() => transcript({ text: 'Hello.' })(call, response));
  let refused = 0;
  const calls = Array.from({ length: 12 }, async () => {
    const { status } = await sent(form(model('whisper-1'), file(ogg(60, 10, 4_000))));
    if (status === 403) refused++;
    return status;
  });
  // Nobody is answered before everybody has been let in or turned away.
  await until(async () => (waiting.length === 4 && refused === 8) || null);
  for (const respond of waiting) respond();
  const statuses = await Promise.all(calls);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array(4).fill(200), ...Array(8).fill(403)]);
  expect(await gateway.available(modest)).toBe(10);
  await withDatabase(gateway.config, quietLog, async (database) =>
    expectLedgersToAgree(database, await ledgerAtRest(database)),
  );
});
