import { describe, expect, test } from 'vitest';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { type OptionChanged, type OptionCommand, optionDecider } from '../../../src/domain/options/option.js';
import { mapInForce } from '../../../src/domain/options/pinned-entries.js';
import { scenariosOf } from '../../support/given/given.js';

const root = UserId(1);
const given = scenariosOf(optionDecider);
const noon = Instant(Date.UTC(2026, 10, 28, 12));
const builtIn = JSON.stringify({ old: 1, dated: 2 });
/** As of the day on which the price of one model has changed. */
const nextBuiltIn = JSON.stringify({ old: 1, dated: 4, released: 5 });

const write = (
  entries: object,
  more: Partial<Extract<OptionCommand, { type: 'ChangeOption' }>> = {},
): OptionCommand => ({
  type: 'ChangeOption',
  key: 'ModelRatio',
  value: { text: JSON.stringify(entries) },
  by: root,
  at: noon,
  builtIn: { now: builtIn, seen: builtIn },
  ...more,
});
const stored = (entries: object, pinned?: readonly string[]): OptionChanged => ({
  type: 'OptionChanged',
  key: 'ModelRatio',
  value: { text: JSON.stringify(entries) },
  by: root,
  ...(pinned === undefined ? {} : { pinned }),
});
const inForce = (entries: object, pinned: readonly string[] | undefined, table: string) =>
  JSON.parse(mapInForce({ text: JSON.stringify(entries), ...(pinned === undefined ? {} : { pinned }) }, table));

describe('a map of prices that is written as a whole', () => {
  test('pins entries that differ from built-in ones, and no copied ones', () =>
    given()
      .when(write({ old: 1, dated: 2, own: 3 }))
      .thenRecordedOnce(stored({ old: 1, dated: 2, own: 3 }, ['own'])));
  test('pins that a built-in entry is left out', () =>
    given()
      .when(write({ old: 1 }))
      .thenRecordedOnce(stored({ old: 1 }, ['dated'])));
  test('keeps an entry pinned that has come to equal the built-in one', () =>
    given(stored({ old: 1, dated: 4 }, ['dated']))
      .when(write({ old: 9, dated: 4, released: 5 }, { builtIn: { now: nextBuiltIn, seen: nextBuiltIn } }))
      .thenRecordedOnce(stored({ old: 9, dated: 4, released: 5 }, ['dated', 'old'])));
  test('pins an entry no longer that is changed to the built-in one', () =>
    given(stored({ old: 7, dated: 2 }, ['old']))
      .when(write({ old: 1, dated: 2 }))
      .thenRecordedOnce(stored({ old: 1, dated: 2 }, [])));
  test('pins no entry that was read before the built-in one changed', () =>
    given()
      .when(write({ old: 1, dated: 2, own: 3 }, { builtIn: { now: nextBuiltIn, seen: builtIn } }))
      .thenRecordedOnce(stored({ old: 1, dated: 2, own: 3 }, ['own'])));
  test('pins what an unread map says of prices that are no longer built in', () =>
    given(stored({ old: 1, dated: 2 }, []))
      .when(write({ old: 1, dated: 2 }, { builtIn: { now: nextBuiltIn, seen: nextBuiltIn } }))
      .thenRecordedOnce(stored({ old: 1, dated: 2 }, ['dated', 'released'])));
  test('of an earlier release pins what still differs, as soon as it is written again', () =>
    given(stored({ old: 1, dated: 3 }))
      .when(write({ old: 1, dated: 3 }))
      .thenRecordedOnce(stored({ old: 1, dated: 3 }, ['dated'])));
  test('pins nothing when it is reset', () =>
    given(stored({ old: 7, dated: 2 }, ['dated', 'old']))
      .when(write(JSON.parse(builtIn), { isReset: true }))
      .thenRecordedOnce(stored(JSON.parse(builtIn), [])));
  test('does not pin what only a record says', () =>
    given({
      type: 'ModelPricesChanged',
      changes: [{ model: 'dated', periods: [{ tokens: { input: { usd: '6' } } }] }],
      origin: { kind: 'editor' },
      by: root,
    })
      .when(write({ old: 1, dated: 3 }))
      .thenRecordedOnce(stored({ old: 1, dated: 3 }, [])));
});

describe('a stored map of prices', () => {
  test('has built-in entries as they are now, except for pinned ones', () => {
    expect(inForce({ old: 7, dated: 2 }, ['old'], nextBuiltIn)).toEqual({ old: 7, dated: 4, released: 5 });
    expect(inForce({ old: 1 }, ['dated'], nextBuiltIn)).toEqual({ old: 1, released: 5 });
  });
  test('of an earlier release has what it says, and nothing else', () =>
    expect(inForce({ old: 7, dated: 2 }, undefined, nextBuiltIn)).toEqual({ old: 7, dated: 2 }));
  test('reads as it was written while nothing built in has changed', () => {
    const text = '{ "dated": 2,  "old": 7 }';
    expect(mapInForce({ text, pinned: ['old'] }, builtIn)).toBe(text);
  });
});
