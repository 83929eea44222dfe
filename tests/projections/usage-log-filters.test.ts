import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Position } from '../../src/domain/events/events.js';
import { ApiKeyId, ChannelId } from '../../src/domain/kernel/ids.js';
import { boundTo } from '../../src/projections/engine/checkpoints.js';
import { schemaOf } from '../../src/projections/engine/projection.js';
import { lineMatch } from '../../src/projections/models/usage-log/line-match.js';
import { logTypes } from '../../src/projections/models/usage-log/usage-log.js';
import type { UsageLogFilter } from '../../src/projections/models/usage-log/usage-log-filter.js';
import {
  usageLogBefore,
  usageLogCount,
  usageLogPage,
} from '../../src/projections/models/usage-log/usage-log-queries.js';
import { usageTotals } from '../../src/projections/models/usage-log/usage-totals.js';
import { readModels } from '../../src/projections/read-models.js';
import { refusal } from '../support/refusal.js';
import {
  added,
  adjusted,
  alice,
  at,
  bob,
  bobKey,
  east,
  ofUser,
  registered,
  released,
  seconds,
  settled,
  west,
  when,
} from './history.js';
import { forEachTest, type Projected } from './projected.js';
import { bobs, history, lookedAt, requestsOf } from './usage-log-setting.js';

let projected: Projected;
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'emptied',
  'dense',
);

describe('the usage log', () => {
  test.each<[string, UsageLogFilter, string[]]>([
    ['nothing', {}, ['d', 'c', 'b', 'a']],
    ['its type', { type: logTypes.error }, ['d']],
    ['the user', { userId: alice }, ['c', 'a']],
    ['the user’s current name', { username: 'bob' }, ['d', 'b']],
    ['an unknown name', { username: 'carol' }, []],
    ['the API key', { apiKeyId: ApiKeyId(13) }, ['d', 'b']],
    ['the API key’s name', { apiKeyName: 'ci' }, ['c', 'a']],
    ['the model, whole', { model: 'gpt-4o' }, ['a']],
    ['the model, as a pattern', { model: 'gpt%%' }, ['c', 'a']],
    ['one unknown character of the model', { model: 'gpt-_o' }, ['a']],
    ['the channel', { channelId: ChannelId(4) }, ['b']],
    ['the group', { group: 'vip' }, ['d', 'b']],
    ['the request', { requestId: 'b' }, ['b']],
    ['its beginning and end, both inclusive', { from: seconds(at(100)), to: seconds(at(150)) }, ['c', 'b']],
    ['an empty name', { username: '' }, []],
    ['several at once', { username: 'bob', type: logTypes.consume, group: 'vip' }, ['b']],
    ['an unknown name of an API key', { apiKeyName: 'desktop' }, []],
    ['the name of an API key that is another’s', { userId: alice, apiKeyName: 'laptop' }, []],
    ['the name of another API key', { apiKeyId: ApiKeyId(13), apiKeyName: 'ci' }, []],
    ['a user and a group together', { username: 'bob', group: 'vip' }, ['d', 'b']],
    ['a user and a group of others', { userId: alice, group: 'vip' }, []],
    ['a pattern that no model fits', { model: 'gemini%' }, []],
    ['a channel and a pattern', { channelId: west, model: '%o%' }, ['b']],
    ['a channel and a model of others', { channelId: west, model: 'gpt-4o' }, []],
    ['a group and a model of others', { group: 'vip', model: 'gpt-4o' }, []],
    ['a channel and a group', { channelId: west, group: 'vip' }, ['b']],
  ])('is filtered by %s', async (_, filter, found) => {
    const db = await projected.given(...history);
    expect(requestsOf(await usageLogBefore(db, filter, { limit: 10 }))).toEqual(found);
    const page = await usageLogPage(db, filter, { page: 1, size: 10 });
    expect(requestsOf(page.items)).toEqual(found);
    expect(page.total).toBe(found.length);
    // Whoever follows the log is shown what the list shows.
    const all = await usageLogBefore(db, {}, { limit: 10 });
    expect(requestsOf(all.filter(lineMatch(filter)))).toEqual(found);
  });

  test('is filtered by a name that an API key had, also where it has had others', async () => {
    const named = (id: string, apiKey: number, apiKeyName: string) =>
      settled(id, 9, 1, { facts: { apiKeyId: ApiKeyId(apiKey), apiKeyName } });
    const db = await projected.given(
      named('a', 13, 'work'),
      named('b', 14, 'home'),
      named('c', 13, 'home'),
      named('d', 15, 'work'),
      named('e', 16, 'home'),
    );
    const found = async (filter: UsageLogFilter) => requestsOf(await usageLogBefore(db, filter, { limit: 9 }));
    expect(await found({ apiKeyName: 'home' })).toEqual(['e', 'c', 'b']);
    expect(await found({ apiKeyName: 'work' })).toEqual(['d', 'a']);
    expect(await found({ apiKeyName: 'home', apiKeyId: ApiKeyId(13) })).toEqual(['c']);
  });

  test('finds the one line of a series in the index of series, whatever lines others have', async () => {
    await projected.given(
      registered(alice, 'alice'),
      settled('first', 9, 1, { facts: { model: 'claude-sonnet' } }),
      settled('a', 9, 1),
      settled('b', 9, 1, bobs),
    );
    // No transaction but this one keeps lines from being vacuumed.
    await projected.stopAll();
    const client = await projected.pool.connect();
    const tx = boundTo(client);
    try {
      await client.query(`set search_path to ${readModels.map(schemaOf).join(', ')}`);
      // Few series, nothing vacuumed, no series’ lines together, and pages as dear as Postgres takes them to be unless
      // informed otherwise: it seems cheaper to walk through the newest of all.
      await client.query(`
        insert into usage_log select (line).* from (
          select jsonb_populate_record(line, jsonb_build_object('id', line.id + 1000 * copy)) as line
          from usage_log as line cross join generate_series(1, 3000) as copy where line.request_id in ('a', 'b')
        ) as copies order by (line).id
      `);
      await client.query('analyze usage_log');
      await client.query(
        'begin; set local enable_seqscan = off; set local enable_bitmapscan = off; set local random_page_cost = 4',
      );
      const before = await lookedAt(client);
      const found = await usageLogBefore(tx, { userId: alice, model: 'claude-sonnet' }, { limit: 10 });
      const shown = await lookedAt(client);
      expect(requestsOf(found)).toEqual(['first']);
      // Once to know that everybody sees it, and once to read it.
      expect(shown.lines - before.lines).toBeLessThanOrEqual(2);
      const upTo = Position(1_000_000);
      expect(await usageLogCount(tx, { userId: alice, model: 'claude-sonnet' }, { upTo, max: 10 })).toBe(1);
      expect((await lookedAt(client)).lines - shown.lines).toBeLessThanOrEqual(1);
    } finally {
      client.release(true);
    }
  });

  test('finds rare lines, and the absence of any, without reading the lines in between', async () => {
    const many = <Of>(of: (n: number) => Of) => Array.from({ length: 200 }, (_, n) => of(n));
    await projected.given(
      registered(alice, 'alice'),
      settled('seldom', 9, 1, { facts: { model: 'claude-sonnet' } }),
      released('failed', 9),
      adjusted(alice, 5),
      settled('grouped', 9, 1, { facts: { group: 'seldom' } }),
      settled('phoned', 9, 1, { facts: { apiKeyId: ApiKeyId(14), apiKeyName: 'phone' } }),
      settled('small', 9, 1, { facts: { model: 'gpt-4o-mini' } }),
      settled('crossed', 9, 1, { channelId: west, facts: { model: 'gpt-3.5' } }),
      settled('east', 9, 1, { ...bobs, facts: { ...bobs.facts, model: 'gpt-3.5' } }),
      ...many((n) => settled(`a${n}`, 9, 1)),
      // Another's, so that neither model nor failure is what is seldom.
      released('lost', 9, { ...bobs, attempts: [west] }),
      ...many((n) => settled(`b${n}`, 9, 1, { ...bobs, channelId: west })),
      ...many((n) => released(`c${n}`, 9, bobs)),
    );
    // No transaction but this one keeps lines from being vacuumed.
    await projected.stopAll();
    const client = await projected.pool.connect();
    const tx = boundTo(client);
    const looked = () => lookedAt(client);
    try {
      await client.query(`set search_path to ${readModels.map(schemaOf).join(', ')}`);
      // Many pages, so that whoever looks at the lines in between pays for it. Those of a kind lie together: where that
      // kind has others' lines only, it would seem cheap to look through all of them.
      await client.query(`
        insert into usage_log select (line).* from (
          select jsonb_populate_record(line, jsonb_build_object('id', line.id + 1000 * copy)) as line
          from usage_log as line cross join generate_series(1, 30) as copy where line.request_id ~ '^[abc][0-9]'
        ) as copies order by (line).type, (line).id
      `);
      await client.query('vacuum analyze usage_log');
      await client.query('begin; set local enable_seqscan = off; set local enable_bitmapscan = off');
      const filters: readonly [string, UsageLogFilter, (string | null)[]][] = [
        ['a user’s of one model', { userId: alice, model: 'claude-sonnet' }, ['seldom']],
        ['those of a name and one model', { username: 'alice', model: 'claude-sonnet' }, ['seldom']],
        ['a user’s by one channel', { userId: alice, channelId: west }, ['crossed']],
        ['an API key’s by one channel', { apiKeyId: ApiKeyId(12), channelId: west }, ['crossed']],
        ['an API key’s of one model', { apiKeyId: bobKey, model: 'gpt-3.5' }, ['east']],
        ['those by one channel of one model', { channelId: west, model: 'gpt-3.5' }, ['crossed']],
        ['those by one channel of a pattern', { channelId: west, model: '%3.5' }, ['crossed']],
        ['those of one group and one model', { group: 'vip', model: 'gpt-3.5' }, ['east']],
        ['that a user was never served by a channel', { userId: bob, channelId: west, model: 'gpt-3.5' }, []],
        ['a user’s that failed', { userId: alice, type: logTypes.error }, ['failed']],
        ['a channel’s that failed', { channelId: west, type: logTypes.error }, ['lost']],
        ['those of a kind', { type: logTypes.manage }, [null]],
        ['a user’s of a kind', { userId: alice, type: logTypes.manage }, [null]],
        ['a user’s of a kind that another has', { userId: bob, type: logTypes.manage }, []],
        ['those of a group', { group: 'seldom' }, ['grouped']],
        ['those of a name of an API key', { apiKeyName: 'phone' }, ['phoned']],
        ['that nobody has an API key of the name', { apiKeyName: 'desktop' }, []],
        ['those of a pattern', { model: '%mini' }, ['small']],
        ['that no model fits a pattern', { model: 'gemini%' }, []],
        ['that a user was never of a group', { userId: alice, group: 'vip' }, []],
        ['that a channel never served a model', { channelId: west, model: 'gpt-4o' }, []],
        ['that a channel never served a group', { channelId: west, group: 'seldom' }, []],
        ['that a group never had a model', { group: 'vip', model: 'gpt-4o' }, []],
      ];
      for (const [name, filter, found] of filters) {
        const before = await looked();
        expect(requestsOf(await usageLogBefore(tx, filter, { limit: 10 })), name).toEqual(found);
        const after = await looked();
        expect(after.lines - before.lines, name).toBe(found.length);
        // One to find where it is, one to read it.
        expect(after.entries - before.entries, name).toBeLessThanOrEqual(2 * found.length);
      }
    } finally {
      // With what was prepared on it.
      client.release(true);
    }
  });

  test('is filtered by any values together, in pages as line by line', async () => {
    const drawn = fc.record({
      user: fc.constantFrom(alice, bob),
      apiKey: fc.constantFrom(12, 13, 14),
      apiKeyName: fc.constantFrom('ci', 'laptop'),
      model: fc.constantFrom('gpt-4o', 'gpt-4o-mini', 'claude-sonnet'),
      channel: fc.constantFrom(3, 4),
      group: fc.constantFrom('default', 'vip'),
      failed: fc.boolean(),
    });
    const facts = fc.sample(drawn, 60).map(({ user, apiKey, apiKeyName, model, channel, group, failed }, n) => {
      const of = { facts: { userId: user, apiKeyId: ApiKeyId(apiKey), apiKeyName, model, group } };
      const call = failed
        ? released(`f${n}`, 9, { ...of, attempts: [ChannelId(channel)], code: 'overloaded' })
        : settled(`s${n}`, 9, 1, { ...of, channelId: ChannelId(channel) });
      return when(at(n * 100), call);
    });
    await projected.given(registered(alice, 'alice'), registered(bob, 'bob'), ...facts.slice(0, 30));
    const db = await projected.given(...facts.slice(30));
    const all = await usageLogBefore(db, {}, { limit: 100 });
    const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
    const filters = fc.record({
      userId: maybe(fc.constantFrom(alice, bob)),
      username: maybe(fc.constantFrom('alice', 'bob', 'carol')),
      apiKeyId: maybe(fc.constantFrom(12, 13, 14, 15).map(ApiKeyId)),
      apiKeyName: maybe(fc.constantFrom('ci', 'laptop', 'none')),
      model: maybe(fc.constantFrom('gpt-4o', 'gpt%', '%o%', 'claude-sonnet', 'gemini')),
      channelId: maybe(fc.constantFrom(3, 4, 5).map(ChannelId)),
      group: maybe(fc.constantFrom('default', 'vip', 'none')),
      type: maybe(fc.constantFrom(logTypes.consume, logTypes.error)),
      code: maybe(fc.constantFrom('overloaded', 'other')),
      from: maybe(fc.integer({ min: -1, max: 61 }).map((n) => seconds(at(n * 100)))),
      to: maybe(fc.integer({ min: -1, max: 61 }).map((n) => seconds(at(n * 100)))),
    });
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 20 }), fc.nat({ max: 3 }), async (filter, size, skipped) => {
        const found = requestsOf(all.filter(lineMatch(filter)));
        expect(requestsOf(await usageLogBefore(db, filter, { limit: 100 }))).toEqual(found);
        const { items, total } = await usageLogPage(db, filter, { page: skipped + 1, size });
        expect(requestsOf(items)).toEqual(found.slice(skipped * size, (skipped + 1) * size));
        if (skipped === 0) expect(total).toBe(found.length);
        expect(await usageLogCount(db, filter, { upTo: Position(1_000_000), max: 7 })).toBe(Math.min(7, found.length));
      }),
      { numRuns: 100 },
    );
  });

  test('is filtered by a pattern that matches more models than the limit, and by a name that more keys have', async () => {
    const numbers = Array.from({ length: 120 }, (_, n) => n);
    const db = await projected.given(
      registered(alice, 'alice'),
      ...numbers.flatMap((n) => [
        settled(`many${n}`, 9, 1, {
          facts: { model: `model-${n}`, apiKeyId: ApiKeyId(100 + n), apiKeyName: n % 12 === 0 ? 'other' : 'shared' },
          channelId: n % 2 === 0 ? west : east,
        }),
        settled(`rest${n}`, 9, 1, { facts: { group: n % 3 === 0 ? 'vip' : 'default' } }),
      ]),
    );
    const all = await usageLogBefore(db, {}, { limit: 1_000 });
    expect(all).toHaveLength(240);
    const filters: UsageLogFilter[] = [
      { model: 'model-%' },
      { apiKeyName: 'shared' },
      { model: 'model-%', apiKeyName: 'shared' },
      { model: 'model-%', channelId: west, apiKeyName: 'shared' },
      { model: 'model-%', group: 'vip' },
      { model: 'model-1_', apiKeyName: 'other' },
    ];
    for (const filter of filters) {
      const found = all.filter(lineMatch(filter));
      expect(requestsOf(await usageLogBefore(db, filter, { limit: 1_000 }))).toEqual(requestsOf(found));
      expect(requestsOf((await usageLogPage(db, filter, { page: 2, size: 30 })).items)).toEqual(
        requestsOf(found.slice(30, 60)),
      );
      expect(await usageTotals(db, filter, 'calls')).toMatchObject({ requests: found.length });
      expect(await usageTotals(db, { ...filter, from: seconds(at(-1)), to: seconds(at(1)) }, 'calls')).toMatchObject({
        requests: found.length,
      });
    }
  });

  test.each(['%a%b%c%d%e%f', `${'x'.repeat(256)}%`])('refuses a pattern that is too expensive: %s', async (model) => {
    const db = await projected.given();
    await expect(async () => usageLogBefore(db, { model }, { limit: 1 })).rejects.toMatchObject({
      code: 'invalid-field',
    });
    expect(() => lineMatch({ model })).toThrow(refusal('invalid-field'));
  });

  test.each(['\\', '%\\', 'a\\%'])('treats a backslash in the model as an ordinary character: %s', async (model) => {
    const db = await projected.given(settled('a', 9, 1, { facts: { model: 'a\\b' } }));
    const found = model === 'a\\%' ? ['a'] : [];
    expect(requestsOf(await usageLogBefore(db, { model }, { limit: 9 }))).toEqual(found);
    expect(requestsOf((await usageLogBefore(db, {}, { limit: 9 })).filter(lineMatch({ model })))).toEqual(found);
  });

  test('returns the current names of users and channels', async () => {
    const db = await projected.given(
      ...history,
      added(east, { name: 'renamed' }),
      ofUser(alice, { type: 'UserProfileChanged', username: 'alicia', displayName: null }),
    );
    const [line] = await usageLogBefore(db, { userId: alice }, { limit: 1 });
    expect(line).toMatchObject({ request_id: 'c', username: 'alicia', channel_name: 'renamed' });
  });
});
