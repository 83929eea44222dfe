import fc from 'fast-check';
import { sql } from 'kysely';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { openPool } from '../../src/adapters/database/postgres.js';
import type { Usage } from '../../src/domain/call/usage.js';
import { Position } from '../../src/domain/events/events.js';
import { ApiKeyId, ChannelId, UserId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import { boundTo } from '../../src/projections/engine/checkpoints.js';
import { schemaOf } from '../../src/projections/engine/projection.js';
import { lineMatch } from '../../src/projections/models/usage-log/line-match.js';
import { logTypes, usageLog } from '../../src/projections/models/usage-log/usage-log.js';
import type { UsageLogFilter } from '../../src/projections/models/usage-log/usage-log-filter.js';
import { monthOf } from '../../src/projections/models/usage-log/usage-log-partitions.js';
import {
  usageLogBefore,
  usageLogCount,
  usageLogPage,
} from '../../src/projections/models/usage-log/usage-log-queries.js';
import { usageOfLastMinute, usageTotals } from '../../src/projections/models/usage-log/usage-totals.js';
import { openReadModels, readModels } from '../../src/projections/read-models.js';
import { quietLog } from '../support/quiet-log.js';
import { refusal } from '../support/refusal.js';
import {
  added,
  adjusted,
  alice,
  at,
  bob,
  bobKey,
  east,
  type Fact,
  granted,
  ofChannel,
  ofStrangers,
  ofUser,
  option,
  refunded,
  refused,
  refusedBeside,
  registered,
  released,
  reserved,
  rewarded,
  root,
  seconds,
  settled,
  setUp,
  transferred,
  west,
  when,
} from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
});

/** The lines of these events, newest first. */
const linesOf = async (...facts: readonly Fact[]) =>
  usageLogBefore(await projected.given(...facts), {}, { limit: 100 });

const tested = ofChannel(east, {
  type: 'ChannelTested',
  ok: true,
  responseTimeMs: 812.6,
  error: null,
  usage: {
    model: 'gpt-4o',
    promptTokens: 8,
    completionTokens: 2,
    quota: Quota(20),
    modelRatio: '1.25',
    completionRatio: '4',
    modelPrice: null,
  },
});

describe('a settled call', () => {
  test('is one line with all that is needed to explain its charge', async () => {
    const lines = await linesOf(
      registered(alice, 'alice'),
      added(east),
      reserved('r-1', 500),
      when(at(2.5), settled('r-1', 500, 310, { attempts: [west, east], upstreamModel: 'gpt-4o-2024-11-20' })),
    );
    expect(lines).toEqual([
      {
        id: 3,
        created_at: seconds(at(2)),
        type: logTypes.consume,
        user_id: alice,
        username: 'alice',
        request_id: 'r-1',
        quota: 310,
        prompt_tokens: 120,
        completion_tokens: 32,
        uncovered: 0,
        cached_tokens: 20,
        reasoning_tokens: 8,
        usage: { input: 95, cachedInput: 20, cacheWrite: 5, output: 24, reasoning: 8 },
        model: 'gpt-4o',
        api_key_id: 12,
        api_key_name: 'ci',
        channel_id: east,
        channel_name: 'east',
        group: 'default',
        use_time_ms: 2_100,
        first_token_ms: 640,
        is_stream: true,
        upstream_model: 'gpt-4o-2024-11-20',
        attempts: [west, east],
        failed_attempts: [],
        path: '/v1/chat/completions',
        reasoning_effort: null,
        price: {
          per: 'token',
          model: '1.25',
          ratios: { output: '4', cachedInput: '0.5', cacheWrite: '1.25' },
          group: '1',
        },
        usage_source: 'upstream',
        outcome: 'completed',
        detail: null,
      },
    ]);
  });

  test.each<[string, Usage, readonly ChannelId[]]>([
    ['text alone', { input: 95, output: 24 }, [east]],
    ['text, some of it cached and some thought', { input: 95, cachedInput: 20, output: 24, reasoning: 8 }, [east]],
    ['nothing', {}, [east]],
    ['what is counted in pieces, and pictures among the text', { input: 9, imageInput: 4, images: 2 }, [east]],
    ['none of a kind that is named all the same', { input: 9, output: 0 }, [east]],
    ['text alone, by the second channel tried', { input: 95, output: 24 }, [west, east]],
  ])('that used %s tells so', async (_, usage, attempts) => {
    const [line] = await linesOf(settled('a', 500, 310, { usage, attempts }));
    expect(line).toMatchObject({ channel_id: east, attempts, price: { per: 'token' }, path: '/v1/chat/completions' });
    expect(line?.usage).toEqual(usage);
  });

  test('tells its own price, path and outcome, whatever others of the same batch have', async () => {
    const perCall = { per: 'call', price: '0.1', quotaPerUnit: '500000', group: '1' } as const;
    const lines = await linesOf(
      settled('a', 500, 310),
      settled('b', 500, 310, { price: perCall }),
      settled('c', 500, 310, { price: perCall, outcome: 'caller-left' }),
      settled('d', 500, 310),
    );
    expect(lines.map(({ request_id, price, outcome }) => [request_id, price?.per, outcome])).toEqual([
      ['d', 'token', 'completed'],
      ['c', 'call', 'caller-left'],
      ['b', 'call', 'completed'],
      ['a', 'token', 'completed'],
    ]);
    const { rows } = await sql`select id from usage_log_terms`.execute(await projected.given());
    expect(rows).toHaveLength(3);
  });

  test('is a line however long it is said to have taken', async () => {
    const [line] = await linesOf(settled('a', 9, 1, { useTimeMs: 1e12, firstTokenMs: 2 ** 40 }));
    expect(line).toMatchObject({ use_time_ms: 2 ** 31 - 1, first_token_ms: 2 ** 31 - 1 });
  });

  test('is a line also when it was free, and when no API key paid', async () => {
    const [line] = await linesOf(
      settled('a', 0, 0, { facts: { apiKeyId: null, apiKeyName: 'playground-default' }, firstTokenMs: null }),
    );
    expect(line).toMatchObject({
      quota: 0,
      api_key_id: 0,
      api_key_name: 'playground-default',
      first_token_ms: null,
      username: '',
      channel_name: '',
    });
  });
});

const failedAttempts = [{ channelId: west, status: 429, code: 'rate_limit_exceeded', durationMs: 180 }];

describe('attempts that failed', () => {
  test.each([
    ['of a call that another channel answered', settled('a', 500, 310, { attempts: [west, east], failedAttempts })],
    ['of a call that nobody answered', released('a', 500, { attempts: [west], failedAttempts })],
  ])('%s are told with its line', async (_, outcome) => {
    const [line] = await linesOf(outcome);
    expect(line).toMatchObject({ failed_attempts: failedAttempts });
  });

  test('are told of a call whose settlement was taken back', async () => {
    const { event } = refunded('a', 310);
    if (event.type !== 'CallRefunded') throw new Error('no refund');
    const settlement = { ...event.settlement, failedAttempts };
    const [line, ...others] = await linesOf(settled('a', 500, 310), refunded('a', 310, { settlement }));
    expect(line).toMatchObject({ type: logTypes.error, failed_attempts: failedAttempts });
    expect(others).toEqual([]);
  });
});

describe('a released call', () => {
  test('is an error line when it could not be served', async () => {
    const [line] = await linesOf(released('a', 500, { attempts: [west, east], status: 503, code: 'no_channel' }));
    expect(line).toMatchObject({
      type: logTypes.error,
      quota: 0,
      request_id: 'a',
      channel_id: east,
      attempts: [west, east],
      use_time_ms: 300,
      detail: { kind: 'released', reason: 'upstream-failed', status: 503, code: 'no_channel' },
    });
  });

  test.each(['one batch', 'two'])(
    'that was charged before it failed has the line of its failure alone (%s)',
    async (batches) => {
      const before = [settled('b', 9, 4), reserved('a', 500), settled('a', 500, 310)];
      if (batches === 'two') await projected.given(...before);
      const lines = await linesOf(...(batches === 'two' ? [] : before), refunded('a', 310));
      expect(lines).toMatchObject([
        {
          type: logTypes.error,
          quota: 0,
          request_id: 'a',
          channel_id: east,
          outcome: null,
          detail: { kind: 'released', reason: 'not-booked', status: 503, code: 'store_unavailable' },
        },
        { type: logTypes.consume, quota: 4, request_id: 'b' },
      ]);
    },
  );

  test.each(['caller-left', 'recovered'] as const)('is no line when nobody did wrong (%s)', async (reason) => {
    expect(await linesOf(released('a', 500, { reason }))).toEqual([]);
  });
});

describe('movements that are not calls', () => {
  test('are lines of their kinds, their amounts in the detail', async () => {
    const facts = [granted(alice, 100), adjusted(alice, 50, 5), rewarded(alice, 7, bob), transferred(alice, 7)];
    expect(await linesOf(...facts)).toMatchObject([
      { type: logTypes.system, user_id: alice, quota: 0, detail: { kind: 'granted', quota: 7, reason: 'inviter' } },
      {
        type: logTypes.manage,
        user_id: alice,
        quota: 0,
        detail: { kind: 'adjusted', delta: 50, gift: 5, by: root, observed: 0 },
      },
      { type: logTypes.system, user_id: alice, quota: 0, detail: { kind: 'granted', quota: 100, reason: 'signup' } },
    ]);
  });
});

describe('a channel test', () => {
  test('is logged to the root user with what it would have cost', async () => {
    const lines = await linesOf(setUp(UserId(42)), tested);
    expect(lines).toMatchObject([
      {
        type: logTypes.consume,
        user_id: 42,
        quota: 20,
        prompt_tokens: 8,
        completion_tokens: 2,
        model: 'gpt-4o',
        api_key_id: 0,
        api_key_name: '模型测试',
        channel_id: east,
        use_time_ms: 813,
        detail: { kind: 'channel-tested', modelRatio: '1.25', completionRatio: '4', modelPrice: null },
      },
    ]);
  });

  test('without usage is no line', async () => {
    const failed = { type: 'ChannelTested', ok: false, responseTimeMs: 5, error: 'x', usage: null } as const;
    expect(await linesOf(ofChannel(east, failed))).toEqual([]);
  });
});

describe('while LogConsumeEnabled is off', () => {
  test('settled calls and tests are not logged, everything else is', async () => {
    const lines = await linesOf(
      settled('before', 9, 1),
      option('LogConsumeEnabled', 'false'),
      settled('during', 9, 2),
      tested,
      granted(alice, 1),
      released('failed', 9),
      option('LogConsumeEnabled', 'true'),
      settled('after', 9, 3),
    );
    expect(lines.map(({ type, request_id }) => [type, request_id])).toEqual([
      [logTypes.consume, 'after'],
      [logTypes.error, 'failed'],
      [logTypes.system, null],
      [logTypes.consume, 'before'],
    ]);
  });

  test('that holds for later batches too', async () => {
    await projected.given(option('LogConsumeEnabled', 'false'));
    expect(await linesOf(settled('a', 9, 1))).toEqual([]);
  });
});

describe('a refused call', () => {
  test('is an error line of its user, with what the caller was told', async () => {
    const [line] = await linesOf(registered(alice, 'alice'), refused('a'));
    expect(line).toMatchObject({
      ...{ type: logTypes.error, user_id: alice, username: 'alice', request_id: 'a', quota: 0, model: 'gpt-4o' },
      ...{ api_key_id: 12, api_key_name: 'ci', group: 'default', channel_id: 0, path: '/v1/chat/completions' },
      detail: { kind: 'refused', status: 403, code: 'insufficient_user_quota', count: 1, since: null, network: null },
    });
  });

  test('of a key that nobody has is a line of nobody', async () => {
    const [line] = await linesOf(refused('a', ofStrangers));
    expect(line).toMatchObject({
      ...{ user_id: 0, username: '', api_key_id: 0, model: '' },
      detail: { code: 'invalid_api_key', network: '192.0.2.0/24' },
    });
  });

  test('that has no line of its own is counted in that of the rest', async () => {
    const [line, ...others] = await linesOf(refusedBeside(412, { path: '' }));
    expect(line).toMatchObject({ request_id: null, path: null, detail: { count: 412, since: seconds(at()) } });
    expect(others).toEqual([]);
  });

  test('is found by its code, and so is one that failed; in the log and among lines that come', async () => {
    const facts = [
      refused('a'),
      refused('b', ofStrangers),
      released('c', 9, { code: 'overloaded' }),
      settled('d', 9, 1),
    ];
    const db = await projected.given(...facts);
    for (const [code, id] of [
      ['insufficient_user_quota', 'a'],
      ['invalid_api_key', 'b'],
      ['overloaded', 'c'],
    ]) {
      const found = await usageLogBefore(db, { code }, { limit: 10 });
      expect(found.map(({ request_id }) => request_id)).toEqual([id]);
      const all = await usageLogBefore(db, {}, { limit: 10 });
      expect(all.filter(lineMatch({ code })).map(({ request_id }) => request_id)).toEqual([id]);
    }
    expect(await usageTotals(db, { code: 'overloaded' }, 'both')).toMatchObject({ requests: 0, quota: 0 });
  });
});

describe('partitions', () => {
  const edge = Date.UTC(2026, 1, 1);

  test('are one per calendar month in UTC, made when the first line needs them', async () => {
    await projected.given(
      when(Instant(edge - 1), settled('january', 9, 1)),
      when(Instant(edge), settled('february', 9, 2)),
      when(Instant(Date.UTC(2027, 11, 31, 23, 59, 59, 999)), settled('december', 9, 3)),
    );
    const tables = await projected.dump(schemaOf(usageLog));
    const requests = (table: string) => (tables[table] ?? []).map((row) => /january|february|december/.exec(row)?.[0]);
    expect(Object.keys(tables)).toEqual([
      'usage_log',
      'usage_log_2026_01',
      'usage_log_2026_02',
      'usage_log_2027_12',
      'usage_log_clearings',
      'usage_log_hours',
      'usage_log_models',
      'usage_log_names',
      'usage_log_rules',
      'usage_log_series',
      'usage_log_spans',
      'usage_log_terms',
    ]);
    expect(requests('usage_log_2026_01')).toEqual(['january']);
    expect(requests('usage_log_2026_02')).toEqual(['february']);
    expect(requests('usage_log_2027_12')).toEqual(['december']);
  });

  test('meet without a gap', () => {
    expect(monthOf(edge - 1)).toEqual({
      table: 'usage_log_2026_01',
      from: Date.UTC(2026, 0, 1) / 1000,
      to: edge / 1000,
    });
    expect(monthOf(edge).from).toBe(edge / 1000);
    expect(monthOf(Date.UTC(2026, 11, 31)).to).toBe(Date.UTC(2027, 0, 1) / 1000);
  });

  test('do not keep readers waiting while one is made', async () => {
    await projected.given(settled('a', 9, 1));
    const reader = await projected.pool.connect();
    try {
      await reader.query(`begin; select count(*) from ${schemaOf(usageLog)}.usage_log`);
      // The reader's lock is still held; the new month is made all the same.
      const db = await projected.given(when(Instant(edge), settled('b', 9, 1)));
      expect(await usageLogBefore(db, {}, { limit: 9 })).toHaveLength(2);
    } finally {
      await reader.query('rollback');
      reader.release();
    }
  });
});

/** Lines and entries of their indexes that this transaction has read. */
async function lookedAt(client: pg.PoolClient): Promise<{ readonly lines: number; readonly entries: number }> {
  const { rows } = await client.query<{ lines: number; entries: number }>(`
    select sum(idx_tup_fetch + seq_tup_read)::int as lines, (
      select sum(pg_stat_get_xact_tuples_returned(indexrelid))::int from pg_index
      where indrelid::regclass::text like '%usage_log_2%'
    ) as entries
    from pg_stat_xact_user_tables where relname like 'usage_log_2%'
  `);
  return rows[0] ?? { lines: Number.NaN, entries: Number.NaN };
}

describe('the log', () => {
  const bobs = { facts: { userId: bob, apiKeyId: bobKey, apiKeyName: 'laptop', group: 'vip', model: 'claude-sonnet' } };
  const history = [
    registered(alice, 'alice'),
    registered(bob, 'bob'),
    when(at(0), settled('a', 9, 10)),
    when(at(100), settled('b', 9, 20, { ...bobs, channelId: west })),
    when(at(150), settled('c', 9, 30, { facts: { model: 'gpt-4o-mini' } })),
    when(at(160), released('d', 9, bobs)),
  ];
  const requestsOf = (lines: readonly { request_id: string | null }[]) => lines.map(({ request_id }) => request_id);
  const counting = { lines: 100, cost: 5_000, few: 100, ms: 1, passed: 0 };
  /** All lines, though nothing knows beforehand how many these are. */
  const everybodys: UsageLogFilter = { userIds: [alice, bob] };

  test.each<[string, UsageLogFilter, string[]]>([
    ['nothing', {}, ['d', 'c', 'b', 'a']],
    ['its type', { type: logTypes.error }, ['d']],
    ['the user', { userId: alice }, ['c', 'a']],
    ['the user’s present name', { username: 'bob' }, ['d', 'b']],
    ['a name nobody has', { username: 'carol' }, []],
    ['the API key', { apiKeyId: ApiKeyId(13) }, ['d', 'b']],
    ['the API key’s name', { apiKeyName: 'ci' }, ['c', 'a']],
    ['the model, whole', { model: 'gpt-4o' }, ['a']],
    ['the model, as a pattern', { model: 'gpt%%' }, ['c', 'a']],
    ['one unknown character of the model', { model: 'gpt-_o' }, ['a']],
    ['the channel', { channelId: ChannelId(4) }, ['b']],
    ['the group', { group: 'vip' }, ['d', 'b']],
    ['the request', { requestId: 'b' }, ['b']],
    ['when it began and ended, both inclusive', { from: seconds(at(100)), to: seconds(at(150)) }, ['c', 'b']],
    ['the name of nobody', { username: '' }, []],
    ['several at once', { username: 'bob', type: logTypes.consume, group: 'vip' }, ['b']],
    ['an API key’s name that nobody has', { apiKeyName: 'desktop' }, []],
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

  test('is filtered by the name that an API key had, also where it has had others', async () => {
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

  test('finds the one line of a series in the index of series, whatever others have', async () => {
    await projected.given(
      registered(alice, 'alice'),
      settled('first', 9, 1, { facts: { model: 'claude-sonnet' } }),
      settled('a', 9, 1),
      settled('b', 9, 1, bobs),
    );
    const client = await projected.pool.connect();
    const tx = boundTo(client);
    try {
      await client.query(`set search_path to ${readModels.map(schemaOf).join(', ')}`);
      // Few series, nothing vacuumed, no series’ lines together, and pages as dear as Postgres takes them to be unless
      // told otherwise: it seems cheaper to walk through the newest of all.
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
      expect(await usageLogCount(tx, { userId: alice, model: 'claude-sonnet' }, { upTo, most: 10 })).toBe(1);
      expect((await lookedAt(client)).lines - shown.lines).toBeLessThanOrEqual(1);
    } finally {
      client.release(true);
    }
  });

  test('finds what is seldom, and that there is none, without looking at the lines in between', async () => {
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

  test('is filtered by any values together, in pages as one by one', async () => {
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
        expect(await usageLogCount(db, filter, { upTo: Position(1_000_000), most: 7 })).toBe(Math.min(7, found.length));
      }),
      { numRuns: 100 },
    );
  });

  test('has the lines of values that many lines with others have, and pages far down', async () => {
    const numbers = Array.from({ length: 250 }, (_, n) => n);
    const db = await projected.given(
      registered(alice, 'alice'),
      ...numbers.map((n) => settled(`a${n}`, 9, 1, { facts: { model: `model-${n % 210}` } })),
      ...numbers.map((n) => settled(`b${n}`, 9, 1, { facts: { model: `model-${n % 150}` }, channelId: west })),
    );
    for (const channelId of [east, west]) {
      const filter = { userId: alice, channelId };
      const found = [...numbers].reverse().map((n) => `${channelId === west ? 'b' : 'a'}${n}`);
      for (const page of [1, 2, 25])
        expect(requestsOf((await usageLogPage(db, filter, { page, size: 10 })).items)).toEqual(
          found.slice((page - 1) * 10, page * 10),
        );
      expect(requestsOf(await usageLogBefore(db, filter, { limit: 1_500 }))).toEqual(found);
    }
  });

  test('is filtered by a pattern that more models fit than can be named, and by the name of more keys', async () => {
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

  test('is filtered by time whatever clocks said: the times of lines need not follow each other', async () => {
    const start = Date.UTC(2026, 0, 31, 21);
    const time = fc.integer({ min: 0, max: 6 * 3_600 });
    const times = fc.sample(time, 40);
    for (let batch = 0; batch < 40; batch += 10)
      await projected.given(
        ...times
          .slice(batch, batch + 10)
          .map((second, n) => when(Instant(start + second * 1000), settled(`${batch + n}`, 9, 1))),
      );
    const db = await projected.given();
    const all = await usageLogBefore(db, {}, { limit: 100 });
    expect(all).toHaveLength(40);
    const moment = time.map((second) => start / 1000 + second);
    const range = fc.record({ from: moment, to: moment }, { requiredKeys: [] });
    const page = fc.record({ page: fc.integer({ min: 1, max: 12 }), size: fc.integer({ min: 1, max: 20 }) });
    await fc.assert(
      fc.asyncProperty(range, page, fc.constantFrom(0, 4, 100), async (filter, request, lines) => {
        const found = requestsOf(all.filter(lineMatch(filter)));
        expect(requestsOf(await usageLogBefore(db, filter, { limit: 100 }))).toEqual(found);
        expect(requestsOf((await usageLogPage(db, filter, { page: 1, size: 100 })).items)).toEqual(found);
        const { items, total, totalIsExact } = await usageLogPage(db, filter, request, { ...counting, lines, cost: 0 });
        const offset = (request.page - 1) * request.size;
        expect(requestsOf(items)).toEqual(found.slice(offset, offset + request.size));
        if (totalIsExact) expect(total).toBe(found.length);
        else expect(lines).toBeLessThan(100);
      }),
      { examples: [[{ from: start / 1000 - 1_000_000, to: start / 1000 - 900_000 }, { page: 1, size: 9 }, 100]] },
    );
  });

  test('passes over whole hours without reading them, and counts by them', async () => {
    const hour = 3_600_000;
    // The clock of the node that wrote the fifth line was behind.
    const offsets = [0, 1_000, hour, hour + 1_000, 2_000, 2 * hour, 2 * hour + 1_000, 3 * hour, 3 * hour + 1_000];
    const db = await projected.given(
      ...offsets.map((ms, index) => when(Instant(Date.UTC(2026, 0, 1) + ms), settled(`${index}`, 9, 1))),
    );
    const from = Date.UTC(2026, 0, 1) / 1000;
    // Nothing is left to read of the third hour, nor of the second half of the fourth.
    await sql`delete from usage_log where created_at >= ${from + 7_200} and created_at <> ${from + 10_800}`.execute(db);
    const page = async (filter: UsageLogFilter, number: number, size = 1, lines = 10) => {
      const { items, total } = await usageLogPage(db, filter, { page: number, size }, { ...counting, lines, cost: 0 });
      return [...requestsOf(items), total];
    };
    expect(await page({}, 5)).toEqual(['4', 9]);
    expect(await page({}, 9)).toEqual(['0', 9]);
    expect(await page({}, 4, 2)).toEqual(['2', '1', 9]);
    expect(await page({ from: from + 1 }, 7)).toEqual(['2', 8]);
    expect(await page({ to: from + 10_800 }, 4)).toEqual(['4', 8]);
    expect(await page({ to: from + 10_799 }, 3)).toEqual(['4', 7]);
    // One by one, where that hour has too many lines to count those that are of the time.
    expect(await page({ to: from + 10_800 }, 2, 1, 1)).toEqual(['4', expect.anything()]);
  });

  test('of a time in the midst of an hour is found without looking at more than five minutes of what came later', async () => {
    const start = Date.UTC(2026, 0, 1);
    const everyMinute = Array.from({ length: 120 }, (_, n) => n);
    await projected.given(...everyMinute.map((n) => when(Instant(start + n * 60_000), settled(`${n}`, 9, 1))));
    const client = await projected.pool.connect();
    const tx = boundTo(client);
    try {
      await client.query(`set search_path to ${readModels.map(schemaOf).join(', ')}`);
      await client.query('vacuum analyze usage_log');
      await client.query('begin; set local enable_seqscan = off; set local enable_bitmapscan = off');
      for (const filter of [{}, { userId: alice }, { userId: alice, channelId: east }]) {
        const before = await lookedAt(client);
        const asked = { ...filter, from: start / 1000 + 600, to: start / 1000 + 1_800 };
        const found = requestsOf(await usageLogBefore(tx, asked, { limit: 1 }));
        expect(found).toEqual(['30']);
        expect((await lookedAt(client)).lines - before.lines).toBeLessThanOrEqual(6);
      }
    } finally {
      client.release(true);
    }
  });

  test('passes over hours that share few ids with an older one, however many lines that one has', async () => {
    const [start, hour] = [Date.UTC(2026, 0, 1), 3_600_000];
    // The fifth line is of the first hour, written after the second had begun.
    const offsets = [0, 1_000, 2_000, hour, 3_000, hour + 1_000];
    const db = await projected.given(
      ...offsets.map((ms, index) => when(Instant(start + ms), settled(`${index}`, 9, 1))),
    );
    // Who read the second hour line by line would find one too few.
    await sql`delete from usage_log where created_at = ${start / 1000 + 3_601}`.execute(db);
    const page = async (lines: number) =>
      requestsOf((await usageLogPage(db, {}, { page: 4, size: 1 }, { ...counting, lines, cost: 0 })).items);
    expect(await page(2)).toEqual(['2']);
    // Two ids would have to be looked at.
    expect(await page(1)).toEqual(['1']);
  });

  test.each(['%a%b%c%d%e%f', `${'x'.repeat(256)}%`])('refuses a pattern that costs too much: %s', async (model) => {
    const db = await projected.given();
    await expect(async () => usageLogBefore(db, { model }, { limit: 1 })).rejects.toMatchObject({
      code: 'invalid-field',
    });
    expect(() => lineMatch({ model })).toThrow(refusal('invalid-field'));
  });

  test.each(['\\', '%\\', 'a\\%'])('takes a backslash in the model as itself: %s', async (model) => {
    const db = await projected.given(settled('a', 9, 1, { facts: { model: 'a\\b' } }));
    const found = model === 'a\\%' ? ['a'] : [];
    expect(requestsOf(await usageLogBefore(db, { model }, { limit: 9 }))).toEqual(found);
    expect(requestsOf((await usageLogBefore(db, {}, { limit: 9 })).filter(lineMatch({ model })))).toEqual(found);
  });

  test('goes on where the last page ended, and comes in numbered pages too', async () => {
    const db = await projected.given(...history);
    const first = await usageLogBefore(db, {}, { limit: 3 });
    const next = await usageLogBefore(db, {}, { limit: 3, before: first[2]?.id });
    expect(requestsOf([...first, ...next])).toEqual(['d', 'c', 'b', 'a']);
    expect(requestsOf((await usageLogPage(db, {}, { page: 2, size: 3 })).items)).toEqual(['a']);
  });

  test('is counted up to a bound; beyond it the total is at least what was seen, and says that it is a guess', async () => {
    const db = await projected.given(...history);
    await sql`analyze usage_log`.execute(db);
    const page = (lines: number, cost = 5_000) =>
      usageLogPage(db, everybodys, { page: 1, size: 2 }, { ...counting, lines, cost });
    expect(await page(4)).toMatchObject({ total: 4, totalIsExact: true });
    for (const guessed of [await page(3), await page(4, 0)]) {
      expect(guessed.totalIsExact).toBe(false);
      expect(guessed.total).toBeGreaterThanOrEqual(3);
    }
  });

  test('is not counted where the planner expects far more: to be told that there are more is not worth it', async () => {
    const db = await projected.given(...history);
    const pages = (lines: number) => usageLogPage(db, everybodys, { page: 1, size: 2 }, { ...counting, lines });
    await sql`insert into usage_log select (line).* from (
      select jsonb_populate_record(line, jsonb_build_object('id', line.id + 1000 * copy)) as line
      from usage_log as line cross join generate_series(1, 24) as copy
    ) as copies`.execute(db);
    await sql`analyze usage_log`.execute(db);
    await sql`delete from usage_log where id >= 1000`.execute(db);
    expect(await pages(9)).toMatchObject({ total: 100, totalIsExact: false });
    expect(await pages(10)).toMatchObject({ total: 4, totalIsExact: true });
  });

  test('is not counted for longer than there is time, but for the first few', async () => {
    const db = await projected.given(...history);
    await sql`insert into usage_log select (line).* from (
      select jsonb_populate_record(line, jsonb_build_object('id', line.id + 1000 * copy)) as line
      from usage_log as line cross join generate_series(1, 10_000) as copy
    ) as copies`.execute(db);
    const pages = (few: number, ms: number) =>
      usageLogPage(db, everybodys, { page: 1, size: 2 }, { lines: 100_000, cost: 1e9, few, ms, passed: 0 });
    const inTime = await pages(30_000, 1);
    expect(inTime.totalIsExact).toBe(false);
    expect(inTime.total).toBeGreaterThan(30_000);
    expect(await pages(100_000, 1)).toMatchObject({ total: 40_004, totalIsExact: true });
    expect(await pages(1, 60_000)).toMatchObject({ total: 40_004, totalIsExact: true });
  });

  test('is known to its end without counting where the last page is shown', async () => {
    const db = await projected.given(...history);
    const page = (number: number, size: number) =>
      usageLogPage(db, everybodys, { page: number, size }, { ...counting, lines: 0, cost: 0 });
    expect(await page(2, 3)).toMatchObject({ total: 4, totalIsExact: true });
    expect(await page(1, 9)).toMatchObject({ total: 4, totalIsExact: true });
    expect(await page(9, 3)).toMatchObject({ items: [], totalIsExact: false });
    expect((await page(2, 2)).total).toBeGreaterThanOrEqual(5);
  });

  test('asked for more than there is time for says so', async () => {
    await projected.given(...history);
    const pool = await openPool(projected.database.connection, quietLog, {
      limits: { statementMs: 2_000, lockMs: null },
    });
    const slow = sql`select pg_sleep(600)`.execute(openReadModels(pool));
    await expect(slow).rejects.toMatchObject({ code: 'query-too-slow' });
    await pool.end();
  });

  test('shows the names users and channels have now', async () => {
    const db = await projected.given(
      ...history,
      added(east, { name: 'renamed' }),
      ofUser(alice, { type: 'UserProfileChanged', username: 'alicia', displayName: null }),
    );
    const [line] = await usageLogBefore(db, { userId: alice }, { limit: 1 });
    expect(line).toMatchObject({ request_id: 'c', username: 'alicia', channel_name: 'renamed' });
  });

  test('is summed over settled calls', async () => {
    const db = await projected.given(...history);
    expect(await usageTotals(db, { userId: alice }, 'both')).toEqual({
      quota: 40,
      requests: 2,
      prompt_tokens: 240,
      completion_tokens: 64,
      cached_tokens: 40,
      reasoning_tokens: 16,
    });
    expect(await usageTotals(db, { userId: root }, 'both')).toMatchObject({ quota: 0, requests: 0, prompt_tokens: 0 });
  });

  test('tells the traffic of the last minute', async () => {
    const db = await projected.given(...history);
    expect(await usageOfLastMinute(db, {}, seconds(at(160)), 'both')).toEqual({ requests: 2, tokens: 304 });
    expect(await usageOfLastMinute(db, { username: 'bob' }, seconds(at(161)), 'both')).toEqual({
      requests: 0,
      tokens: 0,
    });
  });
});
