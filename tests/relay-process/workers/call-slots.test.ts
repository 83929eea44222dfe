import { describe, expect, test } from 'vitest';
import type { BackgroundCalls } from '../../../src/application/ports/background-call-ports.js';
import type { Tasks } from '../../../src/application/ports/task-ports.js';
import { CallId, UserId } from '../../../src/domain/kernel/ids.js';
import { CallsOfWorkers } from '../../../src/relay-process/workers/calls-of-workers.js';
import type { PrimaryMethods } from '../../../src/relay-process/workers/messages.js';
import { Peer } from '../../../src/relay-process/workers/peer.js';
import { remoteBackground, remoteTasks } from '../../../src/relay-process/workers/remote-ports.js';
import { type PrimaryPorts, serveWorker } from '../../../src/relay-process/workers/serve-worker.js';
import { pipe } from '../../support/pipe.js';

const alice = UserId(7);
const limit = 2;

interface Slots {
  take(callId: CallId): Promise<boolean>;
  release(callId: CallId): void;
}

const kinds: Record<string, (primary: Peer<PrimaryMethods>) => Slots> = {
  'calls in the background': (primary) => {
    const { takeSlot, releaseSlot } = remoteBackground(primary);
    return { take: (callId) => takeSlot(callId, alice), release: releaseSlot };
  },
  'calls that may submit a task': (primary) => {
    const { takeSlot, releaseSlot } = remoteTasks(primary);
    return { take: (callId) => takeSlot(callId, alice, limit), release: releaseSlot };
  },
};

describe.each(Object.entries(kinds))('slots for %s', (_kind, slotsOf) => {
  /** A worker, and the slots that its primary has given out. */
  function world() {
    const slots = new Set<CallId>();
    const takeSlot = async (callId: CallId, _user: UserId, most = limit) =>
      slots.size < most && Boolean(slots.add(callId));
    const shared = { takeSlot, releaseSlot: (callId: CallId) => void slots.delete(callId) };
    const [background, tasks] = [shared as unknown as BackgroundCalls, shared as unknown as Tasks];
    const [worker, primary] = pipe();
    const calls = new CallsOfWorkers().enter();
    const ports = { background, tasks, calls, onTaken: () => {} } as unknown as PrimaryPorts &
      Parameters<typeof serveWorker>[0];
    const service = serveWorker(ports);
    new Peer(primary, service.methods, () => {});
    return { slots, service, remote: slotsOf(new Peer<PrimaryMethods>(worker, {}, () => {})) };
  }

  test('are the primary’s: a worker gets one, is refused one, and gives one back', async () => {
    const { slots, remote } = world();
    const taken = await Promise.all(['a', 'b', 'c'].map((id) => remote.take(CallId(id))));
    expect(taken).toEqual([true, true, false]);
    remote.release(CallId('a'));
    expect(await remote.take(CallId('d'))).toBe(true);
    expect([...slots]).toEqual(['b', 'd']);
  });

  test('are given back when their worker is gone, and it gets none after that', async () => {
    const { slots, remote, service } = world();
    await remote.take(CallId('a'));
    service.end();
    expect(slots.size).toBe(0);
    await remote.take(CallId('b'));
    expect(slots.size).toBe(0);
  });
});
