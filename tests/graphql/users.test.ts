import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/gateway/webhook-receiver.js';
import { type GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

let server: GraphqlServer;
let adminUser: TestUser;
let admin: GraphqlClient;
let ordinaryUser: TestUser;
let ordinary: GraphqlClient;

let hooks: WebhookReceiver;

beforeAll(async () => {
  hooks = await startWebhookReceiver();
  server = await startGraphql();
  adminUser = await server.addAdmin('adam');
  admin = await server.as(adminUser);
  ordinaryUser = await server.gateway.addUser(500, 'olga');
  ordinary = await server.as(ordinaryUser);
});
afterAll(async () => {
  await server?.stop();
  await hooks?.stop();
});

const createUser =
  'mutation ($input: NewUserInput!) { createUser(input: $input) { id username displayName role status quota } }';
const manageUser =
  'mutation ($id: ID!, $action: UserAction!) { manageUser(id: $id, action: $action) { id role status displayName deletedAt } }';

describe('the query me', () => {
  test('returns the stored user, with private fields', async () => {
    const { me } = await ordinary.ask(
      '{ me { id username displayName email role status group quota usedQuota requestCount createdAt deletedAt settings { notifyType } } }',
    );
    expect(me).toEqual({
      id: String(ordinaryUser.actor.id),
      username: 'olga',
      displayName: 'olga',
      email: '',
      role: 'ORDINARY',
      status: 'ENABLED',
      group: 'default',
      quota: 500,
      usedQuota: 0,
      requestCount: 0,
      createdAt: expect.any(Number),
      deletedAt: null,
      settings: { notifyType: 'EMAIL' },
    });
  });
  test('returns null without a session', async () => {
    expect(await server.anonymous().ask('{ me { id } }')).toEqual({ me: null });
  });
});

describe('the users over GraphQL', () => {
  test('are created, and listed at once', async () => {
    const input = { username: 'newcomer', password: 'correct-horse', displayName: 'New Comer' };
    const { createUser: created } = await admin.ask(createUser, { input });
    expect(created).toMatchObject({
      username: 'newcomer',
      displayName: 'New Comer',
      role: 'ORDINARY',
      status: 'ENABLED',
      quota: 0,
    });
    const { users } = await admin.ask('{ users(keyword: "newcomer") { total items { id } } }');
    expect(users).toEqual({ total: 1, items: [{ id: created.id }] });
    expect(await admin.ask('query ($id: ID!) { user(id: $id) { username } }', { id: created.id })).toEqual({
      user: { username: 'newcomer' },
    });
  });
  test('have unique names', async () => {
    const input = { username: 'OLGA', password: 'correct-horse' };
    expect(await admin.refusal(createUser, { input })).toMatchObject({ code: 'username-taken', kind: 'conflict' });
  });
  test('are listed by page, sorted, with the total', async () => {
    const query =
      'query ($page: Int!) { users(page: $page, size: 2, sort: QUOTA_DESC) { total items { username quota } } }';
    const { users: first } = await admin.ask(query, { page: 1 });
    const { users: second } = await admin.ask(query, { page: 2 });
    expect(first.items).toHaveLength(2);
    expect(first.items[0]).toEqual({ username: 'root', quota: 100_000_000 });
    expect(first.items[1]).toEqual({ username: 'olga', quota: 500 });
    expect(second.total).toBe(first.total);
    expect(second.items.map(({ username }: { username: string }) => username)).not.toContain('olga');
  });
  test('come at most 100 at once', async () => {
    expect(await admin.refusal('{ users(size: 101) { total } }')).toEqual({
      code: 'invalid-field',
      kind: 'invalid',
      details: { field: 'size', allowed: 'size must not be greater than 100' },
    });
    expect(await admin.refusal('{ users(page: 0) { total } }')).toMatchObject({ details: { field: 'page' } });
  });
  test('keep what an edit does not mention', async () => {
    const { id } = (await server.gateway.addUser(70, 'edited')).actor;
    const edit = `mutation ($id: ID!, $patch: UserPatchInput!) {
      editUser(id: $id, patch: $patch) { username displayName group quota }
    }`;
    expect(await admin.ask(edit, { id, patch: { group: 'vip' } })).toEqual({
      editUser: { username: 'edited', displayName: 'edited', group: 'vip', quota: 70 },
    });
    const patch = { username: 'renamed', quota: 90, shownQuota: 70, displayName: null };
    expect(await admin.ask(edit, { id, patch })).toEqual({
      editUser: { username: 'renamed', displayName: 'edited', group: 'vip', quota: 90 },
    });
  });
  test('get a balance as the difference to what the form showed', async () => {
    const { id } = (await server.gateway.addUser(700, 'spender')).actor;
    const edit = 'mutation ($id: ID!, $patch: UserPatchInput!) { editUser(id: $id, patch: $patch) { quota } }';
    await admin.ask('mutation ($id: ID!) { adjustQuota(id: $id, delta: -200) { quota } }', { id });
    expect(await admin.ask(edit, { id, patch: { quota: 1_000, shownQuota: 700 } })).toEqual({
      editUser: { quota: 800 },
    });
    expect(await admin.refusal(edit, { id, patch: { quota: 5 } })).toMatchObject({
      code: 'invalid-field',
      details: { field: 'patch.shownQuota' },
    });
  });
  test('are credited once however often a form is sent', async () => {
    const { id } = (await server.gateway.addUser(100, 'lucky')).actor;
    const adjust = `mutation ($id: ID!, $delta: Quota!, $key: String) {
      adjustQuota(id: $id, delta: $delta, idempotencyKey: $key) { quota }
    }`;
    const send = (delta: number, key: string) => admin.ask(adjust, { id, delta, key });
    expect(await Promise.all([send(50, 'form-1'), send(50, 'form-1'), send(50, 'form-1')])).toEqual(
      Array(3).fill({ adjustQuota: { quota: 150 } }),
    );
    expect(await send(50, 'form-2')).toEqual({ adjustQuota: { quota: 200 } });
    expect(await admin.refusal(adjust, { id, delta: 60, key: 'form-1' })).toMatchObject({
      code: 'idempotency-key-reused',
    });
    expect(await admin.refusal(adjust, { id, delta: 60, key: 'two words' })).toMatchObject({
      code: 'invalid-field',
      details: { field: 'idempotencyKey', allowed: '1 to 100 visible ASCII characters' },
    });
  });
  test('get quota added, with a gift in addition, or subtracted', async () => {
    const { id } = (await server.gateway.addUser(100, 'adjusted')).actor;
    const adjust =
      'mutation ($id: ID!, $delta: Quota!, $gift: Quota! = 0) { adjustQuota(id: $id, delta: $delta, gift: $gift) { quota } }';
    expect(await admin.ask(adjust, { id, delta: 50, gift: 5 })).toEqual({ adjustQuota: { quota: 155 } });
    expect(await admin.ask(adjust, { id, delta: -200 })).toEqual({ adjustQuota: { quota: -45 } });
  });
  test('are disabled and enabled again', async () => {
    const user = await server.gateway.addUser(0, 'switched');
    const client = await server.as(user);
    const { id } = user.actor;
    expect((await admin.ask(manageUser, { id, action: 'DISABLE' })).manageUser).toMatchObject({ status: 'DISABLED' });
    expect(await client.ask('{ me { id } }'), 'the session is gone with it').toEqual({ me: null });
    expect((await admin.ask(manageUser, { id, action: 'ENABLE' })).manageUser).toMatchObject({ status: 'ENABLED' });
  });
  test('leave no personal data when they are deleted', async () => {
    const { id } = (await server.gateway.addUser(0, 'leaver')).actor;
    expect((await admin.ask(manageUser, { id, action: 'DELETE' })).manageUser).toEqual({
      id: String(id),
      role: 'ORDINARY',
      status: 'ENABLED',
      displayName: '',
      deletedAt: expect.any(Number),
    });
    expect(await admin.refusal('query ($id: ID!) { user(id: $id) { id } }', { id })).toMatchObject({
      code: 'user-not-found',
    });
  });
  test('are promoted and demoted by root only', async () => {
    const { id } = (await server.gateway.addUser(0, 'climber')).actor;
    expect(await admin.refusal(manageUser, { id, action: 'PROMOTE' })).toMatchObject({ code: 'promote-forbidden' });
    expect((await server.root.ask(manageUser, { id, action: 'PROMOTE' })).manageUser).toMatchObject({ role: 'ADMIN' });
    expect(await admin.refusal(manageUser, { id, action: 'DEMOTE' })).toMatchObject({ code: 'peer-update-forbidden' });
    expect((await server.root.ask(manageUser, { id, action: 'DEMOTE' })).manageUser).toMatchObject({
      role: 'ORDINARY',
    });
  });
});

describe('the own settings', () => {
  const change = `mutation ($input: UserSettingsInput!) {
    changeSettings(input: $input) {
      id settings { notifyType quotaWarningThreshold webhookUrl hasWebhookSecret notificationEmail acceptUnpricedModels }
    }
  }`;

  test('are replaced as a whole; the secret is kept and never returned', async () => {
    const input = {
      notifyType: 'WEBHOOK',
      quotaWarningThreshold: 1000,
      webhookUrl: `${hooks.url}/quota`,
      webhookSecret: 'whsec-planted',
      acceptUnpricedModels: true,
    };
    const { text } = await ordinary.send(change, { input });
    expect(text).not.toContain('whsec-planted');
    expect(JSON.parse(text).data.changeSettings.settings).toEqual({
      notifyType: 'WEBHOOK',
      quotaWarningThreshold: 1000,
      webhookUrl: `${hooks.url}/quota`,
      hasWebhookSecret: true,
      notificationEmail: '',
      acceptUnpricedModels: true,
    });
    const { changeSettings } = await ordinary.ask(change, { input: { quotaWarningThreshold: 5 } });
    expect(changeSettings.settings).toMatchObject({ notifyType: 'EMAIL', webhookUrl: '', hasWebhookSecret: false });
  });
  test('are refused with the reason', async () => {
    const input = { notifyType: 'WEBHOOK', quotaWarningThreshold: 1, webhookUrl: 'ftp://hooks.example' };
    expect(await ordinary.refusal(change, { input })).toMatchObject({ code: 'webhook-url-invalid', kind: 'invalid' });
  });
  test('are not visible to others, not even to an administrator', async () => {
    const query = 'query ($id: ID!) { user(id: $id) { username settings { notifyType } } }';
    expect(await admin.ask(query, { id: ordinaryUser.actor.id })).toEqual({
      user: { username: 'olga', settings: null },
    });
  });
  test('and the profile are changed by their user', async () => {
    const profile =
      'mutation ($patch: ProfilePatchInput!, $stepUp: String) { changeOwnProfile(patch: $patch, stepUp: $stepUp) { username displayName } }';
    expect(await ordinary.ask(profile, { patch: { displayName: 'Olga O.' } })).toEqual({
      changeOwnProfile: { username: 'olga', displayName: 'Olga O.' },
    });
    expect(await ordinary.refusal(profile, { patch: { password: 'short' } })).toEqual({
      code: 'password-length',
      kind: 'invalid',
      details: { field: 'password', min: 8, max: 20 },
    });
  });
});

describe('the wallet over GraphQL', () => {
  test('contains the spendable quota', async () => {
    expect(await ordinary.ask('{ balance { userId available usedQuota requestCount } }')).toEqual({
      balance: { userId: String(ordinaryUser.actor.id), available: 500, usedQuota: 0, requestCount: 0 },
    });
  });
});

describe('closing an account', () => {
  const erase = 'mutation ($id: ID!) { eraseUser(id: $id) }';
  const leave =
    'mutation ($username: String!, $stepUp: String) { deleteOwnAccount(username: $username, stepUp: $stepUp) }';
  const end = 'mutation ($id: ID!) { endSignIns(id: $id) { id hasPassword identities { provider name } } }';

  test('is for its user, with the own name typed, and signs out', async () => {
    const user = await server.gateway.addUser(5, 'goner');
    const client = await server.as(user);
    expect(await client.refusal(leave, { username: 'olga' })).toMatchObject({
      code: 'invalid-field',
      details: { field: 'username' },
    });
    expect(await client.ask(leave, { username: 'goner', stepUp: await client.proven('DELETE_ACCOUNT') })).toEqual({
      deleteOwnAccount: true,
    });
    expect(await client.ask('{ me { id } }')).toEqual({ me: null });
    const { users } = await admin.ask(
      '{ users(keyword: "goner") { items { displayName deletedAt identities { name } } } }',
    );
    expect(users.items).toEqual([{ displayName: '', deletedAt: expect.any(Number), identities: [] }]);
  });

  test('is permanent when an administrator erases a user', async () => {
    const user = await server.gateway.addUser(5, 'erased');
    const { id } = user.actor;
    expect(await ordinary.refusal(erase, { id })).toMatchObject({ code: 'role-too-low' });
    expect(await admin.refusal(erase, { id: adminUser.actor.id })).toMatchObject({ code: 'peer-delete-forbidden' });
    expect(await admin.ask(erase, { id })).toEqual({ eraseUser: true });
    expect(await admin.ask('{ users(keyword: "erased") { total } }')).toEqual({ users: { total: 0 } });
    expect(await admin.refusal(erase, { id })).toMatchObject({ code: 'user-not-found' });
  });

  test('is distinct from ending all sessions of a user, which an administrator can do', async () => {
    const user = await server.gateway.addUser(5, 'wanderer');
    const [one, other] = [await server.as(user), await server.as(user)];
    const { id } = user.actor;
    expect(await ordinary.refusal(end, { id })).toMatchObject({ code: 'role-too-low' });
    expect(await admin.ask(end, { id })).toEqual({ endSignIns: { id: String(id), hasPassword: true, identities: [] } });
    for (const client of [one, other]) expect(await client.ask('{ me { id } }')).toEqual({ me: null });
    expect(await (await server.as(user)).ask('{ me { username } }')).toEqual({ me: { username: 'wanderer' } });
  });
});
