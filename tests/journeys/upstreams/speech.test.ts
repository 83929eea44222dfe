import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import { billingOf } from '../../../src/domain/pricing/billing.js';
import { type Answer, type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { expectLedgersToAgree, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import { type SoundUpstream, startSoundUpstream } from '../../support/upstreams/sound-upstream.js';

/* Texts that are spoken: sound as it comes, and what it costs. */

const balance = 10_000_000;

let gateway: TestGateway;
let callers: Callers;
let upstream: SoundUpstream;
let user: TestUser;
let caller: Caller;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startSoundUpstream();
  gateway = await startTestGateway({ STREAMING_TIMEOUT: '2', CALLER_STALL_SECONDS: '2' });
  callers = openCallers(gateway.url);
  await gateway.addChannel({ models: ['tts-1', 'gpt-4o-mini-tts'], baseUrl: upstream.url });
  await gateway.setOption('ModelRatio', '{"tts-1":7.5,"gpt-4o-mini-tts":0.3}');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  upstream.calls.length = 0;
  user = await gateway.addUser(balance);
  const apiKey = await gateway.addApiKey(user);
  caller = callers.with(apiKey);
  client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0, timeout: 30_000 });
});

const sound = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7) % 256));
const answerWith =
  (type: string | null, bytes: Buffer | string = sound): SoundUpstream['serve'] =>
  (_, response) =>
    void response.writeHead(200, type === null ? {} : { 'content-type': type }).end(bytes);

const speak = (body: object, sending: Partial<Parameters<Caller['send']>[1]> = {}): Promise<Answer> =>
  caller.send('/v1/audio/speech', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { model: 'tts-1', input: 'Hello.', voice: 'alloy', ...body },
    ...sending,
  });

/** The newest line of the user's log, once there is one. */
const line = () =>
  until(async () => {
    const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 10 }, true);
    return lines.find(({ path }) => path === '/v1/audio/speech') ?? null;
  });

describe('a speech call', () => {
  test('returns bytes unchanged to the official client, and costs its characters', async () => {
    upstream.serve = answerWith('audio/mpeg');
    const answer = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Zażółć 👋!' });
    expect(Buffer.from(await answer.arrayBuffer()).equals(sound)).toBe(true);
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(upstream.calls[0]).toMatchObject({ url: '/v1/audio/speech' });
    expect(Object.fromEntries(upstream.calls[0]?.fields ?? [])).toMatchObject({ model: 'tts-1', input: 'Zażółć 👋!' });
    // 9 characters × 7.5 = 67.5
    expect(await line()).toMatchObject({ quota: 68, prompt_tokens: 9, completion_tokens: 0, outcome: 'completed' });
    expect(await gateway.available(user)).toBe(balance - 68);
  });

  describe('of a model whose characters have a price', () => {
    afterAll(async () => {
      for (const model of ['tts-1', 'gpt-4o-mini-tts']) await gateway.setPrice(model, null);
    });

    test('costs its characters instead of tokens', async () => {
      await gateway.setPrice('tts-1', [{ tokens: { input: { usd: '15' } }, pieces: { characters: '0.00003' } }]);
      upstream.serve = answerWith('audio/mpeg');
      const answer = await speak({ input: 'Zażółć 👋!' });
      // 9 × 0.00003 × 500000
      const settled = await lineOf(gateway, user, answer);
      expect(settled).toMatchObject({ quota: 135, usage: { characters: 9 }, prompt_tokens: 0 });
      if (settled.price === null) throw new Error('a line without a price');
      expect(billingOf(settled.usage, settled.price).lines).toEqual([
        { quantity: 'characters', count: 9, ratio: null, unitPrice: '15', amount: '135' },
      ]);
    });

    test('costs its characters beside tokens where both have a price', async () => {
      const tokens = { input: { usd: '0' } };
      await gateway.setPrice('gpt-4o-mini-tts', [{ tokens, pieces: { characters: '0.00001' } }]);
      upstream.serve = answerWith('audio/mpeg');
      const answer = await speak({ model: 'gpt-4o-mini-tts', input: 'hello '.repeat(100) });
      const settled = await lineOf(gateway, user, answer);
      expect(settled).toMatchObject({ quota: 3_000, usage: { characters: 600 } });
      expect(settled.prompt_tokens).toBeGreaterThan(50);
    });

    test('is refused before any upstream request where the balance is too low', async () => {
      await gateway.setPrice('tts-1', [{ tokens: { input: { usd: '0' } }, pieces: { characters: '0.001' } }]);
      const poor = await gateway.addUser(4_999);
      const calls = callers.with(await gateway.addApiKey(poor));
      const answer = await calls.send('/v1/audio/speech', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: { model: 'tts-1', input: 'ten chars.', voice: 'alloy' },
      });
      expect([answer.status, upstream.calls.length]).toEqual([403, 0]);
    });
  });

  test('of a model with token prices costs its tokens', async () => {
    upstream.serve = answerWith('audio/mpeg');
    const answer = await speak({ model: 'gpt-4o-mini-tts', input: 'hello '.repeat(100) });
    expect((await lineOf(gateway, user, answer)).prompt_tokens).toBeLessThan(150);
  });

  test.each([
    ['audio/mpeg', {}, 'audio/mpeg'],
    ['audio/wav; charset=binary', {}, 'audio/wav'],
    ['application/octet-stream', { response_format: 'flac' }, 'audio/flac'],
    [null, {}, 'audio/mpeg'],
    [null, { response_format: 'something' }, 'application/octet-stream'],
  ])('that the upstream calls %s, requested with %j, is sent as %s', async (type, body, sent) => {
    upstream.serve = answerWith(type);
    const { status, headers } = await speak(body);
    expect([status, headers['content-type'], headers['x-content-type-options']]).toEqual([200, sent, 'nosniff']);
  });

  test('reaches the caller while it is generated', async () => {
    let finish = (): void => {};
    upstream.serve = (_, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.write('first');
      finish = () => void response.end('last');
    };
    let seen = '';
    const answer = await speak(
      {},
      {
        enough: (text) => {
          if (seen === '') finish();
          seen = text;
          return false;
        },
      },
    );
    expect([seen, answer.text]).toEqual(['firstlast', 'firstlast']);
  });
});

describe('a speech call with stream_format sse', () => {
  const sse = { stream_format: 'sse' };
  const data = (type: string, rest: object) => `data: ${JSON.stringify({ type, ...rest })}\n\n`;
  const begun = data('speech.audio.delta', { audio: 'SUQz' });

  test('returns the upstream’s events, and costs its characters', async () => {
    upstream.serve = answerWith('text/event-stream', begun + data('speech.audio.done', { usage: { input_tokens: 2 } }));
    const answer = await speak(sse);
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(answer.text).toMatch(
      /^event: speech.audio.delta\ndata: .*"SUQz".*\n\nevent: speech.audio.done\ndata: .*\n\n$/,
    );
    expect(await lineOf(gateway, user, answer)).toMatchObject({ quota: 45, outcome: 'completed' });
  });

  test('returns events where the upstream sends plain sound', async () => {
    upstream.serve = answerWith('audio/mpeg');
    const answer = await speak(sse);
    const pieces = [...answer.text.matchAll(/"audio":"([^"]+)"/g)].map(([, piece = '']) =>
      Buffer.from(piece, 'base64'),
    );
    expect(Buffer.concat(pieces).equals(sound)).toBe(true);
    expect(answer.text).toContain('"usage":{"input_tokens":6,"output_tokens":0,"total_tokens":6}');
    expect(await lineOf(gateway, user, answer)).toMatchObject({ quota: 45, outcome: 'completed' });
  });

  test('is charged where its events break off, and free where there were no events', async () => {
    upstream.serve = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(begun, () => response.destroy());
    };
    const cut = await speak(sse);
    expect(cut.text).toContain('"error":');
    expect(await lineOf(gateway, user, cut)).toMatchObject({ quota: 45, outcome: 'upstream-broke' });
    upstream.serve = answerWith('text/event-stream', 'data: {"type":"speech.audio.done"}\n\n');
    expect((await speak(sse)).status).toBe(500);
    await until(async () => ((await gateway.available(user)) === balance - 45 ? true : null));
  });
});

describe('a request for speech is refused', () => {
  test.each([
    ['without a text', { input: '' }, 'invalid_audio_request', 'input'],
    ['of a list', { input: ['a'] }, 'invalid_audio_request', 'input'],
    ['of more than 4,096 characters', { input: 'ł'.repeat(4_097) }, 'text_too_long', 'input'],
    ['in another form', { stream_format: 'chunks' }, 'invalid_audio_request', 'stream_format'],
    ['by an invalid model name', { model: 7 }, 'invalid_audio_request', 'model'],
  ])('%s', async (_what, body, code, param) => {
    const answer = await speak(body);
    expect([answer.status, errorIn(answer)]).toEqual([400, expect.objectContaining({ code, param })]);
    expect(upstream.calls).toEqual([]);
  });

  test('but not for 4,096 characters of two units each', async () => {
    upstream.serve = answerWith('audio/mpeg');
    expect((await speak({ input: '👋'.repeat(4_096) })).status).toBe(200);
  });
});

describe('a speech call is not charged', () => {
  test.each<[string, SoundUpstream['serve'], number, string]>([
    [
      'for an error',
      (_, response) =>
        void response
          .writeHead(400, { 'content-type': 'application/json' })
          .end('{"error":{"message":"no such voice","type":"invalid_request_error","code":"bad_voice"}}'),
      400,
      'bad_voice',
    ],
    [
      'for an error inside a success',
      answerWith(
        'application/json',
        '{"error":{"message":"no such voice","type":"invalid_request_error","code":"bad_voice"}}',
      ),
      400,
      'bad_voice',
    ],
    ['for a page', answerWith('text/html', '<script>alert(1)</script>'), 502, 'bad_response_body'],
    [
      'for a chat in place of audio',
      answerWith('application/json', '{"choices":[{"message":{"content":"Hello."}}]}'),
      502,
      'bad_response_body',
    ],
    ['for an empty answer', answerWith('audio/mpeg', ''), 502, 'bad_response_body'],
    ['where the upstream disconnects first', (_, response) => void response.destroy(), 500, 'do_request_failed'],
  ])('%s', async (_what, serve, status, code) => {
    upstream.serve = serve;
    const answer = await speak({});
    expect([answer.status, errorIn(answer).code]).toEqual([status, code]);
    expect(answer.headers['content-type']).toContain('application/json');
    await until(async () => ((await gateway.available(user)) === balance ? true : null));
  });
});

describe('a partly delivered speech call is charged', () => {
  /** Some sound, and then what a test wants. */
  const begun =
    (then: (response: Parameters<SoundUpstream['serve']>[1]) => void): SoundUpstream['serve'] =>
    (_, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.write(sound.subarray(0, 1_000), () => then(response));
    };

  test('where the upstream breaks off, and the caller can see it', async () => {
    upstream.serve = begun((response) => response.destroy());
    await expect(speak({})).rejects.toThrow();
    expect(await line()).toMatchObject({ quota: 45, outcome: 'upstream-broke' });
  });

  test('where the upstream falls silent', async () => {
    upstream.serve = begun(() => {});
    await expect(speak({})).rejects.toThrow();
    expect(await line()).toMatchObject({ quota: 45, outcome: 'upstream-broke' });
  });

  test('where the caller disconnects, and the upstream is aborted', async () => {
    let stopped = false;
    upstream.serve = begun((response) => {
      response.once('close', () => {
        stopped = true;
      });
      const more = (): void => void (response.destroyed || response.write(sound, () => setImmediate(more)));
      more();
    });
    await speak({}, { enough: () => true });
    expect(await line()).toMatchObject({ quota: 45, outcome: 'caller-left' });
    await until(async () => stopped || null);
  });

  test('where the caller stops reading, with no more buffered than a connection holds', async () => {
    let written = 0;
    upstream.serve = begun((response) => {
      const more = (): void => {
        if (response.destroyed) return;
        written += sound.length;
        if (response.write(sound)) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    });
    const stalled = new AbortController();
    const answer = await fetch(`${gateway.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await gateway.addApiKey(user)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'tts-1', input: 'Hello.', voice: 'alloy' }),
      signal: stalled.signal,
    });
    expect(answer.status).toBe(200);
    expect(await line()).toMatchObject({ quota: 45, outcome: 'caller-stalled' });
    expect(written).toBeLessThan(64 * 1024 * 1024);
    stalled.abort();
  });
});

test('after all of these calls for speech the ledger agrees with the log', async () => {
  await withDatabase(gateway.config, quietLog, async (database) =>
    expectLedgersToAgree(database, await ledgerAtRest(database)),
  );
});
