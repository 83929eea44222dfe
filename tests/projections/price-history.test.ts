import { describe, expect, test } from 'vitest';
import { Position } from '../../src/domain/events/events.js';
import { UserId } from '../../src/domain/kernel/ids.js';
import type { PricePeriods } from '../../src/domain/pricing/records/model-price.js';
import { allPriceRecords, approvedPriceRecords, priceChanges } from '../../src/projections/models/price-history.js';
import { option, pricesChanged } from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'emptied',
  'dense',
);

const root = UserId(1);
const prices = (changes: Parameters<typeof pricesChanged>[1]) => pricesChanged(root, changes);
const perCall = (call: string): PricePeriods => [{ call }];

describe('the history of prices', () => {
  test('has the newest record of each model, and models whose record was removed', async () => {
    const db = await projected.given(
      prices({ one: perCall('1'), other: perCall('2') }),
      option('RetryTimes', '1'),
      prices({ one: perCall('3'), third: null }),
    );
    expect(await allPriceRecords(db)).toEqual([
      { model: 'one', periods: perCall('3'), position: 2 },
      { model: 'other', periods: perCall('2'), position: 0 },
      { model: 'third', periods: null, position: 2 },
    ]);
  });

  test('lists changes with the previous state, newest first, and continues in the middle of one command', async () => {
    const db = await projected.given(
      prices({ one: perCall('1'), other: perCall('2') }),
      prices({ one: null }),
      prices({ one: perCall('3'), other: perCall('4') }),
    );
    const all = await priceChanges(db, { model: null, before: null, max: 10 });
    expect(all).toMatchObject([
      { position: 2, model: 'one', by_user: 1, origin: { kind: 'import' }, before: null, periods: perCall('3') },
      { position: 2, model: 'other', before: perCall('2'), periods: perCall('4') },
      { position: 1, model: 'one', before: perCall('1'), periods: null },
      { position: 0, model: 'one', before: null, periods: perCall('1') },
      { position: 0, model: 'other', before: null, periods: perCall('2') },
    ]);
    const rest = await priceChanges(db, { model: null, before: { position: Position(2), model: 'one' }, max: 10 });
    expect(rest).toEqual(all.slice(1));
    const ofOne = await priceChanges(db, { model: 'one', before: null, max: 2 });
    expect(ofOne.map(({ position }) => position)).toEqual([2, 1]);
  });

  test('has the last record of each model that was not applied by itself', async () => {
    const unasked = { kind: 'source', name: 's', unasked: true } as const;
    const byItself = (changes: Parameters<typeof pricesChanged>[1]) => {
      const { event, ...rest } = prices(changes);
      return { ...rest, event: { ...event, origin: unasked } };
    };
    const db = await projected.given(
      prices({ one: perCall('1'), other: perCall('2') }),
      byItself({ one: perCall('3'), third: perCall('3') }),
      prices({ other: null }),
    );
    expect(await approvedPriceRecords(db)).toEqual(
      new Map([
        ['one', perCall('1')],
        ['other', null],
      ]),
    );
  });
});
