import { describe, expect, test } from 'vitest';
import { beginning } from '../../src/domain/events/events.js';
import { ChannelId } from '../../src/domain/kernel/ids.js';
import { Instant, unixSeconds } from '../../src/domain/kernel/instant.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import { boundTo } from '../../src/projections/engine/checkpoints.js';
import { schemaOf } from '../../src/projections/engine/projection.js';
import { usageLog } from '../../src/projections/models/usage-log/usage-log.js';
import {
  linesBefore,
  linesCleared,
  takeAwayCleared,
} from '../../src/projections/models/usage-log/usage-log-clearing.js';
import {
  usageLogAfter,
  usageLogBefore,
  usageLogCount,
  usageLogPage,
} from '../../src/projections/models/usage-log/usage-log-queries.js';
import { usageOfLastMinute, usageTotals } from '../../src/projections/models/usage-log/usage-totals.js';
import { usageStats } from '../../src/projections/models/usage-stats/usage-stats.js';
import { eventId } from '../support/given/events.js';
import { until } from '../support/until.js';
import { cleared, type Fact, refunded, released, settled, usage, when } from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
});

const schema = schemaOf(usageLog);
/** 2026-02-10, on the hour. */
const noon = Date.UTC(2026, 1, 10, 12);
const minute = 60_000;
const day = 24 * 60 * minute;
const moment = (offset: number) => Instant(noon + offset);
const call = (name: string, offset: number): Fact => when(moment(offset), settled(name, 100, 10));
const secondsAfter = (offset: number) => unixSeconds(moment(offset));

/** Twice the month before, and around noon. */
const history = [
  call('january', -40 * day),
  call('february', -9 * day),
  call('before noon', -30 * minute),
  call('at noon', 0),
  call('after noon', 20 * minute),
  when(moment(40 * minute), released('failed', 100)),
  call('evening', 5 * 60 * minute),
];

const shownCalls = async () =>
  (await usageLogBefore(projected.db, {}, { limit: 100 })).map(({ request_id }) => request_id).reverse();

/** Rows there are, shown or not, and tables they may be in. */
async function rowsThere(): Promise<{ rows: number; months: string[] }> {
  const { rows } = await projected.pool.query<{ rows: number; months: string[] }>(
    `select (select count(*) from ${schema}.usage_log) as rows,
       (select array_agg(relname::text order by relname) from pg_inherits join pg_class on pg_class.oid = inhrelid
        where inhparent = '${schema}.usage_log'::regclass) as months`,
  );
  return rows[0] ?? { rows: 0, months: [] };
}

describe('clearing the usage log', () => {
  test('removes earlier lines, to the second, and counts them', async () => {
    const db = await projected.given(...history);
    expect(await linesBefore(db, secondsAfter(20 * minute))).toBe(4);
    const position = await projected.record(cleared(moment(20 * minute)));
    await projected.given(call('later', 6 * 60 * minute));
    expect(await shownCalls()).toEqual(['after noon', 'failed', 'evening', 'later']);
    expect(await linesCleared(db, position)).toBe(4);
    expect(await linesBefore(db, secondsAfter(20 * minute))).toBe(0);
    expect(await linesBefore(db, secondsAfter(21 * minute))).toBe(1);
    expect(await linesBefore(db, secondsAfter(day))).toBe(4);
  });

  test('is respected by every list and figure', async () => {
    const db = await projected.given(...history, cleared(moment(20 * minute)));
    const end = await projected.store.head();
    const page = await usageLogPage(db, {}, { page: 1, size: 2 });
    expect(page).toMatchObject({ total: 3, totalIsExact: true });
    expect(await usageLogPage(db, { requestId: 'january' }, { page: 1, size: 2 })).toMatchObject({ items: [] });
    const followed = await usageLogAfter(db, {}, { after: beginning, upTo: end, limit: 10 });
    expect(followed.map(({ request_id }) => request_id)).toEqual(['after noon', 'failed', 'evening']);
    expect(await usageLogCount(db, {}, { upTo: end, max: 10 })).toBe(3);
    expect(await usageTotals(db, {}, 'both')).toMatchObject({ requests: 2, quota: 20 });
    expect(await usageTotals(db, { to: secondsAfter(-minute) }, 'both')).toMatchObject({ requests: 0, quota: 0 });
    expect(
      await usageTotals(db, { from: secondsAfter(-41 * day), to: secondsAfter(30 * minute) }, 'both'),
    ).toMatchObject({
      requests: 1,
    });
    const evening = 5 * 60 * minute;
    expect(await usageOfLastMinute(db, {}, secondsAfter(evening) + 30, 'both')).toMatchObject({ requests: 1 });
    await projected.given(cleared(moment(evening + 1_000)));
    expect(await usageOfLastMinute(db, {}, secondsAfter(evening) + 30, 'both')).toMatchObject({ requests: 0 });
  });

  test('leaves the statistics unchanged', async () => {
    await projected.given(...history);
    const before = await projected.dump(schemaOf(usageStats));
    await projected.given(cleared(moment(day)));
    expect(await shownCalls()).toEqual([]);
    expect(await projected.dump(schemaOf(usageStats))).toEqual(before);
  });

  test('removes the hour totals before, except for the hour that is shown in part', async () => {
    const db = await projected.given(...history, cleared(moment(25 * minute)));
    const spans = await db.selectFrom('usage_log_spans').select('span').orderBy('span').execute();
    expect(spans.map(({ span }) => span - noon / 1000)).toEqual([0, 1_200, 2_400, 5 * 3_600]);
    const hours = await db.selectFrom('usage_log_hours').select('hour').orderBy('hour').execute();
    expect(hours.map(({ hour }) => hour - noon / 1000)).toEqual([0, 5 * 3_600]);
  });

  test('drops whole months, and deletes the rest row by row', async () => {
    await projected.given(...history, cleared(moment(0)));
    await until(async () => ((await rowsThere()).rows === 4 ? true : null));
    expect((await rowsThere()).months).toEqual(['usage_log_2026_02']);
  });

  test('does not wait for readers: a month in use is deleted row by row, and its table later', async () => {
    await projected.given(...history);
    const reader = await projected.pool.connect();
    try {
      await reader.query(`begin; select * from ${schema}.usage_log`);
      await projected.given(cleared(moment(0)), call('meanwhile', 2 * 60 * minute));
      expect(await shownCalls()).toEqual(['at noon', 'after noon', 'failed', 'evening', 'meanwhile']);
      await until(async () => ((await rowsThere()).rows === 5 ? true : null));
      expect((await rowsThere()).months).toContain('usage_log_2026_01');
    } finally {
      await reader.query('rollback');
      reader.release();
    }
    await until(async () => ((await rowsThere()).months.length === 1 ? true : null));
  });

  test('does not disturb readers for a while where only the table of a month in use is left', async () => {
    await projected.given(...history);
    await projected.stopAll();
    await projected.pool.query(`update ${schema}.usage_log_rules set cleared_before = $1`, [secondsAfter(0)]);
    const [reader, projector] = [await projected.pool.connect(), await projected.pool.connect()];
    const step = async () => {
      await projector.query(`begin; set local search_path to ${schema}`);
      const left = await takeAwayCleared(boundTo(projector));
      await projector.query('commit');
      return left;
    };
    try {
      await reader.query(`begin; select * from ${schema}.usage_log`);
      expect(await step()).toBe('later');
      expect(await rowsThere()).toMatchObject({ rows: 4, months: ['usage_log_2026_01', 'usage_log_2026_02'] });
      await reader.query('rollback');
      expect([await step(), await step()]).toEqual(['now', null]);
    } finally {
      reader.release();
      projector.release();
    }
  });

  test('is completed by the next projector, where it was interrupted', async () => {
    const db = await projected.given(...history, cleared(moment(0)));
    await until(async () => ((await rowsThere()).rows === 4 ? true : null));
    await projected.stopAll();
    // As if the one before had not come to it.
    await projected.pool.query(`update ${schema}.usage_log_rules set cleared_before = $1`, [secondsAfter(10 * minute)]);
    await projected.start();
    await until(async () => ((await rowsThere()).rows === 3 ? true : null));
    expect(await usageTotals(db, {}, 'both')).toMatchObject({ requests: 2 });
  });
});

describe('an event recorded after the log was cleared', () => {
  const settlement = {
    ...{ eventId: eventId(0, 0x5e77), charged: Quota(10), usage },
    ...{ channelId: ChannelId(3), attempts: [ChannelId(3)], useTimeMs: 2_100 },
  };

  test('for a call reserved before is a line at the time of its settlement', async () => {
    await projected.given(...history, cleared(moment(day)), call('long', day + minute));
    expect(await shownCalls()).toEqual(['long']);
  });

  test('for a charge whose line is cleared can be refunded: the refund is a line, and the quota no longer counted', async () => {
    const db = await projected.given(...history);
    const position = await projected.record(cleared(moment(day)));
    const refund = refunded('at noon', 10, { settlement: { ...settlement, at: moment(0) } });
    await projected.given(when(moment(day + minute), refund));
    expect(await shownCalls()).toEqual(['at noon']);
    expect(await linesCleared(db, position)).toBe(7);
    expect(await linesBefore(db, secondsAfter(2 * day))).toBe(1);
    expect(await usageTotals(db, {}, 'both')).toMatchObject({ requests: 0, quota: 0 });
  });

  test('for a refund before the clearing is not counted as cleared', async () => {
    const refund = refunded('at noon', 10, { settlement: { ...settlement, at: moment(0) } });
    const db = await projected.given(...history);
    await projected.given(when(moment(2 * day), refund));
    expect(await linesBefore(db, secondsAfter(day))).toBe(6);
    const position = await projected.record(cleared(moment(day)));
    await projected.given(call('later', 2 * day + minute));
    expect(await linesCleared(db, position)).toBe(6);
  });

  test('with the time of a slow clock before the clearing is not a line', async () => {
    const db = await projected.given(...history, cleared(moment(0)), call('late', -minute));
    expect(await shownCalls()).not.toContain('late');
    expect(await usageTotals(db, {}, 'both')).toMatchObject({ requests: 3 });
    await until(async () => ((await rowsThere()).rows === 4 ? true : null));
  });
});

describe('a cleared log', () => {
  const twice = [
    ...history,
    cleared(moment(-day)),
    cleared(moment(10 * minute)),
    call('between', 30 * minute),
    when(moment(31 * minute), refunded('between', 10)),
    cleared(moment(25 * minute)),
    call('late', 12 * minute),
    call('last', day),
  ];

  test.each([1, 2, 3, 100])('is the same folded in batches of %i', async (batchSize) => {
    const runner = await projected.start({ pace: { batchSize } });
    expect(await runner.reached(await projected.record(...twice), 20_000)).toBe(true);
    expect(await shownCalls()).toEqual(['failed', 'evening', 'between', 'last']);
    const { rows } = await projected.pool.query<{ lines: number }>(
      `select lines from ${schema}.usage_log_clearings order by position`,
    );
    expect(rows.map(({ lines }) => lines)).toEqual([2, 2, 1]);
    expect(await linesBefore(projected.db, secondsAfter(2 * day))).toBe(4);
  });
});
