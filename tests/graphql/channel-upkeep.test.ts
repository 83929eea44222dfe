import { afterAll, beforeAll, expect, test } from 'vitest';
import { startUpstream, type Upstream } from '../support/upstreams/upstream.js';
import { Feed, type GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

let server: GraphqlServer;
let admin: GraphqlClient;
let provider: Upstream;
let left: string;
let id: string;

beforeAll(async () => {
  provider = await startUpstream((_, response) =>
    response.end(JSON.stringify({ balance_infos: [{ currency: 'CNY', total_balance: left }] })),
  );
  server = await startGraphql();
  admin = await server.as(await server.addAdmin('adam'));
  id = String(await server.gateway.addChannel({ type: 43, baseUrl: provider.url }));
  await server.gateway.addChannel();
});
afterAll(async () => {
  await server?.stop();
  await provider?.stop();
});

const figures = '{ number running total done tested failed disabled enabled }';

test('all channels are tested in the background, and the progress can be queried and subscribed to', async () => {
  const nothing = { number: 0, running: false, total: 0, done: 0, tested: 0, failed: 0, disabled: 0, enabled: 0 };
  expect((await admin.ask(`{ channelTestRun ${figures} }`)).channelTestRun).toEqual(nothing);
  const feed = new Feed(server.connect(admin), `subscription { channelTestRun ${figures} }`);
  await feed.until(() => feed.results.length > 0);
  expect(feed.results[0]?.channelTestRun).toEqual(nothing);
  expect((await admin.ask(`mutation { testAllChannels ${figures} }`)).testAllChannels).toEqual({
    ...nothing,
    number: 1,
    running: true,
    total: 2,
  });
  // What answers with balances to everything is no provider.
  const over = { ...nothing, number: 1, total: 2, done: 2, tested: 2, failed: 1 };
  await feed.until(() => feed.results.at(-1)?.channelTestRun.running === false && feed.results.length > 1);
  expect(feed.results.at(-1)?.channelTestRun).toEqual(over);
  expect((await admin.ask(`{ channelTestRun ${figures} }`)).channelTestRun).toEqual(over);
  feed.stop();
});

test('balances are requested, of one channel and of all', async () => {
  left = '12.50';
  const update = `mutation ($id: ID!) { updateChannelBalance(id: $id) { balance balanceCurrency balanceUpdatedAt status } }`;
  expect((await admin.ask(update, { id })).updateChannelBalance).toEqual({
    balance: '12.5',
    balanceCurrency: 'CNY',
    balanceUpdatedAt: expect.any(Number),
    status: 'ENABLED',
  });
  left = '0';
  const all = 'mutation { updateChannelBalances { updated failed disabled } }';
  // The other one answers as a provider that knows nothing of balances.
  expect((await admin.ask(all)).updateChannelBalances).toEqual({ updated: 1, failed: 1, disabled: 1 });
  const { channel } = await admin.ask('query ($id: ID!) { channel(id: $id) { balance status statusReason } }', { id });
  expect(channel).toEqual({ balance: '0', status: 'AUTO_DISABLED', statusReason: '余额不足' });
  left = '';
  expect(await admin.refusal(update, { id })).toMatchObject({
    code: 'balance-not-told',
    details: { reason: 'the answer has no number as total_balance' },
  });
});
