import { beforeEach, describe, expect, test } from 'vitest';
import { idempotencyMark } from '../../src/application/idempotency.js';
import type { AppendResult, ExpectedRevision } from '../../src/application/ports/storage-ports.js';
import {
  type DomainEvent,
  type NewEvent,
  type StreamName,
  streamKey,
  streams,
} from '../../src/domain/events/events.js';
import { Failure } from '../../src/domain/kernel/failure.js';
import { UserId } from '../../src/domain/kernel/ids.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import { newUser, userPatch } from '../support/given/user-inputs.js';
import { MemoryPendingIdempotencyKeys } from '../support/memory/fake-ports.js';
import { admin, type MemoryNode, openMemoryNode, ordinary, root, TestStore } from '../support/memory/memory-node.js';
import { refusal } from '../support/refusal.js';

/*
 * A log that takes an append and does not say so: the statement commits when it likes, after the caller was answered.
 */

class SilentStore extends TestStore {
  private late: { events: readonly NewEvent[]; append: () => Promise<AppendResult> }[] = [];
  silent = false;

  override async append(
    stream: StreamName,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendResult> {
    if (!this.silent || !events.some(({ event }) => /Quota|ApiKey|UserRegistered/.test(event.type)))
      return super.append(stream, events, expected);
    this.late.push({ events, append: () => super.append(stream, events, expected) });
    throw new Failure('store-unavailable');
  }

  /** What was under way commits now, or is lost. */
  async commitLate(commits: (event: DomainEvent) => boolean = () => true): Promise<void> {
    for (const { events, append } of this.late.splice(0))
      if (events.every(({ event }) => commits(event))) await append();
  }
}

let store: SilentStore;
let node: MemoryNode;
let alice: UserId;
beforeEach(async () => {
  store = new SilentStore();
  node = await openMemoryNode(store);
  alice = (await node.users.create(root, newUser())).id;
  await node.caughtUp();
});

const adjustments = async (): Promise<number[]> =>
  (await node.eventsOf(streams.user(alice))).flatMap((event) => (event.type === 'QuotaAdjusted' ? [event.delta] : []));

describe('a command with an unknown outcome', () => {
  test('is answered as unknown, with the idempotency key for a repeat', async () => {
    store.silent = true;
    await expect(node.users.adjustQuota(root, alice, { delta: 100 }, 'form-1')).rejects.toThrow(
      refusal('outcome-unknown', { key: 'form-1' }),
    );
  });

  test.each([
    ['before the repeat', async () => store.commitLate(), async () => {}],
    ['after the repeat', async () => {}, async () => store.commitLate()],
  ])('is carried out once when the first attempt commits %s', async (_, before, after) => {
    store.silent = true;
    const give = (key: string | null) => node.users.adjustQuota(root, alice, { delta: 100 }, key);
    await expect(give('form-1')).rejects.toThrow(refusal('outcome-unknown'));
    store.silent = false;
    await before();
    await give('form-1');
    await after();
    expect(await adjustments()).toEqual([100]);
  });

  test('is recognised by its content when the client sends no idempotency key', async () => {
    store.silent = true;
    const give = () => node.users.adjustQuota(root, alice, { delta: 100 });
    await expect(give()).rejects.toThrow(refusal('outcome-unknown'));
    await store.commitLate();
    store.silent = false;
    await give();
    expect(await adjustments()).toEqual([100]);
    // Its outcome is known now: the same again is another order.
    await give();
    expect(await adjustments()).toEqual([100, 100]);
  });

  test('is recognised by its content after a restart, whether it had been carried out or not', async () => {
    const notes = new MemoryPendingIdempotencyKeys();
    const started = () => openMemoryNode(store, node.ids, node.vault, notes);
    const give = async (delta: number) => (await started()).users.adjustQuota(root, alice, { delta });
    // The process dies while it waits for the log, which takes the first order and not the second.
    store.silent = true;
    for (const delta of [100, 30]) await expect(give(delta)).rejects.toThrow(refusal('outcome-unknown'));
    await store.commitLate((event) => event.type === 'QuotaAdjusted' && event.delta === 100);
    store.silent = false;
    for (const delta of [100, 30]) await give(delta);
    expect(await adjustments()).toEqual([100, 30]);
    // Their outcomes are known now, to later processes too.
    await give(100);
    expect(await adjustments()).toEqual([100, 30, 100]);
  });

  test('is not treated as a repeat when it comes so late that its outcome is known by other means', async () => {
    store.silent = true;
    const give = () => node.users.adjustQuota(root, alice, { delta: 100 });
    await expect(give()).rejects.toThrow(refusal('outcome-unknown'));
    await store.commitLate();
    store.silent = false;
    node.clock.advance(61 * 60_000);
    await give();
    expect(await adjustments()).toEqual([100, 100]);
  });

  test('is distinct for another user, or for another amount', async () => {
    store.silent = true;
    await expect(node.users.adjustQuota(root, alice, { delta: 100 })).rejects.toThrow(refusal('outcome-unknown'));
    store.silent = false;
    await node.users.adjustQuota(admin, alice, { delta: 100 });
    await node.users.adjustQuota(root, alice, { delta: 99 });
    await store.commitLate();
    expect(await adjustments()).toEqual([100, 99]);
  });

  test('with other content under the same idempotency key is refused, whichever commits first', async () => {
    await node.users.adjustQuota(root, alice, { delta: 100 }, 'form-1');
    await expect(node.users.adjustQuota(root, alice, { delta: 50 }, 'form-1')).rejects.toThrow(
      refusal('idempotency-key-reused'),
    );
    await expect(node.users.edit(root, alice, userPatch({ quota: 50 }), { key: 'form-1' })).rejects.toThrow(
      refusal('idempotency-key-reused'),
    );
    expect(await adjustments()).toEqual([100]);
  });

  test('is resolved by reading the stream when it has happened', async () => {
    const lost = store.append.bind(store);
    store.append = async (stream, events, expected) => {
      await lost(stream, events, expected);
      throw new Failure('store-unavailable');
    };
    await node.users.adjustQuota(root, alice, { delta: 100 });
    await node.users.adjustQuota(root, alice, { delta: 100 });
    expect(await adjustments()).toEqual([100, 100]);
  });
});

describe('a command that creates something', () => {
  test('creates it once: each repeat returns the same API key', async () => {
    store.silent = true;
    const issue = () => node.apiKeys.issue(ordinary, { terms: apiKeyTerms(), quota: 70 }, 'new-key');
    await expect(issue()).rejects.toThrow(refusal('outcome-unknown'));
    store.silent = false;
    await store.commitLate();
    const [first, second] = [await issue(), await issue()];
    expect(second).toEqual(first);
    const issued = (await store.everything()).filter(({ event }) => event.type === 'ApiKeyIssued');
    expect(issued.map(({ stream }) => streamKey(stream))).toEqual([String(first.id)]);
    expect(
      await node.vault.get(issued[0]?.event.type === 'ApiKeyIssued' ? issued[0].event.secret : (first.key as never)),
    ).toBe(first.key);
  });

  test('twice at once creates one', async () => {
    const issue = () => node.apiKeys.issue(ordinary, { terms: apiKeyTerms(), quota: 70 }, 'new-key');
    const [first, second] = await Promise.all([issue(), issue()]);
    expect(second).toEqual(first);
  });

  test('creates the user once, with one grant and the requested name', async () => {
    store.silent = true;
    const create = () => node.users.create(admin, newUser({ username: 'bob' }));
    await expect(create()).rejects.toThrow(refusal('outcome-unknown'));
    await store.commitLate();
    store.silent = false;
    const { id } = await create();
    const made = (await store.everything()).filter(({ event }) => event.type === 'UserRegistered');
    expect(made.map(({ stream }) => streamKey(stream))).toEqual([String(alice), String(id)]);
  });

  test.each(['new-user', null])('does not appear to set another password (key %j)', async (key) => {
    store.silent = true;
    const create = (password: string) => node.users.create(admin, newUser({ username: 'bob', password }), key);
    await expect(create('first-password')).rejects.toThrow(refusal('outcome-unknown'));
    await store.commitLate();
    store.silent = false;
    await expect(create('second-password')).rejects.toThrow(refusal('idempotency-key-reused'));
  });
});

test('an edit adds the difference to what the form showed, whatever was spent meanwhile', async () => {
  await node.users.adjustQuota(root, alice, { delta: 1_000 });
  await node.caughtUp();
  const before = await node.gate.available(alice);
  await node.users.adjustQuota(root, alice, { delta: -300 });
  await node.users.edit(root, alice, { ...userPatch({ quota: before }), shownQuota: before });
  await node.users.edit(root, alice, { ...userPatch({ quota: before + 5 }), shownQuota: before });
  expect((await adjustments()).slice(-2)).toEqual([-300, 5]);
});

test('an idempotency mark names the command, the stream, the position and the content', () => {
  const mark = idempotencyMark(UserId(1), 'key', streams.user(UserId(2)), 'asked');
  const ids = [
    mark.eventId(0),
    mark.eventId(1),
    idempotencyMark(UserId(1), 'key', streams.user(UserId(2)), 'other').eventId(0),
    idempotencyMark(UserId(3), 'key', streams.user(UserId(2)), 'asked').eventId(0),
    idempotencyMark(UserId(1), 'key', streams.user(UserId(3)), 'asked').eventId(0),
    idempotencyMark(UserId(1), 'another', streams.user(UserId(2)), 'asked').eventId(0),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.map((id) => mark.isOf(id))).toEqual([true, true, true, false, false, false]);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
});
