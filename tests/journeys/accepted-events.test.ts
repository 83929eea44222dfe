import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiKeyTerms } from '../../src/domain/api-key-terms.js';
import type { ChannelSettings } from '../../src/domain/channel.js';
import { Failure } from '../../src/domain/failure.js';
import type { ApiKeyId, ChannelId, UserId } from '../../src/domain/ids.js';
import { optionTable } from '../../src/domain/option-table.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/test-gateway.js';

/*
 * Whatever a command accepts folds in every read model. Each command is asked with what somebody hostile might send
 * through any face: it refuses with a failure, or its events are folded by all read models, on real Postgres.
 */

let gateway: TestGateway;
let user: TestUser;
let channel: ChannelId;
let apiKey: ApiKeyId;

beforeAll(async () => {
  gateway = await startTestGateway();
  user = await gateway.addUser(1_000);
  channel = await gateway.addChannel();
  const terms = { ...plainTerms, name: 'first' };
  const issued = await gateway.application.apiKeys.issue(user.actor, { terms, quota: 1_000 });
  apiKey = issued.id;
  await gateway.application.visible(issued.position);
});
afterAll(() => gateway?.stop());

const plainTerms: ApiKeyTerms = {
  name: 'key',
  unlimited: false,
  expiresAt: null,
  modelLimitsEnabled: false,
  modelLimits: [],
  allowIps: [],
  group: '',
};

const hostileText = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    '\0',
    'a\0b',
    '\ufffd',
    '\ud800',
    '\udc00\ud800',
    '\u202eabc',
    '\u200b',
    'ſ',
    'Ａdmin',
    'İ',
    '😀',
  ),
  fc.constantFrom(
    '{}',
    '[]',
    '"\\u0000"',
    '{"a":"\\u0000"}',
    '{"a":"\\ud800"}',
    'null',
    "'; drop table users; --",
    '%_\\',
  ),
  fc
    .tuple(fc.constantFrom('x', 'é', '😀', '\ufffd'), fc.constantFrom(64, 65, 256, 3_000, 9_000, 300_000))
    .map(([unit, times]) => unit.repeat(times)),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
/** Mostly what is accepted, so that the hostile part of an order is what is judged. */
const text = (good: string) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(good) }, { weight: 2, arbitrary: hostileText });
const hostileNumber = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, 0.5, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53 - 1, 1 - 2 ** 53, 2 ** 53),
  fc.constantFrom(2 ** 63, 1e300, -1e300, 5e-324, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  fc.maxSafeInteger(),
);
const number = (good: number) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(good) }, { weight: 2, arbitrary: hostileNumber });
const texts = (good: string) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant([good]) },
    { weight: 2, arbitrary: fc.array(text(good), { maxLength: 4 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        [good, good],
        ['a\0', 'a\ufffd'],
        Array.from({ length: 2_000 }, (_, n) => `m${n}`),
      ),
    },
  );
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 3 });

const settings: fc.Arbitrary<ChannelSettings> = fc.record({
  name: text('channel'),
  type: number(1),
  baseUrl: text('http://127.0.0.1:1'),
  models: texts('gpt-4o'),
  groups: texts('default'),
  priority: number(0),
  weight: number(0),
  tag: orNull(text('tag')),
  modelMapping: orNull(text('{"a":"b"}')),
  statusCodeMapping: text(''),
  paramOverride: orNull(text('{"a":1}')),
  setting: orNull(text('{"a":1}')),
  other: text(''),
  organization: orNull(text('org')),
  testModel: orNull(text('gpt-4o')),
  autoBan: fc.boolean(),
  maxInputTokens: number(0),
});
const terms = fc.record({
  name: text('key'),
  unlimited: fc.boolean(),
  expiresAt: orNull(number(4_000_000_000_000)) as fc.Arbitrary<ApiKeyTerms['expiresAt']>,
  modelLimitsEnabled: fc.boolean(),
  modelLimits: texts('gpt-4o'),
  allowIps: texts('10.0.0.1'),
  group: text('default'),
});

/** An order, as text for whoever reads a counterexample, and how to give it. */
interface Order {
  readonly said: string;
  give(): Promise<unknown>;
}
const order = <Input>(name: string, input: fc.Arbitrary<Input>, give: (input: Input) => Promise<unknown>) =>
  input.map((given): Order => ({ said: `${name} ${JSON.stringify(given)}`.slice(0, 2_000), give: () => give(given) }));

const application = () => gateway.application;
const actions = ['enable', 'disable', 'promote', 'demote'] as const;

const orders: readonly fc.Arbitrary<Order>[] = [
  order(
    'create user',
    fc.record({ username: text('somebody'), password: fc.constant('long-enough'), displayName: text('Somebody') }),
    (input) => application().users.create(gateway.root, input),
  ),
  order(
    'edit user',
    fc.record({
      username: orNull(text('renamed')),
      password: fc.constant(null),
      displayName: orNull(text('Renamed')),
      group: orNull(text('vip')),
      quota: orNull(number(500)),
      role: fc.constant(null),
    }),
    (patch) => application().users.edit(gateway.root, user.actor.id as UserId, patch),
  ),
  order('adjust quota', fc.record({ delta: number(5), gift: number(0) }), ({ delta, gift }) =>
    application().users.adjustQuota(gateway.root, user.actor.id as UserId, delta, gift),
  ),
  order('manage user', fc.constantFrom(...actions), (action) =>
    application().users.manage(gateway.root, user.actor.id as UserId, action),
  ),
  order(
    'change own profile',
    fc.record({ username: orNull(text('other')), password: fc.constant(null), displayName: orNull(text('Other')) }),
    (patch) => application().users.changeOwnProfile(user.actor, patch),
  ),
  order(
    'change settings',
    fc.record({
      notifyType: fc.constantFrom('email' as const, 'webhook' as const),
      quotaWarningThreshold: number(1),
      webhookUrl: text('https://example.org/hook'),
      webhookSecret: text('secret'),
      notificationEmail: text('a@example.org'),
      acceptUnpricedModels: fc.boolean(),
    }),
    (input) => application().users.changeSettings(user.actor, input),
  ),
  order('issue access token', fc.constant(null), () => application().users.issueAccessToken(user.actor)),
  order('issue API key', fc.record({ terms, quota: number(10) }), (input) =>
    application().apiKeys.issue(user.actor, input),
  ),
  order('edit API key', fc.record({ terms, quota: orNull(number(10)) }), (input) =>
    application().apiKeys.edit(user.actor, apiKey, input),
  ),
  order('switch API key', fc.constantFrom('enabled' as const, 'manual' as const, 'exhausted' as const), (status) =>
    application().apiKeys.setStatus(user.actor, apiKey, status),
  ),
  order('add channel', fc.record({ settings, key: text('sk-key'), proxy: text(''), enabled: fc.boolean() }), (input) =>
    application().channels.add(gateway.root, input),
  ),
  order(
    'edit channel',
    fc.record({ settings: settings.chain((all) => fc.subarray(Object.keys(all)).map((keys) => only(all, keys))) }),
    (patch) => application().channels.edit(gateway.root, channel, patch),
  ),
  order('tag', fc.record({ tag: text('tag'), to: text('other') }), ({ tag, to }) =>
    application().channels.editTag(gateway.root, tag, { settings: { tag: to } }),
  ),
  order('switch channel', fc.boolean(), (on) => application().channels.setEnabled(gateway.root, channel, on)),
  order('test channel', text('gpt-4o'), (model) => application().channels.test(gateway.root, channel, model)),
  order('remove channels', fc.array(number(999_999), { maxLength: 3 }), (ids) =>
    application().channels.remove(gateway.root, ids.filter((id) => id !== channel) as ChannelId[]),
  ),
  order(
    'change option',
    fc.record({
      key: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...Object.keys(optionTable)) },
        { weight: 1, arbitrary: text('an.option') },
      ),
      value: fc.oneof(text('1'), hostileNumber.map(String)),
    }),
    ({ key, value }) => application().options.change(gateway.root, key, value),
  ),
  order('quarantine', fc.record({ model: text('channels'), position: number(0), reason: text('why') }), (input) =>
    application().readModels.quarantine(gateway.root, input as never),
  ),
];

function only(all: ChannelSettings, keys: readonly string[]): Partial<ChannelSettings> {
  return Object.fromEntries(Object.entries(all).filter(([key]) => keys.includes(key)));
}

test('whatever a command accepts folds in every read model, and what it does not is refused with a failure', async () => {
  let accepted = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(...orders), { minLength: 10, maxLength: 20 }), async (asked) => {
      const said: string[] = [];
      for (const { said: words, give } of asked) {
        try {
          await give();
          accepted += 1;
          said.push(words);
        } catch (error) {
          if (!(error instanceof Failure)) throw new Error(`not refused but failed: ${words}`, { cause: error });
          refused += 1;
        }
      }
      const { application, root } = gateway;
      const head = application.tail.position();
      await application.visible(head);
      const stopped = application.readModels.list(root).filter(({ failure }) => failure !== null);
      if (stopped.length > 0) throw new Error(`${JSON.stringify(stopped, null, 1)}\nafter:\n${said.join('\n')}`);
      for (const { position } of application.readModels.list(root)) expect(position).toBeGreaterThanOrEqual(head);
    }),
    // A read model that is stopped stays so: nothing smaller could be found afterwards.
    { numRuns: 40, endOnFailure: true },
  );
  expect(accepted).toBeGreaterThan(50);
  expect(refused).toBeGreaterThan(50);
}, 300_000);
