import fc from 'fast-check';
import { expect, test } from 'vitest';
import { priceAt } from '../../src/application/audit/price-at.js';
import { settingsAt } from '../../src/application/audit/settings-at.js';
import { apiKeyAt, channelAt, userAt } from '../../src/application/audit/things-at.js';
import { Position, type Recorded, type StreamName, streams } from '../../src/domain/events/events.js';
import type { Moment } from '../../src/domain/events/moment.js';
import { UserId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { movementsOf } from '../../src/domain/ledger/movements.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import {
  added,
  adjusted,
  alice,
  aliceKey,
  at,
  changedBy,
  east,
  edited,
  type Fact,
  issued,
  ofApiKey,
  ofChannel,
  ofUser,
  pricesChanged,
  registered,
  root,
  when,
} from './history.js';
import { forEachTest, type Projected } from './projected.js';

/* What the audit shows of the past is what a fold up to there makes of the log. */

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
}, 'emptied');

const initial = new Map([
  ['Notice', ''],
  ['RetryTimes', '0'],
  ['SMTPToken', ''],
]);
const changes = fc.array(
  fc.record({ key: fc.constantFrom(...initial.keys()), text: fc.constantFrom('', '1', '2'), wait: fc.nat(2) }),
  { minLength: 30, maxLength: 30 },
);

test('settings at a position or an instant are what a fold of the changes up to there has set', async () => {
  const made = fc.sample(changes, { numRuns: 1, seed: 7 })[0] ?? [];
  let now = 0;
  const facts = made.map(({ key, text, wait }) => {
    now += wait;
    return when(at(now), changedBy(root, key, { text }));
  });
  const db = await projected.given(...facts);
  const recorded = await projected.store.readAll(Position(-1), 100);
  const told = async (moment: Parameters<typeof settingsAt>[1]) =>
    Object.fromEntries((await settingsAt(db, moment, initial)).map(({ key, value, isSet }) => [key, value ?? isSet]));
  const fold = (isBefore: (event: (typeof recorded)[number]) => boolean) => {
    const values = new Map(initial);
    for (const event of recorded.filter(isBefore))
      if (event.event.type === 'OptionChanged' && 'text' in event.event.value)
        values.set(event.event.key, event.event.value.text);
    return { ...Object.fromEntries(values), SMTPToken: values.get('SMTPToken') !== '' };
  };

  for (const { position } of recorded)
    expect(await told({ position })).toEqual(fold((event) => event.position <= position));
  for (let second = -1; second <= now; second++) {
    const instant = Instant(at(second));
    expect(await told({ at: instant })).toEqual(fold((event) => event.at <= instant));
  }
});

/** AUDIT_CUTS=1000 tries more of them. */
const cuts = Number(process.env.AUDIT_CUTS ?? 40);

/** What one step of a history records; the first ones make what the others change. */
const beginnings: readonly Fact[] = [
  registered(alice, 'alice'),
  issued(aliceKey, alice, 500),
  added(east, { name: 'east', paramOverride: '{"api_key":"planted"}' }),
];
const steps: readonly ((n: number) => Fact)[] = [
  (n) => edited(east, { name: `east ${n}` }),
  () => ofChannel(east, { type: 'ChannelDisabled', automatic: true, reason: 'down' }),
  () => ofChannel(east, { type: 'ChannelEnabled', automatic: true }),
  (n) => ofChannel(east, { type: 'ChannelBalanceObserved', balance: String(n), becameLow: false }),
  () => ofChannel(east, { type: 'ChannelTested', ok: true, responseTimeMs: 5, error: null, usage: null }),
  (n) =>
    ofApiKey(aliceKey, { type: 'ApiKeyEdited', owner: alice, quotaDelta: n as never, terms: termsNamed(`ci ${n}`) }),
  () => ofApiKey(aliceKey, { type: 'ApiKeyDisabled', owner: alice, cause: 'manual' }),
  () => ofApiKey(aliceKey, { type: 'ApiKeyEnabled', owner: alice }),
  (n) => ofUser(alice, { type: 'UserGroupChanged', group: `group ${n}`, by: root }),
  () => ofUser(alice, { type: 'UserDisabled', by: root }),
  () => ofUser(alice, { type: 'UserEnabled', by: root }),
  (n) => adjusted(alice, n),
  (n) => changedBy(root, 'GroupRatio', { text: JSON.stringify({ vip: n + 1 }) }),
  (n) => changedBy(root, 'ModelRatio', { text: JSON.stringify({ 'gpt-4o': n + 1 }) }),
  (n) => pricesChanged(root, { 'gpt-4o': n % 2 === 0 ? null : [{ call: String(n) }] }),
  // No call is priced by it.
  () => changedBy(root, 'Notice', { text: 'Hello' }),
];
const termsNamed = (name: string) => apiKeyTerms({ name });

/** What had happened by then: up to the latest event that is not later, of those of the same time the last. */
function upTo(events: readonly Recorded[], moment: Moment): readonly Recorded[] {
  if ('position' in moment) return events.filter(({ position }) => position <= moment.position);
  const inTime = events.filter((event) => event.at <= moment.at);
  const latest = Math.max(...inTime.map((event) => event.at));
  const last = inTime.findLast((event) => event.at === latest);
  return last === undefined ? [] : upTo(events, { position: last.position });
}

type Fields = Record<string, unknown>;
const held = (log: readonly Recorded[], moment: Moment, owner: string) => {
  let sum = 0n;
  for (const { postings } of upTo(
    log.filter((event) => movementsOf(event).length > 0),
    moment,
  ).flatMap(movementsOf))
    for (const posting of postings)
      if (posting.owner === owner && (posting.owner !== 'user' || posting.part === 'available')) sum += posting.amount;
  return sum;
};
const changed = (recorded: readonly Recorded[], fields: (event: Fields & { type: string }) => Fields): Fields =>
  Object.assign({}, ...recorded.map(({ event }) => fields(event as never)));

test('channels, API keys, users and prices at a position or an instant are what a fresh fold of the log makes of them', async () => {
  const made = fc.sample(
    fc.array(fc.record({ step: fc.nat(steps.length - 1), wait: fc.integer({ min: -2, max: 4 }) }), {
      minLength: 90,
      maxLength: 90,
    }),
    { numRuns: 1, seed: 11 },
  )[0];
  let now = 10;
  const facts = (made ?? []).map(({ step, wait }, n) => {
    now += wait;
    return when(at(now), (steps[step] as (n: number) => Fact)(n));
  });
  const db = await projected.given(...beginnings, ...facts);
  const stored = { db, store: projected.store };
  const log = await projected.store.readAll(Position(-1), 200);
  const of = (stream: StreamName) => log.filter((event) => event.stream === stream);
  const moments = fc.sample(
    fc.oneof(
      fc.constantFrom(...log).map(({ position }): Moment => ({ position })),
      fc.integer({ min: -1, max: now + 2 }).map((second): Moment => ({ at: Instant(at(second)) })),
    ),
    { numRuns: cuts, seed: 3 },
  );

  for (const moment of moments) {
    const channel = await channelAt(stored, east, moment);
    const events = upTo(of(streams.channel(east)), moment);
    const names: Record<string, string> = {
      ChannelAdded: 'enabled',
      ChannelEnabled: 'enabled',
      ChannelDisabled: 'auto-disabled',
    };
    const expected = changed(events, ({ type, settings, balance }) => ({
      ...(type in names && { status: names[type] }),
      ...(settings !== undefined && { name: (settings as Fields).name }),
      ...(balance !== undefined && { balance }),
    }));
    expect(
      channel && {
        status: channel.status,
        name: channel.fields.find(({ field }) => field === 'name')?.value,
        ...(channel.balance !== null && { balance: channel.balance }),
        since: channel.since?.position,
      },
    ).toEqual(
      events.length === 0
        ? null
        : { ...expected, since: events.findLast(({ event }) => event.type !== 'ChannelTested')?.position },
    );
    expect(JSON.stringify(channel?.fields ?? [])).not.toContain('planted');

    const key = await apiKeyAt(stored, aliceKey, moment);
    const keyEvents = upTo(of(streams.apiKey(aliceKey)), moment);
    const keyStatus: Record<string, string> = {
      ApiKeyIssued: 'enabled',
      ApiKeyEnabled: 'enabled',
      ApiKeyDisabled: 'manual',
    };
    expect(key && { status: key.status, name: key.terms?.name, owner: key.ownerId, remaining: key.remaining }).toEqual(
      keyEvents.length === 0
        ? null
        : {
            ...changed(keyEvents, ({ type, terms }) => ({
              ...(type in keyStatus && { status: keyStatus[type] }),
              ...(terms !== undefined && { name: (terms as Fields).name }),
            })),
            owner: alice,
            remaining: held(log, moment, 'api-key'),
          },
    );

    const user = await userAt(stored, alice, moment);
    const userEvents = upTo(of(streams.user(alice)), moment);
    const userStatus: Record<string, string> = {
      UserRegistered: 'enabled',
      UserEnabled: 'enabled',
      UserDisabled: 'disabled',
    };
    expect(user && { status: user.status, group: user.group, available: user.holding.available }).toEqual(
      userEvents.length === 0
        ? null
        : {
            ...changed(userEvents, ({ type, group }) => ({
              ...(type in userStatus && { status: userStatus[type] }),
              ...(group !== undefined && { group }),
            })),
            available: held(log, moment, 'user'),
          },
    );

    const option = (name: string) =>
      upTo(
        log.filter(({ event }) => event.type === 'OptionChanged' && event.key === name),
        moment,
      ).at(-1);
    const entry = (name: string, member: string) => {
      const event = option(name)?.event as { value: { text: string } } | undefined;
      return event === undefined ? undefined : String(JSON.parse(event.value.text)[member]);
    };
    const record = upTo(
      log.filter(({ event }) => event.type === 'ModelPricesChanged'),
      moment,
    ).at(-1);
    const periods = (record?.event as { changes: { periods: { call: string }[] | null }[] } | undefined)?.changes[0]
      ?.periods;
    const { price, settings } = await priceAt(db, { model: 'gpt-4o', group: 'vip' }, moment);
    expect(price).toMatchObject({
      group: entry('GroupRatio', 'vip') ?? '1',
      ...(periods
        ? { per: 'call', price: periods[0]?.call }
        : { per: 'token', model: entry('ModelRatio', 'gpt-4o') ?? '1.25' }),
    });
    expect(settings.map(({ position }) => position)).toEqual(
      [option('GroupRatio'), option('ModelRatio'), record]
        .flatMap((event) => event?.position ?? [])
        .sort((one, other) => Number(one) - Number(other)),
    );
  }
});

test('a user who has been erased has no name as of any time, and what never was is nothing', async () => {
  const db = await projected.given(
    registered(alice, 'alice'),
    ofUser(alice, { type: 'UserDeleted', by: root }),
    ofUser(alice, { type: 'UserErased', by: root }),
  );
  const stored = { db, store: projected.store };
  const [first] = await projected.store.readAll(Position(-1), 1);
  const then = { position: first?.position ?? Position(0) };
  expect(await userAt(stored, alice, then)).toMatchObject({ status: 'enabled', username: null });
  expect(await userAt(stored, UserId(99), then)).toBeNull();
  expect(await priceAt(db, { model: 'no-such-model', group: '' }, then)).toEqual({ price: null, settings: [] });
});
