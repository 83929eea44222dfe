import { describe, expect, test } from 'vitest';
import { type RevisionStep, type StreamFinding, StreamWalk } from '../../../src/application/audit/stream-walk.js';

/** A walk along these events, `stream revision type`, one position apart; what it found, and what it asked the log about. */
async function walked(events: readonly string[], fromFirst: number | null) {
  const found: string[] = [];
  const asked: string[] = [];
  const walk = new StreamWalk({
    fromFirst,
    found: ({ code, first }: StreamFinding) => void found.push(`${code} ${first}`),
    outOfStep: async (steps) => {
      asked.push(...steps.map(({ stream }) => stream));
      return steps.filter(({ stream }) => stream === 'call-twice').map((step) => ({ step, twice: true }));
    },
  });
  for (const [position, event] of events.entries()) {
    const [stream = '', revision, type = 'Changed'] = event.split(' ');
    walk.take({ position, stream, revision: Number(revision), type } satisfies RevisionStep);
  }
  await walk.settle();
  return { found, asked };
}

describe('a walk along the streams of the log', () => {
  const whole = ['user-1 0', 'call-1 0', 'call-2 0', 'call-1 1 CallSettled', 'user-1 1', 'call-2 1 CallReleased'];

  test('from the first event asks the log about no stream that it meets for the first time', async () => {
    expect(await walked(whole, 100)).toEqual({ found: [], asked: [] });
  });

  test('from a later event asks the log about every stream', async () => {
    expect((await walked(whole, null)).asked).toEqual(['user-1', 'call-1', 'call-2']);
  });

  test('asks the log about a call with events after its outcome', async () => {
    const events = ['call-twice 0', 'call-twice 1 CallSettled', 'call-twice 0'];
    expect(await walked(events, 100)).toEqual({ found: ['revision-twice 2'], asked: ['call-twice'] });
  });

  test('finds a stream that does not begin with its first revision, without asking', async () => {
    expect(await walked(['user-1 0', 'user-2 3'], 100)).toEqual({ found: ['revision-missing 1'], asked: [] });
  });
});
