import { gzipSync } from 'node:zlib';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { receiptsOfAll } from '../../support/gateway/receipts.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { wav } from '../../support/inputs/sound-files.js';
import { until } from '../../support/until.js';
import { type SoundUpstream, startSoundUpstream, transcript } from '../../support/upstreams/sound-upstream.js';

/* Models that a published list sells by the second or the character only: from the list to the line of the log. */

const balance = 100_000_000;
const list = {
  'acme-heard': { input_cost_per_second: 0.0001, mode: 'audio_transcription', litellm_provider: 'acme' },
  'acme-spoken': { input_cost_per_character: 0.00002, mode: 'audio_speech', litellm_provider: 'acme' },
};
const filter = { search: '', kinds: null, servedOnly: false, withinBoundsOnly: false };

let gateway: TestGateway;
let upstream: SoundUpstream;
let user: TestUser;
let client: OpenAI;

const newest = (path: string) =>
  until(async () => {
    const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 10 }, true);
    return lines.find((line) => line.path === path && line.type === 2) ?? null;
  });

beforeAll(async () => {
  upstream = await startSoundUpstream();
  gateway = await startTestGateway();
  await gateway.addChannel({ models: Object.keys(list), baseUrl: upstream.url });
  const { root, application } = gateway;
  const { priceUpdates } = application;
  const gzip = gzipSync(JSON.stringify(list)).toString('base64');
  const { name } = await priceUpdates.readPublishedFile(root, { gzip, bareNames: false, margin: 1.5 });
  const found = await priceUpdates.priceDifferences(root, name, filter, { page: 0, size: 10 });
  expect(found.items).toMatchObject([
    { model: 'acme-heard', kind: 'new', moves: [{ name: 'seconds', before: null, after: '0.00015' }] },
    { model: 'acme-spoken', kind: 'new', moves: [{ name: 'characters', before: null, after: '0.00003' }] },
  ]);
  const order = { source: name, reading: found.reading, seenAt: found.seenAt };
  const { position } = await priceUpdates.applyPrices(root, order, Object.keys(list));
  await application.visible(position);
  user = await gateway.addUser(balance);
  client = new OpenAI({ apiKey: await gateway.addApiKey(user), baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

describe('a model that a list sells by the piece only', () => {
  test('is listed, and a transcript costs its seconds and nothing beside', async () => {
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(Object.keys(list));
    upstream.serve = transcript({ text: 'Hello.' });
    const file = await toFile(wav(10), 'speech.wav', { type: 'audio/wav' });
    await client.audio.transcriptions.create({ model: 'acme-heard', file });
    // 10 × 0.00015 × 500,000
    expect(await newest('/v1/audio/transcriptions')).toMatchObject({ quota: 750, usage: { seconds: 10 } });
    expect(await gateway.available(user)).toBe(balance - 750);
  });

  test('costs the characters of a speech', async () => {
    upstream.serve = (_, response) => void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('sound');
    await client.audio.speech.create({ model: 'acme-spoken', voice: 'alloy', input: 'x'.repeat(100) });
    // 100 × 0.00003 × 500,000
    expect(await newest('/v1/audio/speech')).toMatchObject({ quota: 1_500, usage: { characters: 100 } });
  });

  test('has no price for what is not sold so: a chat, or speech of what is sold by the second', async () => {
    upstream.calls.length = 0;
    const unpriced = { status: 400, code: 'model_price_error' };
    await expect(
      client.chat.completions.create({ model: 'acme-heard', messages: [{ role: 'user', content: 'x' }] }),
    ).rejects.toMatchObject(unpriced);
    await expect(client.audio.speech.create({ model: 'acme-heard', voice: 'alloy', input: 'x' })).rejects.toMatchObject(
      unpriced,
    );
    expect(upstream.calls).toEqual([]);
  });

  test('is refused to a balance below what all that is sent would cost', async () => {
    const poor = await gateway.addUser(1_499);
    const apiKey = await gateway.addApiKey(poor);
    const asked = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 }).audio.speech.create({
      ...{ model: 'acme-spoken', voice: 'alloy', input: 'x'.repeat(100) },
    });
    await expect(asked).rejects.toMatchObject({ status: 403 });
  });
});

test('each of these calls has a receipt that gives its charge', async () => {
  const { served, wrong } = await receiptsOfAll(gateway);
  expect(served).toBeGreaterThan(1);
  expect(wrong).toEqual([]);
});
