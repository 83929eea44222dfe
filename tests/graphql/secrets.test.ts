import { type GraphQLField, type GraphQLOutputType, getNamedType, isObjectType, isUnionType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphqlSchema } from '../../src/graphql/schema.js';
import { recordTask } from '../support/gateway/record-tasks.js';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/gateway/webhook-receiver.js';
import { Feed, type GraphqlServer, startGraphql } from './graphql-server.js';

/*
 * Secrets are planted wherever one can be; then everything there is to ask is asked, with every field, by the mightiest
 * user. None of them may come back, except one's own API key.
 */

const planted = 'planted-5e1d';
const prompt = 'What is a ledger?';

let server: GraphqlServer;
let user: TestUser;
let task: Awaited<ReturnType<typeof recordTask>>;
let otherKey: string;
const answers: string[] = [];

/** Every field of a type, all the way down, but not of a type within itself: a user's inviter is a user. */
function everything(type: GraphQLOutputType, within: readonly string[] = []): string {
  const named = getNamedType(type);
  const inside = [...within, named.name];
  if (isUnionType(named))
    return `{ __typename ${named
      .getTypes()
      .map((member) => `... on ${member.name} ${everything(member, inside)}`)
      .join(' ')} }`;
  if (!isObjectType(named)) return '';
  return `{ ${Object.values(named.getFields())
    .filter(({ type: next }) => !inside.includes(getNamedType(next).name))
    .map((field, index) => `f${index}_${named.name}: ${field.name} ${everything(field.type, inside)}`)
    .join(' ')} }`;
}

const ids: Record<string, string> = {};
const argumentsFor: Readonly<Record<string, () => string>> = {
  user: () => `(id: ${ids.user})`,
  apiKey: () => `(id: ${ids.apiKey})`,
  task: () => `(id: ${ids.task})`,
  tasks: () => '(everyone: true)',
  taskProgress: () => '(everyone: true)',
  channel: () => `(id: ${ids.channel})`,
  redemptionCode: () => `(id: ${ids.redemptionCode})`,
  usageLog: () => '(everyone: true, first: 50)',
  channelFailures: () => `(channelId: ${ids.channel}, from: 0, to: 99999999999)`,
  logStatistics: () => '(everyone: true)',
  call: () => `(requestId: "${ids.call}")`,
  receipt: () => `(requestId: "${ids.call}")`,
  usageFailures: () => '(from: 0, to: 30000000, everyone: true)',
  usageFailureHistory: () => '(from: 1700000000, to: 1800000000, interval: WEEK, everyone: true)',
  usageStatistics: () => '(from: 0, to: 99999999999, everyone: true, by: [USER, API_KEY, MODEL, CHANNEL, GROUP])',
  usageHistory: () => '(from: 1700000000, to: 1800000000, interval: WEEK, everyone: true, by: USER)',
  optionChange: () => `(position: ${ids.optionChange})`,
  settingsAt: () => '(moment: { at: 9999999999 })',
  channelAt: () => `(id: ${ids.channel}, moment: { at: 9999999999 })`,
  apiKeyAt: () => `(id: ${ids.apiKey}, moment: { at: 9999999999 })`,
  userAt: () => `(id: ${ids.user}, moment: { at: 9999999999 })`,
  movementEvent: () => '(position: 1)',
  repairPreview: () => '(input: { from: 0, to: 9999999999, heldAt: { at: 9999999999 } })',
  priceRepair: () => `(id: "${'0'.repeat(24)}")`,
  compareSealHead: () => `(head: "0:${'0'.repeat(64)}")`,
  closingBalances: () => '(period: "2000-01")',
  priceAt: () => '(model: "gpt-4o", moment: { at: 9999999999 })',
  quotaHistory: () => `(of: { kind: USER, id: ${ids.user} })`,
  balanceAt: () => `(of: { kind: CALL, id: "${ids.call}" }, moment: { at: 9999999999 })`,
  topUpPrice: () => '(amount: 10)',
  usageFeed: () => '(everyone: true, after: -1)',
  whatIf: () => `(id: "${ids.question}")`,
  usageLogLinesBefore: () => '(before: 0)',
  modelPrice: () => '(model: "gpt-4o")',
  priceRevert: () => `(position: ${ids.priceChange})`,
  priceDifferences: () => '(source: "none")',
  exampleBill: () => '(model: "gpt-4o", periods: [{ call: "1" }], usage: [])',
};
/** Refused by a gateway that is not configured for it. */
const refused: Readonly<Record<string, string>> = {
  latestRelease: 'release-check-not-configured',
  priceDifferences: 'price-source-unknown',
  closingBalances: 'period-not-closed',
};
const asked = ({ name, type }: GraphQLField<unknown, unknown>) =>
  `${name}${argumentsFor[name]?.() ?? ''} ${everything(type)}`;

let hooks: WebhookReceiver;

beforeAll(async () => {
  hooks = await startWebhookReceiver();
  server = await startGraphql({ limits: { depth: 20, cost: 1_000_000 } });
  const { gateway, root } = server;
  const send = async (query: string, variables: Record<string, unknown> = {}) => {
    const { data, text } = await root.send(query, variables);
    answers.push(text);
    return data;
  };
  const channel = await send('mutation ($input: NewChannelInput!) { addChannels(input: $input) { id } }', {
    input: {
      name: 'upstream',
      type: 1,
      key: `sk-${planted}`,
      models: ['gpt-4o'],
      baseUrl: gateway.provider.url,
      testModel: 'gpt-4o',
    },
  });
  ids.channel = channel?.addChannels[0].id;
  user = await gateway.addUser(1_000_000, 'olga');
  ids.user = String(user.actor.id);
  otherKey = await gateway.addApiKey(user);
  await server.call(otherKey);
  task = await recordTask(gateway, user.actor.id);
  ids.task = task.id;
  await send(`mutation { testChannel(id: ${ids.channel}) { ok message } }`);
  const proxied = `mutation { editChannel(id: ${ids.channel}, patch: { proxy: "http://u:${planted}@proxy.example" }) { proxy } }`;
  await send(proxied);
  const apiKey = await send('mutation { issueApiKey(input: { name: "own" }) { id } }');
  ids.apiKey = apiKey?.issueApiKey.id;
  await send('mutation { issueRedemptionCodes(input: { name: "promo", quota: 5 }) { codes } }');
  const listed = await send('{ redemptionCodes { items { id } } }');
  ids.redemptionCode = listed?.redemptionCodes.items[0].id;
  await send(
    `mutation { changeSettings(input: { notifyType: WEBHOOK, quotaWarningThreshold: 1, webhookUrl: "${hooks.url}", webhookSecret: "${planted}" }) { id } }`,
  );
  for (const key of [
    'SMTPToken',
    'EpayKey',
    'general_setting.seal_head_secret',
    'GitHubClientSecret',
    'oidc.client_secret',
    'SomeUnknownSecret',
  ])
    await send(`mutation { changeOption(key: "${key}", value: "${planted}") { key value } }`);
  await send(`mutation { createUser(input: { username: "secretive", password: "${planted}" }) { id } }`);
  await send(`mutation { login(username: "secretive", password: "${planted}x") { user { id } } }`);
  const priced = await send(
    'mutation { changeModelPrices(changes: [{ model: "gpt-4o", periods: [{ call: "0.01" }], seenAt: -1 }]) { position } }',
  );
  ids.priceChange = priced?.changeModelPrices.position;
  await server.gateway.application.visible(server.gateway.application.tail.position());
  const changed = await send('{ optionHistory(key: "EpayKey") { items { position } } }');
  ids.optionChange = changed?.optionHistory.items[0].position;
  const logged = await send(
    '{ usageLog(everyone: true, filter: { model: "gpt-4o", username: "olga" }) { edges { node { requestId } } } }',
  );
  ids.question = (await send('mutation { askWhatIf(from: 0, to: 9999999999) }'))?.askWhatIf;
  ids.call = logged?.usageLog.edges[0].node.requestId;
});
afterAll(async () => {
  await server?.stop();
  await hooks?.stop();
});

const rootFields = (type: 'Query' | 'Subscription') => {
  const root = graphqlSchema().getType(type);
  return isObjectType(root) ? Object.values(root.getFields()) : [];
};

describe('a planted secret', () => {
  test('is not returned by any query, with every field of it, for root', async () => {
    for (const field of rootFields('Query')) {
      const { text, errors } = await server.root.send(`{ ${asked(field)} }`);
      const code = refused[field.name];
      expect(errors, field.name).toEqual(
        code === undefined ? [] : [expect.objectContaining({ extensions: expect.objectContaining({ code }) })],
      );
      answers.push(text);
    }
    expect(answers.length).toBeGreaterThan(25);
    const all = answers.join('\n');
    expect(all).not.toContain(planted);
    expect(all, 'the key of somebody else').not.toContain(otherKey.slice(3));
    expect(all, 'what was asked of a model').not.toContain(prompt);
    expect(all, 'a hash').not.toMatch(/argon2/);
  });
  test('is not returned by any subscription', async () => {
    const connection = server.connect(server.root);
    for (const field of rootFields('Subscription')) {
      const feed = new Feed(connection, `subscription { ${asked(field)} }`);
      if (field.name === 'channelHealth') {
        const edited = `mutation { setChannelEnabled(id: ${ids.channel}, enabled: false) { id } }`;
        const enabled = `mutation { setChannelEnabled(id: ${ids.channel}, enabled: true) { id } }`;
        while (feed.results.length === 0) for (const order of [edited, enabled]) await server.root.ask(order);
      }
      if (field.name === 'taskProgress')
        for (let percent = 1; feed.results.length === 0; percent++) await task.progressed(percent);
      const results = JSON.stringify(await feed.take(1));
      expect(results).not.toContain(planted);
      expect(results).not.toContain(otherKey.slice(3));
      feed.stop();
    }
  });
  test('is not in the log output', () => {
    const logged = [...server.gateway.logged, ...server.logged.map((entry) => JSON.stringify(entry))].join('\n');
    expect(logged).not.toContain(planted);
    expect(logged).not.toContain(otherKey.slice(3));
    expect(logged).not.toContain(prompt);
  });
});
