import { beforeEach, describe, expect, test } from 'vitest';
import type { StoredResponse, StoredResponseRows } from '../../src/application/ports/stored-response-ports.js';
import { QueuedStoredResponses } from '../../src/application/responses/stored-responses.js';
import { UserId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { settableClock } from '../support/given/fixed-clock.js';
import { until } from '../support/until.js';

/* The queue in front of the table, over rows in memory. */

const alice = UserId(1);
const bob = UserId(2);
const mebibyte = 1024 * 1024;
const now = Instant(Date.UTC(2026, 10, 28));

let stored: Map<string, StoredResponse>;
let purged: (readonly [before: Instant, maxBytes: number])[];
let warned: string[];
/** Ids that no process is to write any more. */
let keptOut: string[];
let settings: { storesResponses: boolean; storedResponseDays: number; storedResponseMegabytes: number };
/** Resolves what waits to be written; null: nothing is held up. */
let gate: Promise<void> | null;
let broken: boolean;
/** Resolves what is being purged; null: nothing is held up. */
let purging: Promise<void> | null;
let queue: QueuedStoredResponses;

const rows: StoredResponseRows = {
  async add(responses) {
    await gate;
    if (broken) throw new Error('no database');
    for (const response of responses) stored.set(response.id, response);
  },
  async get(user, id, since) {
    const response = stored.get(id);
    return response !== undefined && response.userId === user && response.at >= since ? response.content : null;
  },
  remove: async (user, id) => stored.get(id)?.userId === user && stored.delete(id),
  async keepOut(_user, id) {
    keptOut.push(id);
    return stored.delete(id);
  },
  async removeAll(user) {
    const of = [...stored.values()].filter(({ userId }) => userId === user);
    for (const { id } of of) stored.delete(id);
    return of.length;
  },
  count: async (user) => [...stored.values()].filter(({ userId }) => userId === user).length,
  async purge(before, maxBytes) {
    purged.push([before, maxBytes]);
    await purging;
    return { removed: 0, bytes: 0 };
  },
};

const response = (userId: UserId, id: string, bytes = 10): StoredResponse => ({
  ...{ userId, id, at: now },
  content: Buffer.alloc(bytes, id),
});
const written = (count: number) => until(async () => (stored.size === count ? true : null), 10_000);

beforeEach(() => {
  stored = new Map();
  purged = [];
  warned = [];
  keptOut = [];
  settings = { storesResponses: true, storedResponseDays: 7, storedResponseMegabytes: 16 };
  gate = null;
  broken = false;
  purging = null;
  queue = new QueuedStoredResponses({
    ...{ rows, settings: () => settings, clock: settableClock(now) },
    warn: (_facts, message) => void warned.push(message),
  });
});

function heldUp(): () => void {
  let open = () => {};
  gate = new Promise((resolve) => {
    open = resolve;
  });
  return open;
}

describe('a response that is queued', () => {
  test('is found at once by its user alone, and written later', async () => {
    const open = heldUp();
    queue.put(response(alice, 'one'));
    expect(await queue.find(alice, 'one')).toEqual(Buffer.alloc(10, 'one'));
    expect([await queue.find(bob, 'one'), stored.size]).toEqual([null, 0]);
    open();
    await written(1);
    expect([stored.has('one'), (await queue.find(alice, 'one')) !== null]).toEqual([true, true]);
  });

  test('is gone for good when it is deleted, even while it is being written', async () => {
    const open = heldUp();
    queue.put(response(alice, 'one'));
    queue.put(response(alice, 'two'));
    queue.put(response(bob, 'three'));
    await new Promise(setImmediate);
    const removing = queue.remove(alice, 'one');
    expect(await queue.remove(bob, 'two')).toBe(false);
    const removingAll = queue.removeAll(alice);
    open();
    expect([await removing, await removingAll]).toEqual([true, 1]);
    await written(1);
    expect([...stored.keys()]).toEqual(['three']);
  });

  test('is deleted once its own batch is written, however much of others is queued behind that', async () => {
    const open = heldUp();
    queue.put(response(alice, 'one'));
    queue.put(response(alice, 'two'));
    await new Promise(setImmediate);
    const openNext = heldUp();
    queue.put(response(alice, 'three'));
    queue.put(response(alice, 'four'));
    queue.put(response(bob, 'five'));
    expect([await queue.remove(alice, 'three'), stored.size]).toEqual([true, 0]);
    const removing = queue.remove(alice, 'one');
    const removingAll = queue.removeAll(alice);
    open();
    expect([await removing, await removingAll]).toEqual([true, 2]);
    expect(stored.size).toBe(0);
    openNext();
    await written(1);
    expect([...stored.keys()]).toEqual(['five']);
  });

  test('is deleted without waiting for old ones to be looked for', async () => {
    const open = heldUp();
    queue.put(response(alice, 'one', mebibyte));
    await new Promise(setImmediate);
    purging = new Promise(() => {});
    const removing = queue.remove(alice, 'one');
    open();
    expect([await removing, stored.size]).toEqual([true, 0]);
  });

  test('is not taken where nothing is stored, and then none is found and all are purged', async () => {
    queue.put(response(alice, 'one'));
    await written(1);
    settings = { ...settings, storesResponses: false };
    queue.put(response(alice, 'two'));
    expect([await queue.find(alice, 'one'), stored.size, await queue.count(alice)]).toEqual([null, 1, 0]);
    await queue.purge();
    expect(purged.at(-1)?.[0]).toBeGreaterThan(now);
    expect(await queue.remove(alice, 'one')).toBe(true);
  });

  test('is given up, with a warning, when there is no room for it', async () => {
    const open = heldUp();
    for (let nth = 0; nth < 4; nth++) queue.put(response(alice, `large ${nth}`, 5 * mebibyte));
    queue.put(response(bob, 'small'));
    queue.put(response(bob, 'too large', 9 * mebibyte));
    open();
    await written(4);
    expect([...stored.keys()].sort()).toEqual(['large 0', 'large 1', 'large 2', 'small']);
    expect(warned).toHaveLength(2);
  });

  test('has room that was reserved for it, however full it is meanwhile', async () => {
    const open = heldUp();
    const release = queue.reserve(alice, 'reserved', 6 * mebibyte);
    expect(release).not.toBeNull();
    expect(queue.reserve(alice, 'another', 11 * mebibyte)).toBeNull();
    for (let nth = 0; nth < 2; nth++) queue.put(response(alice, `large ${nth}`, 5 * mebibyte));
    queue.put(response(alice, 'not reserved', mebibyte));
    queue.put(response(alice, 'reserved', 7 * mebibyte));
    release?.();
    expect(warned).toHaveLength(1);
    open();
    await written(3);
    expect([...stored.keys()].sort()).toEqual(['large 0', 'large 1', 'reserved']);
    expect(queue.reserve(alice, 'all of it', 16 * mebibyte)).not.toBeNull();
  });

  test('leaves the room that was reserved when it turns out smaller, or when nothing comes of it', () => {
    const release = queue.reserve(alice, 'one', 16 * mebibyte);
    expect(queue.reserve(alice, 'two', mebibyte)).toBeNull();
    queue.shrink('one', 15 * mebibyte);
    queue.shrink('one', 16 * mebibyte);
    const releaseTwo = queue.reserve(alice, 'two', mebibyte);
    expect([releaseTwo === null, queue.reserve(alice, 'three', 1)]).toEqual([false, null]);
    release?.();
    release?.();
    releaseTwo?.();
    queue.shrink('one', 1);
    expect(queue.reserve(alice, 'four', 16 * mebibyte)).not.toBeNull();
    expect(queue.reserve(alice, 'five', 1)).toBeNull();
    expect(queue.reserve(bob, 'six', 16 * mebibyte)).not.toBeNull();
  });

  test('has no room reserved once the process ends', async () => {
    await queue.stop();
    expect(queue.reserve(alice, 'one', 1)).toBeNull();
  });

  test('is kept out of the table by its deletion where another process has it still to write', async () => {
    const idAt = (ms: number) => `resp_${new Date(ms).toISOString().replace(/\D/g, '')}abcdefgh`;
    expect(await queue.remove(alice, idAt(now - 60_000))).toBe(false);
    expect(await queue.remove(alice, idAt(now - 2 * 3_600_000))).toBe(false);
    expect(await queue.remove(alice, 'resp_of_another_kind')).toBe(false);
    expect(keptOut).toEqual([idAt(now - 60_000)]);
    const open = heldUp();
    queue.put(response(alice, idAt(now)));
    const removing = queue.remove(alice, idAt(now));
    open();
    expect(await removing).toBe(true);
    expect(keptOut).toHaveLength(1);
  });

  test('is given up after some tries where it cannot be written, and the process can end meanwhile', async () => {
    broken = true;
    queue.put(response(alice, 'one'));
    const stopping = queue.stop();
    await stopping;
    expect(warned).toEqual(['responses cannot be stored and are given up']);
    queue.put(response(alice, 'two'));
    expect(await queue.find(alice, 'two')).toBeNull();
  });

  test('has old ones looked for when much was added, and by age and size', async () => {
    queue.put(response(alice, 'one', mebibyte));
    await written(1);
    await until(async () => (purged.length > 0 ? true : null), 10_000);
    expect(purged).toEqual([[now - 7 * 86_400_000, 16 * mebibyte]]);
  });
});
