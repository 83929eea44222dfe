import { describe, expect, test } from 'vitest';
import { geminiVideos } from '../../../../src/relay/protocols/video/gemini-videos.js';
import { openAiVideos, standardCollection } from '../../../../src/relay/protocols/video/openai-videos.js';
import { vertexVideos } from '../../../../src/relay/protocols/video/vertex-videos.js';

/* What an upstream's answer says of a video that it makes. */

const openAi = openAiVideos({ collection: () => standardCollection('https://example.com'), headers: () => ({}) });
const gemini = geminiVideos({ defaultBaseUrl: 'https://example.com' });

const task = { upstreamId: 'up_1', action: 'GENERATE', model: 'sora-2' };
const name = 'models/veo/operations/op1';
const operation = { upstreamId: name, action: 'GENERATE', model: 'veo' };

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
      'has a file',
      {
        done: true,
        response: { generateVideoResponse: { generatedSamples: [{ video: { uri: 'https://example.com/f' } }] } },
      },
      { status: 'succeeded', progress: 100, content: { urls: ['https://example.com/f'] } },
    ],
    [
      'has a file in itself',
      { done: true, response: { videos: [{ bytesBase64Encoded: 'AAAA', mimeType: 'video/mp4' }] } },
      { status: 'succeeded', content: { urls: [] } },
    ],
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
