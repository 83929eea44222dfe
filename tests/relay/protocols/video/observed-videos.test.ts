import { describe, expect, test } from 'vitest';
import { geminiVideos } from '../../../../src/relay/protocols/video/gemini-videos.js';
import { openAiVideos, standardCollection } from '../../../../src/relay/protocols/video/openai-videos.js';
import { vertexVideos } from '../../../../src/relay/protocols/video/vertex-videos.js';
import { plainChannel } from '../../providers/golden.js';

/* What an upstream's answer says of a video that it makes. */

const openAi = openAiVideos({ collection: () => standardCollection('https://example.com'), headers: () => ({}) });
const gemini = geminiVideos({ defaultBaseUrl: 'https://example.com' });

const task = { upstreamId: 'up_1', action: 'GENERATE', model: 'sora-2' };
const name = 'models/veo/operations/op1';
const operation = { upstreamId: name, action: 'GENERATE', model: 'veo' };
const videoAt = {
  ...{ upstreamId: 'projects/p/locations/us-central1/publishers/google/models/veo/operations/o' },
  ...{ model: 'veo', urls: [] },
};

const read = (wire: typeof openAi.tasks, asked: typeof task, status: number, body: unknown) => {
  const seen = wire.read(status, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), [asked]);
  return 'unreached' in seen ? 'unreached' : seen[0];
};

describe('a video in OpenAI’s form', () => {
  test.each([
    ['is queued', { status: 'queued', progress: 0 }, { status: 'queued', progress: 0 }],
    ['is at 40 percent', { status: 'in_progress', progress: 40 }, { status: 'in-progress', progress: 40 }],
    ['is ready', { status: 'completed', completed_at: 1_790_000_000 }, { status: 'succeeded', progress: 100 }],
    ['has an unknown status', { status: 'dreaming' }, { status: 'unknown', progress: null }],
    ['is further than it can be', { status: 'in_progress', progress: 4_000 }, { progress: null }],
    [
      'was blocked',
      { status: 'failed', error: { code: 'moderation_blocked', message: 'no cats' } },
      { status: 'failed', reason: 'rejected', content: { failReason: 'no cats', urls: [] } },
    ],
    [
      'has failed',
      { status: 'failed', error: { code: 'video_generation_failed' } },
      { status: 'failed', reason: 'upstream' },
    ],
    ['has failed without a reason', { status: 'failed', error: null }, { status: 'failed', reason: 'upstream' }],
  ])('that %s is seen so', (_name, body, seen) =>
    expect(read(openAi.tasks, task, 200, { id: 'up_1', ...body })).toMatchObject(seen),
  );

  test('that is missing says nothing of its channel', () =>
    expect(read(openAi.tasks, task, 404, { error: {} })).toMatchObject({ status: 'unknown' }));

  test.each([
    ['a page', 200, '<html>'],
    ['a page that says not found', 404, '<html>'],
    ['an error', 500, { error: {} }],
    ['another video', 200, { id: 'up_2', status: 'completed' }],
    ['a list', 200, [{ id: 'up_1', status: 'failed' }]],
    ['nothing', 200, ''],
  ])('is not taken from %s', (_name, status, body) => expect(read(openAi.tasks, task, status, body)).toBe('unreached'));
});

describe('an operation of Google’s', () => {
  test.each([
    ['runs', {}, { status: 'in-progress' }],
    ['says that it is done in a word', { done: 'true' }, { status: 'in-progress' }],
    [
      'was filtered',
      {
        done: true,
        response: { generateVideoResponse: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['no cats'] } },
      },
      { status: 'failed', reason: 'rejected', content: { failReason: 'no cats' } },
    ],
    ['has nothing', { done: true, response: null }, { status: 'failed', reason: 'upstream' }],
    [
      'has failed',
      { done: true, error: { code: 13, message: 'internal' } },
      { status: 'failed', reason: 'upstream', content: { failReason: 'internal' } },
    ],
  ])('that %s is seen so', (_name, body, seen) => {
    expect(read(gemini.tasks, operation, 200, { name, ...body })).toMatchObject(seen);
    expect(read(vertexVideos.tasks, operation, 200, { name, ...body })).toMatchObject(seen);
  });

  const sample = (...videos: unknown[]) => ({
    done: true,
    response: { generateVideoResponse: { generatedSamples: videos.map((video) => ({ video })) } },
  });
  const inItself = (...videos: unknown[]) => ({ done: true, response: { videos } });
  const file = 'https://example.com/f';
  const bytes = { bytesBase64Encoded: 'AAAA', mimeType: 'video/mp4' };

  test('has succeeded with files at addresses, or with files in itself, as its place gives them out', () => {
    expect(read(gemini.tasks, operation, 200, { name, ...sample({ uri: file }) })).toMatchObject({
      ...{ status: 'succeeded', progress: 100, content: { urls: [file] } },
    });
    expect(read(vertexVideos.tasks, operation, 200, { name, ...inItself(bytes) })).toMatchObject({
      ...{ status: 'succeeded', content: { urls: [] } },
    });
  });

  test('has succeeded with what can be given out of it, beside what cannot', () => {
    expect(read(gemini.tasks, operation, 200, { name, ...sample({}, { uri: file }) })).toMatchObject({
      ...{ status: 'succeeded', content: { urls: [file] } },
    });
    const done = { name, ...inItself({ gcsUri: 'gs://b/o.mp4' }, bytes) };
    expect(read(vertexVideos.tasks, operation, 200, done)).toMatchObject({ status: 'succeeded' });
    const { inside } = vertexVideos.videos.source(plainChannel, { ...videoAt, index: 0 }, 'video') ?? {};
    expect(inside?.(Buffer.from(JSON.stringify(done)), 0)).toEqual({
      ...{ type: 'video/mp4', bytes: Buffer.from('AAAA', 'base64') },
    });
  });

  test.each([
    ['an empty video', sample({})],
    ['no address in its address', sample({ uri: 'f' })],
    ['an address of another kind', sample({ uri: 'gs://b/o.mp4' })],
    ['an address that is too long to be kept', sample({ uri: `${file}?${'x'.repeat(2_048)}` })],
    ['bytes where only addresses are followed', inItself(bytes)],
  ])('has failed with %s alone, when files are downloaded from addresses', (_what, done) =>
    expect(read(gemini.tasks, operation, 200, { name, ...done })).toMatchObject({
      ...{ status: 'failed', reason: 'upstream' },
    }),
  );

  test.each([
    ['an empty video', inItself({})],
    ['a place in a store', inItself({ gcsUri: 'gs://b/o.mp4', mimeType: 'video/mp4' })],
    ['no bytes', inItself({ ...bytes, bytesBase64Encoded: '' })],
    ['what are no bytes', inItself({ ...bytes, bytesBase64Encoded: '!!!!' })],
    ['a file of another type', inItself({ ...bytes, mimeType: 'text/html' })],
    ['an address where only bytes are given out', sample({ uri: file })],
  ])('has failed with %s alone, when files are part of the answer', (_what, done) =>
    expect(read(vertexVideos.tasks, operation, 200, { name, ...done })).toMatchObject({
      ...{ status: 'failed', reason: 'upstream' },
    }),
  );

  test('keeps the reasons for which it has nothing to give out', () => {
    const raiMediaFilteredReasons = ['no cats', 'no dogs'];
    const seen = { status: 'failed', reason: 'rejected', content: { failReason: 'no cats no dogs', urls: [] } };
    const generateVideoResponse = { generatedSamples: [{ video: {} }], raiMediaFilteredReasons };
    const atAddresses = { name, done: true, response: { generateVideoResponse } };
    expect(read(gemini.tasks, operation, 200, atAddresses)).toMatchObject(seen);
    const inside = { name, done: true, response: { videos: [{ gcsUri: 'gs://b/o' }], raiMediaFilteredReasons } };
    expect(read(vertexVideos.tasks, operation, 200, inside)).toMatchObject(seen);
  });

  test('is not taken from a page, nor from another operation', () =>
    expect([
      read(gemini.tasks, operation, 200, '<html>'),
      read(gemini.tasks, operation, 200, { name: 'models/veo/operations/op2', done: true }),
    ]).toEqual(['unreached', 'unreached']));
});

describe('the key of a channel', () => {
  const channel = {
    ...{ baseUrl: 'https://example.com', key: 'secret', other: '', organization: null, proxy: null },
    ...{ paramOverride: null, forceFormat: false, thinkingToContent: false },
  };
  const headersAt = (url: string) =>
    gemini.videos.source(channel, { upstreamId: name, model: 'veo', urls: [url], index: 0 }, 'video')?.request.headers;

  test('is sent for a file at its own place', () =>
    expect(headersAt('https://example.com/v1beta/files/f:download?alt=media')).toEqual({ 'x-goog-api-key': 'secret' }));

  test.each(['https://example.com.evil.test/f', 'http://example.com/f', 'https://example.com:444/f'])(
    'is not sent to %s, whatever upstream names',
    (url) => expect(headersAt(url)).toEqual({}),
  );

  test('of Google’s cloud is not sent for an operation whose name has no project and region', () =>
    expect(() =>
      vertexVideos.tasks.poll({ ...channel, baseUrl: '' }, [
        { ...operation, upstreamId: 'projects/p/locations/evil.test/x' },
      ]),
    ).toThrow('cannot be asked for'));
});
