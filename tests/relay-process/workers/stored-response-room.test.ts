import { expect, test } from 'vitest';
import type { StoredResponses } from '../../../src/application/ports/stored-response-ports.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { CallsOfWorkers } from '../../../src/relay-process/workers/calls-of-workers.js';
import type { PrimaryMethods } from '../../../src/relay-process/workers/messages.js';
import { Peer } from '../../../src/relay-process/workers/peer.js';
import { remoteStoredResponses } from '../../../src/relay-process/workers/remote-ports.js';
import { type PrimaryPorts, serveWorker } from '../../../src/relay-process/workers/serve-worker.js';
import { pipe } from '../../support/pipe.js';

const alice = UserId(7);

/** A worker, and what its primary was asked to do, in order. There is room for two. */
function world() {
  const done: string[] = [];
  const reserved = new Set<string>();
  const storedResponses: StoredResponses = {
    reserve(_user, id) {
      if (reserved.size === 2) return null;
      reserved.add(id);
      return () => {
        reserved.delete(id);
        done.push(`release ${id}`);
      };
    },
    shrink: (id, bytes) => void done.push(`shrink ${id} ${bytes}`),
    put: ({ id, content }) => void done.push(`put ${id} ${content}`),
    find: async () => null,
    remove: async () => false,
  };
  const [worker, primary] = pipe();
  const calls = new CallsOfWorkers().enter();
  const ports = { storedResponses, calls, onTaken: () => {} } as unknown as PrimaryPorts &
    Parameters<typeof serveWorker>[0];
  const service = serveWorker(ports);
  new Peer(primary, service.methods, () => {});
  return { done, reserved, service, remote: remoteStoredResponses(new Peer<PrimaryMethods>(worker, {}, () => {})) };
}

test('room for responses is the primary’s: a worker gets some, uses it before it gives it back, and is refused more', async () => {
  const { done, reserved, remote } = world();
  const release = await remote.reserve(alice, 'a', 9);
  await remote.reserve(alice, 'b', 9);
  expect(await remote.reserve(alice, 'c', 9)).toBeNull();
  remote.shrink('a', 5);
  remote.put({ userId: alice, id: 'a', at: Instant(1), content: Buffer.from('x') });
  release?.();
  expect(await remote.reserve(alice, 'd', 9)).not.toBeNull();
  expect(done).toEqual(['shrink a 5', 'put a x', 'release a']);
  expect([...reserved]).toEqual(['b', 'd']);
});

test('room for responses that a worker has is given back when it is gone, and it gets none after that', async () => {
  const { reserved, remote, service } = world();
  await remote.reserve(alice, 'a', 9);
  service.end();
  expect(reserved.size).toBe(0);
  await remote.reserve(alice, 'b', 9);
  expect(reserved.size).toBe(0);
});
