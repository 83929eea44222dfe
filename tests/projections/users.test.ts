import { describe, expect, test } from 'vitest';
import { IdentityClaim, SecretId, UserId } from '../../src/domain/kernel/ids.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import { schemaOf } from '../../src/projections/engine/projection.js';
import {
  rootUserId,
  userByAccessTokenHash,
  userByEmail,
  userById,
  userByUsername,
  userPage,
  usersById,
} from '../../src/projections/models/user-queries.js';
import { users } from '../../src/projections/models/users.js';
import {
  adjusted,
  alice,
  at,
  bob,
  emailed,
  granted,
  linked,
  ofUser,
  refunded,
  registered,
  released,
  reserved,
  rewarded,
  root,
  sealed,
  seconds,
  settled,
  transferred,
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

describe('a registered user in the read model', () => {
  test('is listed as registered, with encrypted personal data', async () => {
    const db = await projected.given(
      registered(alice, 'alice', { group: 'vip', inviter: bob }),
      emailed(alice, 'alice@example.org'),
      linked(alice, 'github', 'alice-hub'),
    );
    expect(await userById(db, alice)).toEqual({
      id: alice,
      username: 'alice',
      display_name: sealed('alice the user'),
      email: sealed('alice@example.org'),
      github: sealed('alice-hub'),
      oidc: null,
      linuxdo: null,
      wechat: null,
      telegram: null,
      role: 'ordinary',
      status: 'enabled',
      group: 'vip',
      quota: 0,
      used_quota: 0,
      request_count: 0,
      password_secret: 'password of alice',
      access_token_hash: null,
      settings: null,
      webhook_secret: null,
      accept_unpriced_models: false,
      quota_warning_threshold: null,
      inviter_id: bob,
      invite_code: null,
      invited_count: 0,
      rewarded_count: 0,
      invite_quota: 0,
      invite_quota_ever: 0,
      created_at: seconds(at()),
      deleted_at: null,
      erased: false,
      position: 2,
    });
  });

  test('that has invited others is listed with their number and the rewards', async () => {
    const carol = UserId(9);
    const db = await projected.given(
      registered(alice, 'alice'),
      registered(bob, 'bob', { inviter: alice }),
      ofUser(bob, { type: 'InviteRewardPromised', inviter: alice, quota: Quota(50) }),
      rewarded(alice, 50, bob),
    );
    // Nothing was promised for this one.
    await projected.given(registered(carol, 'carol', { inviter: alice }), transferred(alice, 20));
    expect(await userById(db, alice)).toMatchObject({
      invited_count: 2,
      rewarded_count: 1,
      invite_quota: 30,
      invite_quota_ever: 50,
      quota: 20,
      used_quota: 0,
    });
    expect(await userById(db, bob)).toMatchObject({ inviter_id: alice, invited_count: 0, quota: 0 });
  });

  test('follows every change', async () => {
    const db = await projected.given(
      registered(alice, 'alice'),
      ofUser(alice, {
        type: 'UserProfileChanged',
        username: 'alicia',
        displayName: sealed('Alicia'),
      }),
      emailed(alice, 'a@example.org'),
      linked(alice, 'github', 'alice-hub'),
      linked(alice, 'oidc', 'sub'),
      ofUser(alice, { type: 'IdentityUnlinked', provider: 'github' }),
      ofUser(alice, { type: 'UserGroupChanged', group: 'vip', by: root }),
      ofUser(alice, { type: 'UserRoleChanged', role: 'admin', by: root }),
      ofUser(alice, { type: 'UserDisabled', by: root }),
      ofUser(alice, { type: 'PasswordChanged', passwordSecret: SecretId('new password') }),
      ofUser(alice, { type: 'AccessTokenIssued', tokenHash: 'hash of token' }),
      ofUser(alice, {
        type: 'UserSettingsChanged',
        settings: sealed('{"notify_type":"webhook"}'),
        webhookSecret: SecretId('webhook'),
        acceptUnpricedModels: true,
        quotaWarningThreshold: 0.5,
      }),
    );
    expect(await userById(db, alice)).toMatchObject({
      username: 'alicia',
      display_name: sealed('Alicia'),
      email: sealed('a@example.org'),
      github: null,
      oidc: sealed('sub'),
      group: 'vip',
      role: 'admin',
      status: 'disabled',
      password_secret: 'new password',
      access_token_hash: 'hash of token',
      settings: sealed('{"notify_type":"webhook"}'),
      webhook_secret: 'webhook',
      accept_unpriced_models: true,
      quota_warning_threshold: 0.5,
      position: 11,
    });
    await projected.given(ofUser(alice, { type: 'UserEnabled', by: root }));
    expect(await userById(db, alice)).toMatchObject({ status: 'enabled', display_name: sealed('Alicia') });
  });

  test('keeps what a later profile change omits', async () => {
    const db = await projected.given(registered(alice, 'alice'), emailed(alice, 'a@example.org'));
    await projected.given(ofUser(alice, { type: 'UserProfileChanged', username: null, displayName: sealed('A') }));
    expect(await userById(db, alice)).toMatchObject({
      username: 'alice',
      display_name: sealed('A'),
      email: sealed('a@example.org'),
      password_secret: 'password of alice',
    });
  });
});

describe('personal data in the read model', () => {
  test('is stored only encrypted, whatever it is found by', async () => {
    await projected.given(
      registered(alice, 'alice', { displayName: sealed('Zaphod Beeblebrox') }),
      ofUser(alice, {
        type: 'EmailChanged',
        email: { claim: IdentityClaim('keyed hash'), shown: sealed('zaphod@heart.example') },
      }),
      linked(alice, 'github', 'zaphod-hub'),
    );
    const rows = Object.values(await projected.dump(schemaOf(users))).flat();
    const unsealed = rows.join('\n').replaceAll(/sealed [^"]*/g, '');
    for (const part of ['Zaphod', 'zaphod', 'Beeble', 'beeble', 'heart']) expect(unsealed).not.toContain(part);
  });
});

describe('a deleted user', () => {
  const deleted = ofUser(alice, { type: 'UserDeleted', by: root });

  test('stays, with the time of deletion, and without personal data or secrets', async () => {
    const db = await projected.given(
      registered(alice, 'alice'),
      emailed(alice, 'a@example.org'),
      linked(alice, 'github', 'alice-hub'),
      granted(alice, 100),
      ofUser(alice, { type: 'AccessTokenIssued', tokenHash: 'hash of token' }),
      when(at(60), deleted),
    );
    expect(await userById(db, alice)).toMatchObject({
      username: 'alice',
      display_name: null,
      settings: null,
      password_secret: null,
      access_token_hash: null,
      webhook_secret: null,
      quota: 100,
      deleted_at: seconds(at(60)),
    });
    expect(await userByEmail(db, IdentityClaim('claim of a@example.org'))).toBeUndefined();
    expect((await projected.dump(schemaOf(users))).user_personal).toEqual([]);
    expect(await userByAccessTokenHash(db, 'hash of token')).toBeUndefined();
  });

  test('leaves its name to a live user who has it too', async () => {
    const db = await projected.given(registered(alice, 'alice'), deleted, registered(bob, 'alice'));
    expect(await userByUsername(db, 'alice')).toMatchObject({ id: bob });
    expect(await userByUsername(db, 'Alice')).toBeUndefined();
  });
});

describe('an e-mail address in the read model', () => {
  test('finds its user, until it is changed or removed', async () => {
    const found = async (address: string) => (await userByEmail(db, IdentityClaim(`claim of ${address}`)))?.id;
    const db = await projected.given(registered(alice, 'alice'), emailed(alice, 'a@example.org'));
    expect(await found('a@example.org')).toBe(alice);
    await projected.given(emailed(alice, 'b@example.org'));
    expect(await found('a@example.org')).toBeUndefined();
    expect(await found('b@example.org')).toBe(alice);
    await projected.given(ofUser(alice, { type: 'EmailChanged', email: null }));
    expect(await found('b@example.org')).toBeUndefined();
  });
});

describe('an erased user', () => {
  test('is found by neither id, name nor list, and is shown beside earlier rows as a number', async () => {
    const db = await projected.given(
      registered(alice, 'alice'),
      granted(alice, 100),
      ofUser(alice, { type: 'UserDeleted', by: root }),
      ofUser(alice, { type: 'UserErased', by: root }),
      registered(bob, 'alice'),
    );
    expect(await userById(db, alice)).toBeUndefined();
    expect(await userByUsername(db, 'alice')).toMatchObject({ id: bob });
    const { items, count } = await userPage(db, projected.personalData, { page: 1, size: 10 });
    expect(items.map(({ id }) => id)).toEqual([bob]);
    expect(await count()).toBe(1);
    expect(await usersById(db, [alice])).toMatchObject([{ username: `#${alice}`, quota: 100 }]);
  });
});

describe('the wallet of a user', () => {
  test('contains the spendable quota: reservations of in-flight calls are subtracted', async () => {
    const db = await projected.given(registered(alice, 'alice'), granted(alice, 1_000), reserved('a', 300));
    expect(await userById(db, alice)).toMatchObject({ quota: 700, used_quota: 0, request_count: 0 });
    await projected.given(settled('a', 300, 120));
    expect(await userById(db, alice)).toMatchObject({ quota: 880, used_quota: 120, request_count: 1 });
  });

  test('gets a released reservation back', async () => {
    const db = await projected.given(
      registered(alice, 'alice'),
      granted(alice, 1_000),
      reserved('a', 300),
      released('a', 300),
    );
    expect(await userById(db, alice)).toMatchObject({ quota: 1_000, used_quota: 0, request_count: 0 });
  });

  test('is after a refund the same as without the call', async () => {
    const db = await projected.given(
      registered(alice, 'alice'),
      granted(alice, 1_000),
      reserved('a', 300),
      settled('a', 300, 120),
      refunded('a', 120),
    );
    expect(await userById(db, alice)).toMatchObject({ quota: 1_000, used_quota: 0, request_count: 0 });
  });

  test('becomes negative when a call cost more than the balance', async () => {
    const db = await projected.given(
      registered(alice, 'alice'),
      granted(alice, 100),
      reserved('a', 100),
      settled('a', 100, 140),
    );
    expect(await userById(db, alice)).toMatchObject({ quota: -40, used_quota: 140 });
  });

  test('includes adjustments up and down, with the gift as part of the amount', async () => {
    const db = await projected.given(registered(alice, 'alice'), adjusted(alice, 110, 10), adjusted(alice, -30));
    expect(await userById(db, alice)).toMatchObject({ quota: 80 });
  });

  test('ignores a call that used no tokens', async () => {
    const db = await projected.given(
      registered(alice, 'alice'),
      reserved('a', 10),
      settled('a', 10, 0, { usage: {}, usageSource: 'none' }),
    );
    expect(await userById(db, alice)).toMatchObject({ quota: 0, request_count: 0 });
  });
});

describe('a list of users', () => {
  const people = [
    registered(root, 'root', { role: 'root' }),
    registered(alice, 'alice', { group: 'vip' }),
    emailed(alice, 'wonder@example.org'),
    registered(bob, 'bob_100%', { displayName: sealed('Robert') }),
    granted(root, 5),
    granted(alice, 500),
    granted(bob, 50),
    reserved('a', 1, { facts: { userId: bob } }),
    settled('a', 1, 1, { facts: { userId: bob } }),
  ];
  const all = { page: 1, size: 10 };

  test('is newest first, or sorted by the wallet', async () => {
    const db = await projected.given(...people);
    const ids = async (sort?: Parameters<typeof userPage>[2]['sort']) =>
      (await userPage(db, projected.personalData, { ...all, sort })).items.map(({ id }) => id);
    expect(await ids()).toEqual([bob, alice, root]);
    expect(await ids('quota_desc')).toEqual([alice, bob, root]);
    expect(await ids('quota_asc')).toEqual([root, bob, alice]);
    expect(await ids('used_quota_desc')).toEqual([bob, alice, root]);
    expect(await ids('request_count_asc')).toEqual([alice, root, bob]);
  });

  test('comes in pages with the total', async () => {
    const db = await projected.given(...people);
    const { items, count } = await userPage(db, projected.personalData, { page: 2, size: 2 });
    expect(items.map(({ id }) => id)).toEqual([root]);
    expect(await count()).toBe(3);
  });

  test.each([
    ['part of the user name', 'lic', [alice]],
    ['the beginning of a word of the e-mail address', 'EXAMPLE.o', [alice]],
    ['the e-mail address', 'wonder@example.org', [alice]],
    ['the beginning of a word of the display name', 'rob', [bob]],
    ['no other part of them', 'onder', []],
    ['a numeric id', '8', [bob]],
    ['a percent sign literally', '0%', [bob]],
    ['an underscore literally', 'b_1', [bob]],
    ['nothing for a lone backslash', '\\', []],
  ])('finds users by %s', async (_, keyword, found) => {
    const db = await projected.given(...people);
    expect((await userPage(db, projected.personalData, all, { keyword })).items.map(({ id }) => id)).toEqual(found);
  });

  test('is filtered by group', async () => {
    const db = await projected.given(...people);
    expect((await userPage(db, projected.personalData, all, { group: 'vip' })).items.map(({ id }) => id)).toEqual([
      alice,
    ]);
    const nobody = await userPage(db, projected.personalData, all, { group: 'vip', keyword: 'bob' });
    expect(await nobody.count()).toBe(0);
  });

  test('names the root user', async () => {
    const db = await projected.given();
    expect(await rootUserId(db)).toBeNull();
    await projected.given(...people);
    expect(await rootUserId(db)).toBe(UserId(1));
  });
});
