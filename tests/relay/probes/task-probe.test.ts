import { describe, expect, test } from 'vitest';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import { channelParser } from '../../../src/relay/pipeline/channels/channel-settings.js';
import { taskProbe } from '../../../src/relay/probes/task-probe.js';
import { providerOf } from '../../../src/relay/providers/registry.js';
import { LargeWork } from '../../../src/relay/text/large-work.js';

/* How upstreams are asked how far tasks are. */

const asked = { upstreamId: 'up_1', action: 'GENERATE', model: 'sora-2' };

/** An upstream of this type that answers so; `limits`: how many bytes of it were read at most. */
function probeOf(type: number, answer: object, limits: number[] = []) {
  const view = {
    ...{ id: 1, secrets: { key: 'k', proxy: null } },
    settings: { type, baseUrl: 'https://upstream.example', other: '', organization: null, models: [] },
  };
  const body = {
    async whole(limit: number) {
      limits.push(limit);
      return Buffer.from(JSON.stringify(answer));
    },
  };
  return taskProbe({
    directory: { channel: () => view },
    vault: { get: async () => 'sk-very-secret-key' },
    providerOf: (one: number) => {
      const provider = providerOf(one);
      return provider && { ...provider, authorisation: undefined };
    },
    upstream: {
      send: () => ({ sent: Promise.resolve({ ok: true, answer: { status: 200, headers: {}, body } }), cancel() {} }),
    },
    answers: { newSlot: () => ({ leave() {} }) },
    largeWork: new LargeWork(),
    parsedChannel: channelParser(),
  } as never);
}

describe('an upstream that reports the progress of a task', () => {
  test('cannot show callers key or address in its reason for a failure', async () => {
    const message = 'denied for sk-very-secret-key at https://upstream.example/v1';
    const answer = { id: 'up_1', status: 'failed', error: { code: 'x', message } };
    const seen = await probeOf(1, answer).ask(ChannelId(1), 'video', [asked] as never);
    const text = JSON.stringify(seen);
    expect(text).toContain('denied for');
    expect(text).not.toMatch(/very-secret|upstream\.example/);
  });

  test('answers with whole videos within a bound of their own', async () => {
    const limits: number[] = [];
    const upstreamId = 'projects/p/locations/us-central1/publishers/google/models/veo/operations/o1';
    const answer = { name: upstreamId, done: true, response: { videos: [{ bytesBase64Encoded: 'AAAA' }] } };
    const seen = await probeOf(41, answer, limits).ask(ChannelId(1), 'video', [{ ...asked, upstreamId }] as never);
    expect(seen).toMatchObject({ kind: 'seen', tasks: [{ status: 'succeeded' }] });
    expect(limits).toEqual([128 * 1024 * 1024]);
  });
});
