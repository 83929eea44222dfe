import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import { GraphqlClient } from '../../graphql/graphql-server.js';
import { type Client, dataOf, send, signIn } from '../../rest-compat/rest-server.js';
import { expectLedgersToAgree, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';

/* Inviting others, being rewarded, and spending it, over both faces. */

const unit = 500_000;

let gateway: TestGateway;
let made = 0;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.setOption('QuotaForInviter', String(2 * unit));
  await gateway.setOption('QuotaForInvitee', '300');
});
afterAll(() => gateway?.stop());

const client = (user: TestUser) => signIn(gateway.url, user.username, user.password);
const codeOf = async (session: Client) => dataOf<string>(await session.get('/api/user/aff'));
const selfOf = async (session: Client) => dataOf<Record<string, unknown>>(await session.get('/api/user/self'));
const done = { success: true, message: '划转成功', data: null };

/** Somebody new, by the code. */
async function invite(code: string): Promise<Client> {
  const username = `came${++made}`;
  const form = { username, password: 'correct-horse', aff_code: code };
  expect((await send(gateway.url, 'POST', '/api/user/register', { body: form })).json).toMatchObject({ success: true });
  return signIn(gateway.url, username, 'correct-horse');
}

const transferring = (session: Client, quota: unknown, key?: string) =>
  send(gateway.url, 'POST', '/api/user/aff_transfer', {
    body: { quota },
    headers: { ...session.headers, ...(key !== undefined && { 'idempotency-key': key }) },
  });

describe('an invitation over the legacy interface', () => {
  test('rewards the inviter, who sees it in the log, and can transfer it', async () => {
    const user = await gateway.addUser(0);
    const inviter = await client(user);
    const code = await codeOf(inviter);
    expect(await selfOf(inviter)).toMatchObject({ aff_count: 0, aff_quota: 0, aff_history_quota: 0 });
    const invitee = await invite(code);
    expect(await selfOf(inviter)).toMatchObject({
      quota: 0,
      aff_count: 1,
      aff_quota: 2 * unit,
      aff_history_quota: 2 * unit,
    });
    expect(await selfOf(invitee)).toMatchObject({ quota: 300, inviter_id: inviter.id });
    const lines = async (session: Client) => dataOf<{ items: unknown[] }>(await session.get('/api/log/self?type=4'));
    expect(await lines(inviter)).toMatchObject({ items: [{ type: 4, content: '邀请用户赠送 ＄2.000000 额度' }] });
    expect(await lines(invitee)).toMatchObject({ items: [{ type: 4, content: '使用邀请码赠送 ＄0.000600 额度' }] });

    expect((await transferring(inviter, unit - 1)).json).toMatchObject({
      success: false,
      message: '划转失败 转移额度最小为＄1.000000 额度！',
    });
    expect((await transferring(inviter, 2 * unit + 1)).json).toMatchObject({
      success: false,
      message: '划转失败 邀请额度不足！',
    });
    for (const none of [undefined, 0, 1.5, 'x', null])
      expect((await transferring(inviter, none)).json, String(none)).toMatchObject({ success: false });
    expect((await transferring(inviter, unit, 'once')).json).toEqual(done);
    expect((await transferring(inviter, unit, 'once')).json).toEqual(done);
    expect(await selfOf(inviter)).toMatchObject({
      quota: unit,
      aff_count: 1,
      aff_quota: unit,
      aff_history_quota: 2 * unit,
    });
    // The gate knows it too.
    expect(await gateway.available(user)).toBe(unit);
    expect(await lines(inviter)).toMatchObject({ items: [{ content: '邀请用户赠送 ＄2.000000 额度' }] });
  });

  test('permits concurrent transfers up to the reward, and no more', async () => {
    const user = await gateway.addUser(0);
    const inviter = await client(user);
    const code = await codeOf(inviter);
    await Promise.all([invite(code), invite(code)]);
    expect(await selfOf(inviter)).toMatchObject({ aff_count: 2, aff_quota: 4 * unit });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => transferring(inviter, unit, `at-once-${n}`)),
    );
    const taken = answers.filter(({ json }) => json.success === true).length;
    const { quota, aff_quota } = await selfOf(inviter);
    expect({ quota, aff_quota }).toEqual({ quota: taken * unit, aff_quota: (4 - taken) * unit });
    expect(taken).toBe(4);
    expect(await gateway.available(user)).toBe(4 * unit);
  });

  test('permits no transfer to a disabled user', async () => {
    const user = await gateway.addUser(0);
    const inviter = await client(user);
    await invite(await codeOf(inviter));
    const { application, root } = gateway;
    await application.visible(await application.users.manage(root, user.actor.id, 'disable'));
    expect((await transferring(inviter, unit)).json).toMatchObject({ success: false });
    expect(await gateway.available(user)).toBe(0);
  });
});

describe('an invitation over GraphQL', () => {
  const ask = (session: GraphqlClient, fields: string) => session.ask(`{ me { ${fields} } }`).then(({ me }) => me);
  const figures = 'quota inviteCode invitedCount inviteQuota inviteQuotaEver';
  const transfer = `mutation ($quota: Quota!, $key: String) {
    transferInviteReward(quota: $quota, idempotencyKey: $key) { ${figures} }
  }`;

  test('works the same, and administrators see who has invited whom', async () => {
    const user = await gateway.addUser(0);
    const inviter = await new GraphqlClient(gateway.url).signIn(user.username, user.password);
    expect(await ask(inviter, figures)).toEqual({
      ...{ quota: 0, inviteCode: null, invitedCount: 0, inviteQuota: 0, inviteQuotaEver: 0 },
    });
    const { issueInviteCode: inviteCode } = await inviter.ask('mutation { issueInviteCode }');
    const invitee = await invite(inviteCode);
    expect(await inviter.refusal(transfer, { quota: 1 })).toMatchObject({
      code: 'invite-transfer-too-small',
      details: { min: unit },
    });
    expect(await inviter.refusal(transfer, { quota: 3 * unit })).toMatchObject({
      code: 'invite-quota-short',
      details: { available: 2 * unit },
    });
    const left = { quota: unit, inviteCode, invitedCount: 1, inviteQuota: unit, inviteQuotaEver: 2 * unit };
    for (let sent = 0; sent < 2; sent++)
      expect(await inviter.ask(transfer, { quota: unit, key: 'one' })).toEqual({ transferInviteReward: left });

    const root = await new GraphqlClient(gateway.url).signIn('root', gateway.rootPassword);
    const whole = `query ($id: ID!) { user(id: $id) { inviter { id username } ${figures} } }`;
    expect(await root.ask(whole, { id: invitee.id })).toMatchObject({
      user: { inviter: { id: String(user.actor.id), username: user.username }, invitedCount: 0 },
    });
    expect(await root.ask(whole, { id: user.actor.id })).toMatchObject({ user: { ...left, inviter: null } });
    expect(await inviter.refusal('{ me { inviter { username } } }')).toMatchObject({ code: 'role-too-low' });
  });
});

test('the ledger is balanced after all invitations', async () => {
  await withDatabase(gateway.config, quietLog, async (database) =>
    expectLedgersToAgree(database, await ledgerAtRest(database)),
  );
});
