import { describe, expect, test } from 'vitest';
import { ApiKeyId } from '../../src/domain/kernel/ids.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import {
  allApiKeysOf,
  apiKeyByHash,
  apiKeyById,
  apiKeyPage,
  apiKeyPageOf,
} from '../../src/projections/models/api-keys.js';
import { apiKeyTerms as terms } from '../support/given/api-key-terms.js';
import {
  alice,
  aliceKey,
  at,
  bob,
  bobKey,
  issued,
  ofApiKey,
  refunded,
  released,
  reserved,
  seconds,
  settled,
  when,
} from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'emptied',
  'dense',
);

describe('an issued API key', () => {
  const limited = { modelLimitsEnabled: true, modelLimits: ['gpt-4o', 'a,b'], allowIps: ['10.0.0.0/8'], group: 'vip' };

  test('is listed with its terms and its quota', async () => {
    const expiresAt = at(3_600);
    const db = await projected.given(issued(aliceKey, alice, 500, { ...limited, expiresAt }));
    const row = await apiKeyById(db, aliceKey);
    expect(row).toEqual({
      id: aliceKey,
      owner_id: alice,
      key_hash: 'hash of key 12',
      secret: 'key 12',
      name: 'ci',
      status: 'enabled',
      expires_at: seconds(expiresAt),
      unlimited: false,
      remain_quota: 500,
      used_quota: 0,
      model_limits_enabled: true,
      model_limits: ['gpt-4o', 'a,b'],
      allow_ips: ['10.0.0.0/8'],
      group: 'vip',
      budget: null,
      model_aliases: [],
      created_at: seconds(at()),
      accessed_at: null,
      deleted_at: null,
      position: 0,
    });
  });

  test('follows an edit, the quota by its difference', async () => {
    const budget = { quota: Quota(300), period: 'daily' } as const;
    const modelAliases = [{ name: 'claude-*', model: 'gpt-4o' }];
    const edited = terms({ name: 'renamed', unlimited: true, budget, modelAliases });
    const db = await projected.given(
      issued(aliceKey, alice, 500, limited),
      reserved('a', 100),
      settled('a', 100, 100),
      ofApiKey(aliceKey, { type: 'ApiKeyEdited', owner: alice, quotaDelta: Quota(-150), terms: edited }),
    );
    expect(await apiKeyById(db, aliceKey)).toMatchObject({
      name: 'renamed',
      unlimited: true,
      budget,
      model_aliases: modelAliases,
      expires_at: null,
      model_limits: [],
      group: '',
      remain_quota: 250,
      used_quota: 100,
    });
  });

  test.each([
    ['manual', 'disabled'],
    ['expired', 'expired'],
    ['exhausted', 'exhausted'],
  ] as const)('is disabled (%s) and enabled again', async (cause, status) => {
    const db = await projected.given(
      issued(aliceKey, alice, 500),
      ofApiKey(aliceKey, { type: 'ApiKeyDisabled', owner: alice, cause }),
    );
    expect(await apiKeyById(db, aliceKey)).toMatchObject({ status });
    await projected.given(ofApiKey(aliceKey, { type: 'ApiKeyEnabled', owner: alice }));
    expect(await apiKeyById(db, aliceKey)).toMatchObject({ status: 'enabled' });
  });

  test('can only be found by its hash once it is deleted', async () => {
    const db = await projected.given(
      issued(aliceKey, alice, 500),
      when(at(9), ofApiKey(aliceKey, { type: 'ApiKeyDeleted', owner: alice })),
    );
    expect(await apiKeyById(db, aliceKey)).toBeUndefined();
    expect(await allApiKeysOf(db, alice)).toEqual([]);
    expect(await apiKeyByHash(db, 'hash of key 12')).toMatchObject({ id: aliceKey, deleted_at: seconds(at(9)) });
  });

  test('may have any valid name', async () => {
    const db = await projected.given(issued(aliceKey, alice, 1, { name: 'a\0b\ud800c\\u0000 😀' }));
    expect(await apiKeyById(db, aliceKey)).toMatchObject({ name: 'a\ufffdb\ufffdc\\u0000 😀' });
  });
});

describe('the remaining quota of an API key', () => {
  test('is reduced by the reservation, and then by the charge', async () => {
    const db = await projected.given(issued(aliceKey, alice, 500), reserved('a', 300));
    expect(await apiKeyById(db, aliceKey)).toMatchObject({ remain_quota: 200, used_quota: 300, accessed_at: null });
    await projected.given(when(at(70), settled('a', 300, 120)));
    expect(await apiKeyById(db, aliceKey)).toMatchObject({
      remain_quota: 380,
      used_quota: 120,
      accessed_at: seconds(at(70)),
    });
  });

  test('is restored by a release', async () => {
    const db = await projected.given(issued(aliceKey, alice, 500), reserved('a', 300), released('a', 300));
    expect(await apiKeyById(db, aliceKey)).toMatchObject({ remain_quota: 500, used_quota: 0, accessed_at: null });
  });

  test('is restored by a refund', async () => {
    const history = [issued(aliceKey, alice, 500), reserved('a', 300), settled('a', 300, 120), refunded('a', 120)];
    expect(await apiKeyById(await projected.given(...history), aliceKey)).toMatchObject({
      remain_quota: 500,
      used_quota: 0,
    });
  });

  test('is counted for unlimited keys too', async () => {
    const db = await projected.given(
      issued(aliceKey, alice, 0, { unlimited: true }),
      reserved('a', 300),
      settled('a', 300, 120),
    );
    expect(await apiKeyById(db, aliceKey)).toMatchObject({ remain_quota: -120, used_quota: 120 });
  });

  test('does not change for a call without a key', async () => {
    const facts = { apiKeyId: null, apiKeyName: 'playground-default' };
    const db = await projected.given(
      issued(aliceKey, alice, 500),
      reserved('a', 300, { facts }),
      settled('a', 300, 120, { facts }),
    );
    expect(await apiKeyById(db, aliceKey)).toMatchObject({ remain_quota: 500 });
  });
});

describe('lists of API keys', () => {
  const thirdKey = ApiKeyId(14);
  const keys = [
    issued(aliceKey, alice, 1),
    issued(bobKey, bob, 1, { name: '50%_off', group: 'vip' }),
    issued(thirdKey, alice, 1, { name: 'laptop' }),
    ofApiKey(thirdKey, { type: 'ApiKeyDisabled', owner: alice, cause: 'expired' }),
  ];

  test('show an owner its own, newest first, in pages', async () => {
    const db = await projected.given(...keys);
    expect((await allApiKeysOf(db, alice)).map(({ id }) => id)).toEqual([thirdKey, aliceKey]);
    const page = await apiKeyPageOf(db, alice, { page: 2, size: 1 });
    expect(page.items.map(({ id }) => id)).toEqual([aliceKey]);
    expect(await page.count()).toBe(2);
  });

  test.each([
    ['everything', {}, [thirdKey, bobKey, aliceKey]],
    ['one owner', { ownerId: bob }, [bobKey]],
    ['one status', { status: 'expired' }, [thirdKey]],
    ['part of a name, taken literally', { name: '%_' }, [bobKey]],
    ['one key', { keyHash: 'hash of key 12' }, [aliceKey]],
    ['one group', { group: 'vip' }, [bobKey]],
  ] as const)('show an administrator %s', async (_, filter, found) => {
    const db = await projected.given(...keys);
    const { items, count } = await apiKeyPage(db, { page: 1, size: 10 }, filter);
    expect(items.map(({ id }) => id)).toEqual(found);
    expect(await count()).toBe(found.length);
  });
});
