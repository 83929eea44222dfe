import { describe, expect, test } from 'vitest';
import type { TaskObservation } from '../../../src/application/ports/task-ports.js';
import type { UpstreamChannel } from '../../../src/relay/contracts/protocol.js';
import { plainObservation } from '../../../src/relay/protocols/confidential-task.js';
import { providers } from '../../../src/relay/providers/registry.js';
import { plainChannel } from '../providers/golden.js';

const channel: UpstreamChannel = { ...plainChannel, key: 'proxy-secret-1', baseUrl: 'https://proxy.internal.example' };
const seen: TaskObservation = {
  ...{ upstreamId: '1', status: 'failed', progress: 40, startedAt: null, finishedAt: null },
  content: {
    failReason: 'POST https://proxy.internal.example/mj with proxy-secret-1 failed',
    description: 'asked proxy.internal.example',
    prompt: 'a cat at https://pictures.example/cat.png',
    urls: ['https://cdn.example/1.png'],
  },
};
const ofTasks = providers.filter(({ tasks }) => tasks !== undefined);

describe('what an upstream says of a task', () => {
  test.each(ofTasks.map((provider) => [provider.name, provider] as const))(
    'of %s holds neither key nor address of its channel',
    (_name, provider) => {
      const { content } = plainObservation(seen, provider, channel);
      expect(JSON.stringify([content.failReason, content.description])).not.toMatch(/proxy-secret|proxy\.internal/);
      expect(content).toMatchObject({ prompt: seen.content.prompt, urls: seen.content.urls });
    },
  );

  test('is the same object where it says nothing', () => {
    const silent = { ...seen, content: { urls: [] } };
    expect(plainObservation(silent, ofTasks[0] as never, channel)).toBe(silent);
  });
});
