import { describe, expect, test } from 'vitest';
import { Position } from '../../../src/domain/events/events.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { legacyView } from '../../../src/domain/options/legacy-prices.js';
import {
  type ModelPricesChanged,
  type OptionCommand,
  type OptionEvent,
  optionDecider,
  type PriceChangeOrigin,
} from '../../../src/domain/options/option.js';
import { checkOption } from '../../../src/domain/options/option-values.js';
import type { ModelPrice, PricePeriods } from '../../../src/domain/pricing/records/model-price.js';
import { scenariosOf } from '../../support/given/given.js';

const root = UserId(1);
const given = scenariosOf(optionDecider);
const editor: PriceChangeOrigin = { kind: 'editor' };
const recorded = (
  changes: Readonly<Record<string, PricePeriods | null>>,
  origin: PriceChangeOrigin = editor,
): ModelPricesChanged => ({
  type: 'ModelPricesChanged',
  changes: Object.entries(changes).map(([model, periods]) => ({ model, periods })),
  origin,
  by: root,
});
const changePrices = (
  changes: Readonly<Record<string, PricePeriods | null>>,
  seenAt: Position | null = null,
): OptionCommand => ({
  type: 'ChangeModelPrices',
  changes: Object.entries(changes).map(([model, periods]) => ({ model, periods, seenAt })),
  origin: editor,
  by: root,
});
const noon = Instant(Date.UTC(2026, 10, 28, 12));
const writeMap = (key: string, entries: object): OptionCommand => ({
  type: 'ChangeOption',
  key,
  value: { text: JSON.stringify(entries) },
  by: root,
  at: noon,
});
const map = (key: string, entries: object) =>
  ({ type: 'OptionChanged', key, value: { text: JSON.stringify(entries) }, by: root }) as const;

const full: ModelPrice = {
  tokens: { input: { usd: '0.3' }, output: { usd: '1' }, cachedInput: { ratio: '0.1' } },
  contextTiers: [{ over: 200_000, factors: { input: '2', output: '1.5' } }],
  purchase: { tokens: { input: { usd: '0.2' } } },
};

describe('a change of price records', () => {
  test('is recorded once, for each model separately', () =>
    given()
      .when(changePrices({ one: [full], other: [{ call: '0.1' }] }))
      .thenRecordedOnce(recorded({ one: [full], other: [{ call: '0.1' }] })));
  test('without a difference is not recorded', () =>
    given(recorded({ one: [full] }))
      .when(changePrices({ one: [full], other: null }))
      .thenNothing());
  test('of a read version is refused once another user has changed that model, and only then', () => {
    const history = [recorded({ one: [full] }), recorded({ other: [full] })] as const;
    given(...history)
      .when(changePrices({ one: [{ call: '1' }] }, Position(0)))
      .thenRecorded(recorded({ one: [{ call: '1' }] }));
    given(...history)
      .when(changePrices({ other: [{ call: '1' }] }, Position(0)))
      .thenRefused('price-changed', { field: 'other', position: 1 });
  });
  test('can remove a record', () =>
    given(recorded({ one: [full] }))
      .when(changePrices({ one: null }))
      .thenRecordedOnce(recorded({ one: null })));
});

describe('the price maps of older clients', () => {
  const records = new Map([['one', full]]);
  const view = (key: string, stored: object) => JSON.parse(legacyView(key, JSON.stringify(stored), records));

  test('show the price of a record, and of other models their own', () => {
    expect(view('ModelRatio', { other: 3, one: 7 })).toEqual({ other: 3, one: 0.15 });
    expect(view('CompletionRatio', {})).toEqual({ one: 3.333333333333 });
    expect(view('CacheRatio', { one: 9 })).toEqual({ one: 0.1 });
    expect(view('ModelPrice', { one: 9, other: 1 })).toEqual({ other: 1 });
    expect(view('ContextTiers', {})).toEqual({ one: [{ over: 200_000, input: 2, output: 1.5 }] });
  });

  test('change no record when they are written as they were read', () => {
    for (const key of ['ModelRatio', 'CompletionRatio', 'CacheRatio', 'ModelPrice', 'ContextTiers', 'ServiceTiers'])
      given(recorded({ one: [full] }))
        .when(writeMap(key, view(key, {})))
        .thenRecorded(map(key, view(key, {})));
  });

  test('change the price of the input with all that depends on it, and leave what they cannot express', () =>
    given(recorded({ one: [full] }))
      .when(writeMap('ModelRatio', { one: 0.3 }))
      .thenRecorded(
        map('ModelRatio', { one: 0.3 }),
        recorded(
          {
            one: [
              {
                ...full,
                tokens: { input: { usd: '0.6' }, output: { ratio: '3.333333333333' }, cachedInput: { ratio: '0.1' } },
              },
            ],
          },
          { kind: 'option', key: 'ModelRatio' },
        ),
      ));

  test('change one kind of token separately', () =>
    given(recorded({ one: [full] }))
      .when(writeMap('CompletionRatio', { one: 4 }))
      .thenRecorded(
        map('CompletionRatio', { one: 4 }),
        recorded(
          { one: [{ ...full, tokens: { ...full.tokens, output: { ratio: '4' } } }] },
          { kind: 'option', key: 'CompletionRatio' },
        ),
      ));

  test('remove the models they omit, and nothing else', () =>
    given(recorded({ one: [full] }))
      .when(writeMap('ContextTiers', {}))
      .thenRecorded(
        map('ContextTiers', {}),
        recorded({ one: [{ tokens: full.tokens, purchase: full.purchase }] }, { kind: 'option', key: 'ContextTiers' }),
      ));

  test('change the period in force, not a future one', () => {
    const later: ModelPrice = { from: '2027-01-01', tokens: { input: { usd: '9' } } };
    given(recorded({ one: [{ call: '0.1' }, later] }))
      .when(writeMap('ModelPrice', { one: 0.2 }))
      .thenRecorded(
        map('ModelPrice', { one: 0.2 }),
        recorded({ one: [{ call: '0.2' }, later] }, { kind: 'option', key: 'ModelPrice' }),
      );
  });

  test('are refused to a client that has not read the change by a record, in that map only', () => {
    const history = [recorded({ one: [full] }), recorded({ one: [{ ...full, call: '0.1' }] })] as const;
    const seeing = (key: string, entries: object) => ({ ...writeMap(key, entries), seenAt: Position(0) });
    given(...history)
      .when(seeing('ModelPrice', {}))
      .thenRefused('option-changed', { field: 'ModelPrice', position: 1 });
    given(...history)
      .when(seeing('CacheRatio', { one: 0.1 }))
      .thenRecorded(map('CacheRatio', { one: 0.1 }));
  });

  test('are applied to a record when they are written again after its change', () =>
    given(map('ModelPrice', { one: 0.2 }), recorded({ one: [{ call: '0.3' }] }))
      .when(writeMap('ModelPrice', { one: 0.2 }))
      .thenRecorded(recorded({ one: [{ call: '0.2' }] }, { kind: 'option', key: 'ModelPrice' })));

  test('leave service tiers to the option where the record has none', () =>
    given(recorded({ one: [full] }))
      .when(writeMap('ServiceTiers', { one: { priority: 2 } }))
      .thenRecorded(map('ServiceTiers', { one: { priority: 2 } })));
});

describe('the maps of older clients, written back without a change', () => {
  const mapsOf = (record: ModelPrice) => {
    const records = new Map([['one', record]]);
    return ['ModelRatio', 'CompletionRatio', 'CacheRatio', 'ModelPrice', 'ContextTiers', 'ServiceTiers'].map(
      (key) => [key, JSON.parse(legacyView(key, '{}', records)) as Record<string, unknown>] as const,
    );
  };

  test('change no record where its members are in another order', () => {
    const record: ModelPrice = {
      ...full,
      contextTiers: [{ over: 200_000, factors: { output: '1.5', input: '1.333333333333333333333' } }],
      serviceTiers: { priority: '1.333333333333333333333', flex: '0.5' },
    };
    const sorted = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(sorted);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, member]) => [name, sorted(member)]),
      );
    };
    for (const [key, entries] of mapsOf(record))
      given(recorded({ one: [record] }))
        .when(writeMap(key, sorted(entries) as object))
        .thenRecorded(map(key, sorted(entries) as object));
  });

  test('are accepted by the checks of options, whatever the prices of a record', () => {
    const expensive = { input: { usd: '0.000000000001' }, output: { usd: '2000000' }, cachedInput: { usd: '2000000' } };
    for (const record of [{ tokens: expensive }, { tokens: { input: { usd: '2000000' } } }, { call: '2000000' }, full])
      for (const [key, entries] of mapsOf(record)) {
        expect(() => checkOption(key, JSON.stringify(entries))).not.toThrow();
        given(recorded({ one: [record] }))
          .when(writeMap(key, entries))
          .thenRecorded(map(key, entries));
      }
  });

  test('are accepted with the maximum number of records beside the built-in prices', () => {
    const records = new Map(Array.from({ length: 10_000 }, (_, index) => [`model-${index}`, full] as const));
    const builtIn = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`built-in-${index}`, 1.25]));
    expect(() => checkOption('ModelRatio', legacyView('ModelRatio', JSON.stringify(builtIn), records))).not.toThrow();
  });
});

describe('a map of older clients that is written back as read', () => {
  const other = UserId(2);
  const seen = (entries: object, seenAt: number): OptionCommand => ({
    ...(writeMap('ModelRatio', entries) as Extract<OptionCommand, { type: 'ChangeOption' }>),
    seenAt: Position(seenAt),
  });
  const byOther = (event: ModelPricesChanged): ModelPricesChanged => ({ ...event, by: other });

  const changed: readonly OptionEvent[] = [map('ModelRatio', { one: 0.3 }), expect.anything()];

  test('is refused where it would overwrite a later change of the record', () =>
    given(map('ModelRatio', { one: 0.15 }), byOther(recorded({ one: [{ tokens: { input: { usd: '9' } } }] })))
      .when(seen({ one: 0.15, third: 2 }, 0))
      .thenRefused('option-changed', { field: 'ModelRatio', position: 1 }));

  test('is stored if it was read after the change of the record, and changes it', () =>
    given(map('ModelRatio', { one: 0.15 }), byOther(recorded({ one: [full] })))
      .when(seen({ one: 0.3 }, 1))
      .thenRecorded(...changed));

  test('is stored after another map of the same form that changed the same record', () =>
    given(
      recorded({ one: [full] }),
      map('CompletionRatio', { one: 4 }),
      recorded({ one: [{ ...full, purchase: { call: '1' } }] }, { kind: 'option', key: 'CompletionRatio' }),
    )
      .when(seen({ one: 0.3 }, 0))
      .thenRecorded(...changed));

  test('is refused where another period has begun since, whose price it would overwrite', () => {
    const periods: PricePeriods = [{ call: '0.1' }, { from: '2026-12-01', call: '0.3' }];
    const midnight = Instant(Date.UTC(2026, 11, 1));
    const write = (call: number, readAt: number, at: number): OptionCommand => ({
      ...(writeMap('ModelPrice', { one: call }) as Extract<OptionCommand, { type: 'ChangeOption' }>),
      seenAt: Position(0),
      readAt: Instant(readAt),
      at: Instant(at),
    });
    const history = recorded({ one: periods });
    given(history)
      .when(write(0.1, midnight - 1, midnight))
      .thenRefused('option-changed', { field: 'ModelPrice' });
    given(history)
      .when(write(0.1, midnight - 2, midnight - 1))
      .thenRecorded(map('ModelPrice', { one: 0.1 }));
    given(history)
      .when(write(0.3, midnight, midnight + 1))
      .thenRecorded(map('ModelPrice', { one: 0.3 }));
  });
});
