import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { Feed, type GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

let server: GraphqlServer;
let user: TestUser;
let client: GraphqlClient;
let admin: GraphqlClient;

beforeAll(async () => {
  server = await startGraphql();
  user = await server.gateway.addUser(1_000, 'olga');
  client = await server.as(user);
  admin = await server.as(await server.addAdmin('adam'));
});
afterAll(() => server?.stop());

const fields = 'id code name status quota createdAt createdById redeemedAt redeemedById redeemedBy { username }';
const issue = `mutation ($input: RedemptionCodeInput!, $count: Int!, $key: String) {
  issueRedemptionCodes(input: $input, count: $count, idempotencyKey: $key) { codes failure } }`;
const list = `query ($keyword: String, $status: RedemptionStatus) {
  redemptionCodes(size: 100, keyword: $keyword, status: $status) { total items { ${fields} } } }`;
const redeem = 'mutation ($code: String!, $key: String) { redeem(code: $code, idempotencyKey: $key) }';

const make = async (name: string, count = 1): Promise<string[]> =>
  (await admin.ask(issue, { input: { name, quota: 500 }, count })).issueRedemptionCodes.codes;
const found = async (variables: object) => (await admin.ask(list, { ...variables })).redemptionCodes;

describe('redemption codes', () => {
  test('are issued by one command, and listed for administrators with their texts', async () => {
    const codes = await make('batch', 3);
    const { total, items } = await found({ keyword: 'batch' });
    expect(total).toBe(3);
    expect(items.map(({ code }: { code: string }) => code)).toEqual([...codes].reverse());
    expect(items[0]).toMatchObject({ name: 'batch', status: 'UNUSED', quota: 500, redeemedAt: null, redeemedBy: null });
    expect(await client.refusal(list)).toMatchObject({ code: 'role-too-low' });
  });

  test('are edited, disabled, enabled and deleted', async () => {
    await make('changing');
    const { id } = (await found({ keyword: 'changing' })).items[0];
    const edit = `mutation ($id: ID!) { editRedemptionCode(id: $id, input: { name: "changed", quota: 7 }) { ${fields} } }`;
    expect((await admin.ask(edit, { id })).editRedemptionCode).toMatchObject({ name: 'changed', quota: 7 });
    const enable = 'mutation ($id: ID!, $on: Boolean!) { setRedemptionCodeEnabled(id: $id, enabled: $on) { status } }';
    expect(await admin.ask(enable, { id, on: false })).toEqual({ setRedemptionCodeEnabled: { status: 'DISABLED' } });
    expect(await admin.refusal(edit, { id })).toMatchObject({ code: 'redemption-not-unused', kind: 'refused' });
    expect((await found({ status: 'DISABLED' })).items).toMatchObject([{ id }]);
    expect(await admin.ask(enable, { id, on: true })).toEqual({ setRedemptionCodeEnabled: { status: 'UNUSED' } });
    expect(await admin.ask('mutation ($id: ID!) { deleteRedemptionCode(id: $id) }', { id })).toEqual({
      deleteRedemptionCode: id,
    });
    expect(await admin.refusal(`query ($id: ID!) { redemptionCode(id: $id) { id } }`, { id })).toMatchObject({
      code: 'redemption-not-found',
    });
  });
});

describe('redeeming a code', () => {
  test('changes the subscribed balance, is in the usage log, and succeeds once', async () => {
    const [code] = await make('gift');
    const balance = new Feed(server.connect(client), 'subscription { balance { available } }');
    await balance.take(1);
    expect(await client.ask(redeem, { code, key: 'order-1' })).toEqual({ redeem: 500 });
    await balance.until(({ results }) => results.at(-1)?.balance.available === 1_500);
    balance.stop();
    expect(await client.ask(redeem, { code, key: 'order-1' })).toEqual({ redeem: 500 });
    expect(await client.refusal(redeem, { code })).toMatchObject({ code: 'redemption-code-used', kind: 'refused' });
    const { id, redeemedAt, ...used } = (await found({ keyword: 'gift' })).items[0];
    expect(used).toMatchObject({
      status: 'USED',
      redeemedById: String(user.actor.id),
      redeemedBy: { username: 'olga' },
    });
    expect(redeemedAt).toBeGreaterThan(1_700_000_000);
    const line =
      '{ usageLog(first: 1) { edges { node { type detail { ... on RedemptionDetail { quota redemptionId } } } } } }';
    expect((await client.ask(line)).usageLog.edges[0].node).toEqual({
      type: 'RECHARGE',
      detail: { quota: 500, redemptionId: id },
    });
  });

  test('has an error that says what is wrong with a code', async () => {
    expect(await client.refusal(redeem, { code: ' ' })).toMatchObject({ code: 'redemption-code-missing' });
    expect(await client.refusal(redeem, { code: '0'.repeat(32) })).toMatchObject({
      ...{ code: 'redemption-code-unknown', kind: 'invalid' },
      details: { field: 'code' },
    });
  });
});
