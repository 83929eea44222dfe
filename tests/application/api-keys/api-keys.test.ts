import { beforeEach, describe, expect, test } from 'vitest';
import type { ApiKeyTerms } from '../../../src/domain/api-key/api-key-terms.js';
import { streams } from '../../../src/domain/events/events.js';
import type { FailureCode } from '../../../src/domain/kernel/failure.js';
import { ApiKeyId, CallId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { apiKeyTerms } from '../../support/given/api-key-terms.js';
import { reserved, settled } from '../../support/given/calls.js';
import { eventId, someInstant } from '../../support/given/events.js';
import { admin, type MemoryNode, openMemoryNode, ordinary } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;

beforeEach(async () => {
  node = await openMemoryNode();
});

async function issued(quota = 500, changed: Partial<ApiKeyTerms> = {}) {
  const { id, key } = await node.apiKeys.issue(ordinary, { terms: apiKeyTerms(changed), quota });
  await node.caughtUp();
  return { id, key };
}

const remaining = async (id: ApiKeyId): Promise<number> => {
  await node.caughtUp();
  return node.gate.remaining(id);
};

describe('issuing an API key', () => {
  test('makes 48 unpredictable letters and digits: no dash, which would begin a channel number', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => issued()));
    for (const { key } of keys) expect(key).toMatch(/^[0-9A-Za-z]{48}$/);
    expect(new Set(keys.map(({ key }) => key)).size).toBe(20);
  });

  test('records its hash and its reference in the vault, its quota and its terms', async () => {
    const { id, key } = await issued(500, { name: 'build' });
    const [event] = await node.eventsOf(streams.apiKey(id));
    expect(event).toMatchObject({
      type: 'ApiKeyIssued',
      owner: ordinary.id,
      keyHash: node.vault.hash(key),
      quota: 500,
      terms: apiKeyTerms({ name: 'build' }),
    });
    expect(event?.type === 'ApiKeyIssued' && (await node.vault.get(event.secret))).toBe(key);
    expect(await remaining(id)).toBe(500);
  });

  test('lets the node find it by its text at once', async () => {
    const { id, key } = await issued();
    expect(await node.directory.apiKey(node.vault.hash(key))).toMatchObject({ id, status: 'enabled' });
  });

  test('accepts any integer quota, a name of 30 bytes, and an empty one', async () => {
    await expect(issued(-5, { name: '' })).resolves.toBeDefined();
    await expect(issued(0, { name: '名'.repeat(10) })).resolves.toBeDefined();
  });

  test.each<[string, Partial<ApiKeyTerms>, FailureCode]>([
    ['a name of 31 bytes', { name: '名'.repeat(10).concat('x') }, 'api-key-name-too-long'],
    [
      'model limits of more than 1024 characters',
      { modelLimits: ['m'.repeat(1_000), 'n'.repeat(24)] },
      'invalid-field',
    ],
  ])('is refused for %s', async (_, changed, code) => {
    await expect(issued(500, changed)).rejects.toThrow(refusal(code));
    expect(await node.store.everything()).toStrictEqual([]);
  });

  test('is refused for a quota beyond the integer range', async () => {
    for (const quota of [Number.NaN, 0.5, 2 ** 53, Number.POSITIVE_INFINITY])
      await expect(issued(quota)).rejects.toThrow(refusal('quota-out-of-range'));
    expect(await node.store.everything()).toStrictEqual([]);
  });
});

describe('editing an API key', () => {
  test('writes its terms and its remaining quota; later charges are added', async () => {
    const { id } = await issued(500);
    await node.apiKeys.edit(ordinary, id, { terms: apiKeyTerms({ name: 'build' }), quota: 200 });
    expect((await node.eventsOf(streams.apiKey(id))).at(-1)).toStrictEqual({
      type: 'ApiKeyEdited',
      owner: ordinary.id,
      quotaDelta: -300,
      terms: apiKeyTerms({ name: 'build' }),
    });
    expect(await remaining(id)).toBe(200);
  });

  test('sets the remaining quota after reservations: the settlement of an in-flight call changes it by the difference', async () => {
    const { id } = await issued(500);
    const call = streams.call(CallId('c1'));
    const parties = { userId: ordinary.id, apiKeyId: id, quota: 100 };
    await node.store.append(call, [{ id: eventId(1), at: someInstant, event: reserved(parties) }], 'no-stream');
    expect(await remaining(id)).toBe(400);

    await node.apiKeys.edit(ordinary, id, { terms: apiKeyTerms(), quota: 1_000 });
    expect(await remaining(id)).toBe(1_000);
    await node.store.append(
      call,
      [{ id: eventId(2), at: someInstant, event: settled({ ...parties, charged: 30 }) }],
      0,
    );
    expect(await remaining(id)).toBe(1_070);
  });

  test('to the same remaining quota twice, faster than the memory of the node, has the effect of one', async () => {
    const { id } = await issued(100);
    node.store.hold();
    const edits = [1, 2, 3].map(() => node.apiKeys.edit(ordinary, id, { terms: apiKeyTerms(), quota: 500 }));
    await node.store.head();
    node.store.letGo();
    await Promise.all(edits);
    expect(await remaining(id)).toBe(500);
  });

  test('leaves room for the release of in-flight calls: no owner can exceed the integer range', async () => {
    const max = (Number.MAX_SAFE_INTEGER - 1) / 2;
    const { id } = await issued(100);
    await expect(node.apiKeys.edit(ordinary, id, { terms: apiKeyTerms(), quota: max })).resolves.toBeDefined();
    for (const quota of [max + 1, -max - 1, Number.MAX_SAFE_INTEGER])
      await expect(node.apiKeys.edit(ordinary, id, { terms: apiKeyTerms(), quota })).rejects.toThrow(
        refusal('quota-out-of-range'),
      );
  });

  test('is refused for invalid terms or an invalid quota', async () => {
    const { id } = await issued();
    const edit = (quota: number, changed: Partial<ApiKeyTerms>) =>
      node.apiKeys.edit(ordinary, id, { terms: apiKeyTerms(changed), quota });
    await expect(edit(5, { name: 'n'.repeat(31) })).rejects.toThrow(refusal('api-key-name-too-long'));
    await expect(edit(Number.NaN, {})).rejects.toThrow(refusal('quota-out-of-range'));
  });
});

describe('the status of an API key', () => {
  test('is switched by its owner', async () => {
    const { id, key } = await issued();
    const hash = node.vault.hash(key);
    await node.apiKeys.setStatus(ordinary, id, 'manual');
    await node.caughtUp();
    expect(await node.directory.apiKey(hash)).toMatchObject({ status: 'manual' });
    await node.apiKeys.setStatus(ordinary, id, 'enabled');
    await node.caughtUp();
    expect(await node.directory.apiKey(hash)).toMatchObject({ status: 'enabled' });
  });

  test('stays exhausted while no quota remains, and can be enabled as soon as some does', async () => {
    const { id } = await issued(0);
    await node.apiKeys.setStatus(ordinary, id, 'exhausted');
    await expect(node.apiKeys.setStatus(ordinary, id, 'enabled')).rejects.toThrow(refusal('api-key-exhausted-enable'));

    node.store.hold();
    await node.apiKeys.edit(ordinary, id, { terms: apiKeyTerms(), quota: 5 });
    const enabling = node.apiKeys.setStatus(ordinary, id, 'enabled');
    node.store.letGo();
    await expect(enabling).resolves.toBeDefined();
  });

  test('stays expired until the expiry is changed', async () => {
    const { id } = await issued(500, { expiresAt: Instant(someInstant + 1_000) });
    node.clock.advance(1_000);
    await node.apiKeys.setStatus(ordinary, id, 'expired');
    await expect(node.apiKeys.setStatus(ordinary, id, 'enabled')).rejects.toThrow(refusal('api-key-expired-enable'));
    await node.apiKeys.edit(ordinary, id, { terms: apiKeyTerms(), quota: 500 });
    await expect(node.apiKeys.setStatus(ordinary, id, 'enabled')).resolves.toBeDefined();
  });

  test('can be checked before anything is changed', async () => {
    const { id } = await issued(0);
    await node.apiKeys.setStatus(ordinary, id, 'exhausted');
    const before = await node.store.head();
    await expect(node.apiKeys.checkEnable(ordinary, id)).rejects.toThrow(refusal('api-key-exhausted-enable'));
    await node.apiKeys.setStatus(ordinary, id, 'manual');
    await expect(node.apiKeys.checkEnable(ordinary, id)).resolves.toBeUndefined();
    expect(await node.store.readAll(before, 10)).toHaveLength(1);
  });
});

describe('removing an API key', () => {
  test('ends it', async () => {
    const { id, key } = await issued();
    await node.apiKeys.remove(ordinary, id);
    await node.caughtUp();
    expect(await node.directory.apiKey(node.vault.hash(key))).toBeNull();
    await expect(node.apiKeys.remove(ordinary, id)).rejects.toThrow(refusal('api-key-not-found'));
  });
});

test("another user's API key is treated as missing, for an admin too", async () => {
  const { id } = await issued();
  const before = await node.store.head();
  const input = { terms: apiKeyTerms(), quota: 5 };
  await expect(node.apiKeys.edit(admin, id, input)).rejects.toThrow(refusal('api-key-not-found'));
  await expect(node.apiKeys.setStatus(admin, id, 'manual')).rejects.toThrow(refusal('api-key-not-found'));
  await expect(node.apiKeys.setStatus(admin, id, 'enabled')).rejects.toThrow(refusal('api-key-not-found'));
  await expect(node.apiKeys.checkEnable(admin, id)).rejects.toThrow(refusal('api-key-not-found'));
  await expect(node.apiKeys.remove(admin, id)).rejects.toThrow(refusal('api-key-not-found'));
  await expect(node.apiKeys.edit(ordinary, ApiKeyId(99), input)).rejects.toThrow(refusal('api-key-not-found'));
  expect(await node.store.head()).toBe(before);
  expect(await node.gate.remaining(id)).toBe(Quota(500));
});
