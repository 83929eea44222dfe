import fc from 'fast-check';
import type { Application } from '../../src/application/application.js';
import type { ChannelSettings } from '../../src/domain/channel-settings.js';
import type { Position } from '../../src/domain/events.js';
import type { ApiKeyId, ChannelId, UserId } from '../../src/domain/ids.js';
import { optionTable } from '../../src/domain/option-table.js';
import type { Actor } from '../../src/domain/user.js';
import { channelSettings } from './channel-settings.js';
import {
  anyText,
  hostileApiKeyTerms,
  hostileChannelSettings,
  hostileNumber,
  number,
  orNull,
  text,
} from './hostile-inputs.js';

/* Every command, given what somebody hostile might send through any face. */

/** An order, as text for whoever reads a counterexample, and how to give it. */
export interface Order {
  readonly said: string;
  give(): Promise<unknown>;
}

export const order = <Input>(name: string, input: Input, give: (input: Input) => Promise<unknown>): Order => ({
  said: `${name} ${JSON.stringify(input)}`.slice(0, 2_000),
  give: () => give(input),
});
const asked = <Input>(name: string, inputs: fc.Arbitrary<Input>, give: (input: Input) => Promise<unknown>) =>
  inputs.map((input) => order(name, input, give));

/** The one meant is chosen when the order is given: there may be more by then. */
const some = fc.nat();
const oneOf = <Id>(ids: readonly Id[], which: number): Id => ids[which % ids.length] as Id;
/** Few, so that orders are repeated under the same key, and other ones are given under a key that is taken. */
const orderKey = fc.option(fc.constantFrom('first', 'second', 'third'), { freq: 2 });

const members = Object.keys(channelSettings());

function only(all: ChannelSettings, members: readonly string[]): Partial<ChannelSettings> {
  return Object.fromEntries(Object.entries(all).filter(([member]) => members.includes(member)));
}

/** What the orders are about; they add to it. */
export interface World {
  readonly application: Application;
  readonly root: Actor;
  /** Owns the API keys; nobody deletes it. */
  readonly owner: Actor;
  readonly users: UserId[];
  readonly channels: ChannelId[];
  readonly apiKeys: ApiKeyId[];
}

export const hostileOrders = ({ application, root, owner, users, channels, apiKeys }: World): fc.Arbitrary<Order> =>
  fc.oneof(
    asked(
      'create user',
      fc.record({
        input: fc.record({
          username: anyText('somebody'),
          password: text('long-enough'),
          displayName: text('Somebody'),
        }),
        orderKey,
      }),
      async ({ input, orderKey }) => users.push((await application.users.create(root, input, orderKey)).id),
    ),
    asked(
      'edit user',
      fc.record({
        which: some,
        patch: fc.record({
          username: orNull(text('renamed')),
          password: orNull(text('long-enough')),
          displayName: orNull(text('Renamed')),
          group: orNull(text('vip')),
          quota: orNull(number(500)),
          shownQuota: orNull(number(500)),
          role: fc.constant(null),
        }),
        orderKey,
      }),
      ({ which, patch, orderKey }) => application.users.edit(root, oneOf(users, which), patch, orderKey),
    ),
    asked(
      'adjust quota',
      fc.record({ which: some, delta: number(5), gift: number(0), orderKey }),
      ({ which, delta, gift, orderKey }) =>
        application.users.adjustQuota(root, oneOf(users, which), delta, gift, orderKey),
    ),
    asked(
      'manage user',
      fc.record({ which: some, action: fc.constantFrom('enable', 'disable', 'promote', 'demote') }),
      ({ which, action }) => application.users.manage(root, oneOf(users, which), action),
    ),
    asked('delete user', some, async (which) => {
      const { id } = await application.users.create(root, {
        username: `leaver${users.length}`,
        password: 'long-enough',
        displayName: '',
      });
      users.push(id);
      const leaver = which % 2 === 0 ? id : oneOf(users.slice(1), which);
      await application.users.manage(root, leaver, 'delete');
    }),
    asked(
      'change own profile',
      fc.record({
        which: some,
        patch: fc.record({
          username: orNull(text('other')),
          password: orNull(text('long-enough')),
          displayName: orNull(text('Other')),
        }),
      }),
      ({ which, patch }) => application.users.changeOwnProfile({ id: oneOf(users, which), role: 'ordinary' }, patch),
    ),
    asked(
      'change settings',
      fc.record({
        notifyType: fc.constantFrom('email' as const, 'webhook' as const),
        quotaWarningThreshold: number(1),
        webhookUrl: text('https://127.0.0.1:1/hook'),
        webhookSecret: text('secret'),
        notificationEmail: text('a@example.org'),
        acceptUnpricedModels: fc.boolean(),
      }),
      (input) => application.users.changeSettings(owner, input),
    ),
    asked('issue access token', fc.constant(null), () => application.users.issueAccessToken(owner)),
    asked(
      'issue API key',
      fc.record({ terms: hostileApiKeyTerms, quota: number(10), orderKey }),
      async ({ orderKey, ...input }) => apiKeys.push((await application.apiKeys.issue(owner, input, orderKey)).id),
    ),
    asked(
      'edit API key',
      fc.record({
        which: some,
        change: fc.record({ terms: hostileApiKeyTerms, quota: orNull(number(10)), shownQuota: orNull(number(10)) }),
        orderKey,
      }),
      ({ which, change, orderKey }) => application.apiKeys.edit(owner, oneOf(apiKeys, which), change, orderKey),
    ),
    asked(
      'switch API key',
      fc.record({ which: some, status: fc.constantFrom('enabled', 'manual', 'expired', 'exhausted') }),
      ({ which, status }) => application.apiKeys.setStatus(owner, oneOf(apiKeys, which), status),
    ),
    asked('remove API key', some, (which) => application.apiKeys.remove(owner, oneOf(apiKeys, which))),
    asked(
      'add channel',
      fc.record({ settings: hostileChannelSettings, key: text('sk-key'), proxy: text(''), enabled: fc.boolean() }),
      async (input) => channels.push(...(await application.channels.add(root, input)).ids),
    ),
    asked(
      'edit channel',
      fc.record({
        which: some,
        patch: fc.record({
          settings: fc
            .tuple(hostileChannelSettings, fc.subarray([...members]))
            .map(([all, members]) => only(all, members)),
          key: text('sk-other-key'),
          proxy: text(''),
        }),
      }),
      ({ which, patch }) => application.channels.edit(root, oneOf(channels, which), patch),
    ),
    asked('rename tag', fc.record({ tag: text('tag'), to: anyText('tag') }), ({ tag, to }) =>
      application.channels.editTag(root, tag, { settings: { tag: to } }),
    ),
    asked('switch channel', fc.record({ which: some, on: fc.boolean() }), ({ which, on }) =>
      application.channels.setEnabled(root, oneOf(channels, which), on),
    ),
    asked('test channel', anyText('gpt-4o'), (model) =>
      application.channels.test(root, channels[0] as ChannelId, model),
    ),
    asked('remove channel', some, (which) => application.channels.remove(root, channels.slice(1 + (which % 50)))),
    asked(
      'change option',
      fc.record({
        key: fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom(...Object.keys(optionTable)) },
          { weight: 1, arbitrary: text('an.option') },
        ),
        value: fc.oneof(anyText('1'), anyText('true'), anyText('{}'), hostileNumber.map(String)),
      }),
      ({ key, value }) => application.options.change(root, key, value),
    ),
    asked(
      'quarantine',
      fc.record({ model: text('channels'), position: fc.maxSafeInteger(), reason: anyText('why') }),
      (input) => application.readModels.quarantine(root, { ...input, position: input.position as Position }),
    ),
  );
