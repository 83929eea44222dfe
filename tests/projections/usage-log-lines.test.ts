import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Usage } from '../../src/domain/call/usage.js';
import { type ChannelId, TaskId, UserId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import { schemaOf } from '../../src/projections/engine/projection.js';
import { lineMatch } from '../../src/projections/models/usage-log/line-match.js';
import { logTypes, usageLog } from '../../src/projections/models/usage-log/usage-log.js';
import { monthOf } from '../../src/projections/models/usage-log/usage-log-partitions.js';
import { usageLogBefore } from '../../src/projections/models/usage-log/usage-log-queries.js';
import { usageTotals } from '../../src/projections/models/usage-log/usage-totals.js';
import {
  added,
  adjusted,
  alice,
  at,
  bob,
  east,
  type Fact,
  furtherRefusals,
  granted,
  ofChannel,
  ofStrangers,
  option,
  refunded,
  refused,
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
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'emptied',
  'dense',
);

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
  test('is one line with everything needed to explain its charge', async () => {
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
        upstream_cost: null,
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

  test('says what its upstream charges, exactly', async () => {
    const [line] = await linesOf(settled('a', 500, 310, { upstreamCost: '0.00000012345678901234' }));
    expect(line).toMatchObject({ upstream_cost: '0.00000012345678901234' });
  });

  test.each<[string, Usage, readonly ChannelId[]]>([
    ['text only', { input: 95, output: 24 }, [east]],
    ['text, partly cached and partly thinking', { input: 95, cachedInput: 20, output: 24, reasoning: 8 }, [east]],
    ['nothing', {}, [east]],
    ['things counted in pieces, and pictures among the text', { input: 9, imageInput: 4, images: 2 }, [east]],
    ['zero of a quantity that is named', { input: 9, output: 0 }, [east]],
    ['text only, by the second channel tried', { input: 95, output: 24 }, [west, east]],
  ])('that used %s is shown so', async (_, usage, attempts) => {
    const [line] = await linesOf(settled('a', 500, 310, { usage, attempts }));
    expect(line).toMatchObject({ channel_id: east, attempts, price: { per: 'token' }, path: '/v1/chat/completions' });
    expect(line?.usage).toEqual(usage);
  });

  test('has its own price, path and outcome, whatever others of the same batch have', async () => {
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

  test('is a line however long it claims to have taken', async () => {
    const [line] = await linesOf(settled('a', 9, 1, { useTimeMs: 1e12, firstTokenMs: 2 ** 40 }));
    expect(line).toMatchObject({ use_time_ms: 2 ** 31 - 1, first_token_ms: 2 ** 31 - 1 });
  });

  test('is a line also when it was free, and without an API key', async () => {
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

describe('the failed attempts', () => {
  test.each([
    ['of a call that another channel answered', settled('a', 500, 310, { attempts: [west, east], failedAttempts })],
    ['of a call without an answer', released('a', 500, { attempts: [west], failedAttempts })],
  ])('%s are in its line', async (_, outcome) => {
    const [line] = await linesOf(outcome);
    expect(line).toMatchObject({ failed_attempts: failedAttempts });
  });

  test('are in the line of a call whose settlement was withdrawn', async () => {
    const { event } = refunded('a', 310);
    if (event.type !== 'CallRefunded') throw new Error('no refund');
    const settlement = { ...event.settlement, failedAttempts };
    const [line, ...others] = await linesOf(settled('a', 500, 310), refunded('a', 310, { settlement }));
    expect(line).toMatchObject({ type: logTypes.error, failed_attempts: failedAttempts });
    expect(others).toEqual([]);
  });
});

describe('a call that submitted a task', () => {
  const task = { id: TaskId(41), platform: 'midjourney', action: 'IMAGINE', publicId: '17443' } as const;
  const named = { platform: task.platform, action: task.action, publicId: task.publicId };

  test('has a line of its charge, and another one of the refund when the task fails', async () => {
    const failed = refunded('a', 310, { task: { ...task, reason: 'upstream' }, suspense: Quota(0) });
    const lines = await linesOf(settled('a', 500, 310, { task }), failed);
    expect(lines).toMatchObject([
      {
        type: logTypes.system,
        quota: 0,
        request_id: 'a',
        detail: { kind: 'task-refunded', quota: 310, reason: 'upstream', ...named },
      },
      { type: logTypes.consume, quota: 310, request_id: 'a', detail: { kind: 'task-submitted', ...named } },
    ]);
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
    'that was charged before it failed has the line of its failure only (%s)',
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

  test.each(['caller-left', 'recovered'] as const)('is not a line when it is no failure (%s)', async (reason) => {
    expect(await linesOf(released('a', 500, { reason }))).toEqual([]);
  });
});

describe('movements other than calls', () => {
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
  test('is logged to the root user with its theoretical cost', async () => {
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

  test('without usage is not a line', async () => {
    const failed = { type: 'ChannelTested', ok: false, responseTimeMs: 5, error: 'x', usage: null } as const;
    expect(await linesOf(ofChannel(east, failed))).toEqual([]);
  });
});

describe('while LogConsumeEnabled is off', () => {
  test('settled calls and tests are not logged, while all else is', async () => {
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

  test('later batches are treated the same', async () => {
    await projected.given(option('LogConsumeEnabled', 'false'));
    expect(await linesOf(settled('a', 9, 1))).toEqual([]);
  });
});

describe('a refused call', () => {
  test('is an error line of its user, with the error that the caller received', async () => {
    const [line] = await linesOf(registered(alice, 'alice'), refused('a'));
    expect(line).toMatchObject({
      ...{ type: logTypes.error, user_id: alice, username: 'alice', request_id: 'a', quota: 0, model: 'gpt-4o' },
      ...{ api_key_id: 12, api_key_name: 'ci', group: 'default', channel_id: 0, path: '/v1/chat/completions' },
      detail: { kind: 'refused', status: 403, code: 'insufficient_user_quota', count: 1, since: null, network: null },
    });
  });

  test('with an unknown key is a line without a user', async () => {
    const [line] = await linesOf(refused('a', ofStrangers));
    expect(line).toMatchObject({
      ...{ user_id: 0, username: '', api_key_id: 0, model: '' },
      detail: { code: 'invalid_api_key', network: '192.0.2.0/24' },
    });
  });

  test('without a line of its own is counted in that of the rest', async () => {
    const [line, ...others] = await linesOf(furtherRefusals(412, { path: '' }));
    expect(line).toMatchObject({ request_id: null, path: null, detail: { count: 412, since: seconds(at()) } });
    expect(others).toEqual([]);
  });

  test('is found by its code, and so is a failed one; in the log and among live lines', async () => {
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

describe('the partitions of the usage log', () => {
  const edge = Date.UTC(2026, 1, 1);

  test('are one per calendar month in UTC, created when the first line needs them', async () => {
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

  test('adjoin without a gap', () => {
    expect(monthOf(edge - 1)).toEqual({
      table: 'usage_log_2026_01',
      from: Date.UTC(2026, 0, 1) / 1000,
      to: edge / 1000,
    });
    expect(monthOf(edge).from).toBe(edge / 1000);
    expect(monthOf(Date.UTC(2026, 11, 31)).to).toBe(Date.UTC(2027, 0, 1) / 1000);
  });

  test('do not delay readers while one is created', async () => {
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
