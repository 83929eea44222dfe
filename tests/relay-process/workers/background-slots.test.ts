import { expect, test } from 'vitest';
import type { BackgroundCalls } from '../../../src/application/ports/background-call-ports.js';
import { CallId, UserId } from '../../../src/domain/kernel/ids.js';
import { CallsOfWorkers } from '../../../src/relay-process/workers/calls-of-workers.js';
import type { PrimaryMethods } from '../../../src/relay-process/workers/messages.js';
import { Peer } from '../../../src/relay-process/workers/peer.js';
import { remoteBackground } from '../../../src/relay-process/workers/remote-ports.js';
import { type PrimaryPorts, serveWorker } from '../../../src/relay-process/workers/serve-worker.js';
import { pipe } from '../../support/pipe.js';

const alice = UserId(7);

/** A worker, and the slots that its primary has given out. */
function world() {
  const slots = new Set<CallId>();
  const background = {
    takeSlot: async (callId) => slots.size < 2 && Boolean(slots.add(callId)),
    releaseSlot: (callId) => void slots.delete(callId),
  } as Pick<BackgroundCalls, 'takeSlot' | 'releaseSlot'> as BackgroundCalls;
  const [worker, primary] = pipe();
  const calls = new CallsOfWorkers().enter();
  const ports = { background, calls, onTaken: () => {} } as unknown as PrimaryPorts & Parameters<typeof serveWorker>[0];
  const service = serveWorker(ports);
  new Peer(primary, service.methods, () => {});
  return { slots, service, remote: remoteBackground(new Peer<PrimaryMethods>(worker, {}, () => {})) };
}

test('slots for calls in the background are the primary’s: a worker gets one, is refused one, and gives one back', async () => {
  const { slots, remote } = world();
  const taken = await Promise.all(['a', 'b', 'c'].map((id) => remote.takeSlot(CallId(id), alice)));
  expect(taken).toEqual([true, true, false]);
  remote.releaseSlot(CallId('a'));
  expect(await remote.takeSlot(CallId('d'), alice)).toBe(true);
  expect([...slots]).toEqual(['b', 'd']);
});

test('slots for calls in the background that a worker has are given back when it is gone, and it gets none after that', async () => {
  const { slots, remote, service } = world();
  await remote.takeSlot(CallId('a'), alice);
  service.end();
  expect(slots.size).toBe(0);
  await remote.takeSlot(CallId('b'), alice);
  expect(slots.size).toBe(0);
});
