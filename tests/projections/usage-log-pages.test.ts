import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { openPool } from '../../src/adapters/database/postgres.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { lineMatch } from '../../src/projections/models/usage-log/line-match.js';
import type { UsageLogFilter } from '../../src/projections/models/usage-log/usage-log-filter.js';
import { usageLogBefore, usageLogPage } from '../../src/projections/models/usage-log/usage-log-queries.js';
import { usageOfLastMinute, usageTotals } from '../../src/projections/models/usage-log/usage-totals.js';
import { openReadModels } from '../../src/projections/read-models.js';
import { quietLog } from '../support/quiet-log.js';
import { alice, at, east, registered, root, seconds, settled, west, when } from './history.js';
import { forEachTest, type Projected } from './projected.js';
import { counting, everybodys, history, requestsOf } from './usage-log-setting.js';

let projected: Projected;
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'emptied',
  'dense',
);

describe('the usage log', () => {
  test('has the lines of values that many lines share, and pages far down', async () => {
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

  test('is filtered by time even if clocks were wrong: the times of lines need not be in order', async () => {
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

  test('skips whole hours without reading them, and counts by their totals', async () => {
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

  test('finds a time in the middle of an hour without reading lines from more than five minutes later', async () => {
    const start = Date.UTC(2026, 0, 1);
    const everyMinute = Array.from({ length: 120 }, (_, n) => n);
    const db = await projected.given(
      ...everyMinute.map((n) => when(Instant(start + n * 60_000), settled(`${n}`, 9, 1))),
    );
    // Whoever read these lines would take them for newer ones of the time asked for.
    await sql`update usage_log set created_at = ${start / 1000 + 1_200}
      where created_at >= ${start / 1000 + 2_100}`.execute(db);
    for (const filter of [{}, { userId: alice }, { userId: alice, channelId: east }]) {
      const asked = { ...filter, from: start / 1000 + 600, to: start / 1000 + 1_800 };
      expect(requestsOf(await usageLogBefore(db, asked, { limit: 1 }))).toEqual(['30']);
    }
  });

  test('skips hours that share few ids with an older one, however many lines that one has', async () => {
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

  test('continues where the last page ended, and has numbered pages too', async () => {
    const db = await projected.given(...history);
    const first = await usageLogBefore(db, {}, { limit: 3 });
    const next = await usageLogBefore(db, {}, { limit: 3, before: first[2]?.id });
    expect(requestsOf([...first, ...next])).toEqual(['d', 'c', 'b', 'a']);
    expect(requestsOf((await usageLogPage(db, {}, { page: 2, size: 3 })).items)).toEqual(['a']);
  });

  test('is counted up to a bound; beyond it the total is a lower bound, marked as an estimate', async () => {
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

  test('is not counted where the planner expects far more', async () => {
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

  test('is not counted beyond its time limit, except for the first lines', async () => {
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

  test('has a known total without counting where the last page is shown', async () => {
    const db = await projected.given(...history);
    const page = (number: number, size: number) =>
      usageLogPage(db, everybodys, { page: number, size }, { ...counting, lines: 0, cost: 0 });
    expect(await page(2, 3)).toMatchObject({ total: 4, totalIsExact: true });
    expect(await page(1, 9)).toMatchObject({ total: 4, totalIsExact: true });
    expect(await page(9, 3)).toMatchObject({ items: [], totalIsExact: false });
    expect((await page(2, 2)).total).toBeGreaterThanOrEqual(5);
  });

  test('reports a query that exceeds the time limit', async () => {
    await projected.given(...history);
    const pool = await openPool(projected.database.connection, quietLog, {
      limits: { statementMs: 2_000, lockMs: null },
    });
    const slow = sql`select pg_sleep(600)`.execute(openReadModels(pool));
    await expect(slow).rejects.toMatchObject({ code: 'query-too-slow' });
    await pool.end();
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

  test('returns the traffic of the last minute', async () => {
    const db = await projected.given(...history);
    expect(await usageOfLastMinute(db, {}, seconds(at(160)), 'both')).toEqual({ requests: 2, tokens: 304 });
    expect(await usageOfLastMinute(db, { username: 'bob' }, seconds(at(161)), 'both')).toEqual({
      requests: 0,
      tokens: 0,
    });
  });
});
