import { describe, expect, test } from 'vitest';
import type { VideoRequest } from '../../../../src/relay/contracts/video-request.js';
import { geminiVideos } from '../../../../src/relay/protocols/video/gemini-videos.js';
import { vertexVideos } from '../../../../src/relay/protocols/video/vertex-videos.js';
import { bodyOf } from '../../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../../providers/golden.js';

/* How an operation of Google's is asked for. */

const gemini = geminiVideos({ defaultBaseUrl: 'https://example.com' });
const account = { type: 'service_account', project_id: 'p', client_email: 'a@b.example', private_key: 'k' };
const base = { ...plainChannel, baseUrl: 'https://example.com' };
const order: VideoRequest = { model: 'veo', prompt: 'a cat', seconds: 8, size: '1280x720', n: 1 };

describe.each([
  ['in its public interface', 24, gemini.tasks, base],
  ['in its cloud', 41, vertexVideos.tasks, { ...base, key: JSON.stringify(account) }],
] as const)('a video %s', (_where, type, wire, channel) => {
  const ordered = (changed: Partial<VideoRequest>) =>
    wire.submit.request({
      ...{ provider: providerOfType(type), channel, model: 'veo', options: usualOptions },
      caller: { ...callerOf('task', { ...order, ...changed }), task: { action: 'GENERATE', parent: null } },
    });

  test('is ordered with a count of one, and a greater count is refused by its name', () => {
    const sent = JSON.parse(String(bodyOf(ordered({}).content)));
    expect(sent).toMatchObject({ instances: [{ prompt: 'a cat' }], parameters: { sampleCount: 1 } });
    expect(() => ordered({ n: 2 })).toThrow('n: this upstream makes one video at a time');
  });
});
