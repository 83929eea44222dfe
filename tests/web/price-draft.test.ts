import { describe, expect, test } from 'vitest';
import { pieceQuantities, tokenQuantities } from '../../src/domain/pricing/quantities.js';
import { editIn, firstBulk } from '../../web/src/settings/prices/bulkDraft.js';
import { exactQuotient, product } from '../../web/src/settings/prices/decimals.js';
import { exampleUsage } from '../../web/src/settings/prices/exampleUsages.js';
import { draftOf, inUnit, nextPeriod, type PriceDraft, recordOf } from '../../web/src/settings/prices/priceDraft.js';
import {
  type ModelPrice,
  type PricePeriods,
  pieceNames,
  tokenNames,
} from '../../web/src/settings/prices/priceRecord.js';
import { comparedRows } from '../../web/src/settings/prices/recordParts.js';

describe('decimal texts of the price form', () => {
  test.each([
    ['0.1', '0.2', '0.02'],
    ['1e-7', '2', '0.0000002'],
    ['.5', '2', '1'],
    ['3.00', '1', '3'],
    ['12345678901234567890', '1', '12345678901234567890'],
  ])('%s × %s is %s', (one, other, result) => expect(product(one, other)).toBe(result));

  test.each(['', 'x', '-1', 'NaN', '1e308', '0x10', '1,5'])('%j is not a number', (text) =>
    expect(product(text, '1')).toBeNull(),
  );

  test('a quotient exists if twelve decimal places express it exactly', () => {
    expect(exactQuotient('15', '2.5')).toBe('6');
    expect(exactQuotient('1', '0.3')).toBeNull();
    expect(exactQuotient('1', '0')).toBeNull();
  });
});

const whole: ModelPrice = {
  tokens: { input: { usd: '2.5' }, output: { usd: '15' }, cachedInput: { usd: '0.25' } },
  pieces: { images: '0.04', 'calls:web_search': '0.01' },
  pictures: [{ size: '1024x1024', quality: 'high', usd: '0.08' }, { usd: '0.05' }],
  contextTiers: [{ over: 200_000, factors: { input: '2', output: '1.5' } }],
  serviceTiers: { flex: '0.5' },
  purchase: { tokens: { input: { usd: '2' } }, pieces: { images: '0.03' } },
  from: '2026-12-01',
  until: '2027-01-01',
};

test('the form of a price has a field for every quantity', () => {
  expect([...tokenNames].sort()).toEqual([...tokenQuantities].sort());
  expect([...pieceNames].sort()).toEqual([...pieceQuantities].sort());
});

describe('the form of a price', () => {
  test.each<[string, PricePeriods]>([
    ['every part', [whole]],
    ['a price by call beside tokens', [{ call: '0.04', tokens: { input: { usd: '1' } } }]],
    ['ratios', [{ tokens: { input: { usd: '3' }, output: { ratio: '5' } } }]],
    ['prices and ratios', [{ tokens: { input: { usd: '3' }, output: { ratio: '5' }, reasoning: { usd: '9' } } }]],
    ['an empty list of service tiers', [{ call: '1', serviceTiers: {} }]],
    ['several periods', [{ call: '1' }, { call: '2', from: '2026-12-01' }]],
  ])('of %s results in the same record without a change', (_, periods) => {
    expect(recordOf(draftOf(periods))).toEqual(periods);
  });

  test('of ratios shows the model ratio for the input', () => {
    const draft = draftOf([{ tokens: { input: { usd: '3' }, output: { ratio: '5' } } }]);
    expect([draft.unit, draft.periods[0]?.selling.tokens.input.text]).toEqual(['ratio', '1.5']);
  });

  const texts = (draft: PriceDraft) =>
    Object.fromEntries(
      Object.entries(draft.periods[0]?.selling.tokens ?? {}).flatMap(([name, { text, unit }]) =>
        text === '' ? [] : [[name, `${unit} ${text}`]],
      ),
    );

  test('converts prices to ratios and back without a loss', () => {
    const draft = draftOf([whole]);
    const ratios = inUnit(draft, 'ratio');
    expect(texts(ratios)).toEqual({ input: 'ratio 1.25', output: 'ratio 6', cachedInput: 'ratio 0.1' });
    expect(inUnit(ratios, 'usd')).toEqual(draft);
    expect(recordOf(inUnit(ratios, 'usd'))).toEqual([whole]);
  });

  test('keeps a price that no ratio expresses exactly', () => {
    const draft = inUnit(draftOf([{ tokens: { input: { usd: '0.3' }, output: { usd: '1' } } }]), 'ratio');
    expect(texts(draft)).toEqual({ input: 'ratio 0.15', output: 'usd 1' });
    expect(recordOf(draft)).toEqual([{ tokens: { input: { usd: '0.3' }, output: { usd: '1' } } }]);
  });

  test('sends an invalid number unchanged: the server names the allowed values', () => {
    const draft = draftOf([{ call: '1' }]);
    const [period] = draft.periods;
    if (period === undefined) throw new Error('there is a period');
    const typed = { ...period, selling: { ...period.selling, call: ' 1,5 ' } };
    expect(recordOf({ ...draft, periods: [typed] })).toEqual([{ call: '1,5' }]);
  });

  test('starts the next period from the last one, with an empty day', () =>
    expect(nextPeriod(draftOf([whole]))).toMatchObject({ from: '', until: '', tiers: [{ over: '200000' }] }));

  test('tries a prompt one token beyond the last tier', () => {
    const [period] = draftOf([whole]).periods;
    if (period === undefined) throw new Error('there is a period');
    expect(exampleUsage('long', period)[0]).toEqual({ quantity: 'input', count: 200_001 });
  });
});

test('two records are compared by period and part', () =>
  expect(
    comparedRows([whole, { call: '1', from: '2027-01-01' }], [{ ...whole, serviceTiers: { flex: '0.6' } }]),
  ).toEqual([
    { from: '2026-12-01', part: 'serviceTiers.flex', mine: '×0.5', theirs: '×0.6' },
    { from: '2027-01-01', part: 'call', mine: '$1', theirs: null },
  ]));

describe('an edit of many prices, as it is typed', () => {
  test.each([
    ['20', '1.2'],
    ['-5', '0.95'],
    ['0', '1'],
    ['12.5', '1.125'],
  ])('%s percent over the purchase price is a factor of %s', (percent, factor) =>
    expect(editIn({ ...firstBulk, kind: 'MARGIN', percent })).toEqual({ kind: 'MARGIN', factor }),
  );

  test.each([
    { kind: 'MULTIPLY', factor: '' },
    { kind: 'MULTIPLY', factor: 'two' },
    { kind: 'MARGIN', percent: '-100' },
    { kind: 'MARGIN', percent: '' },
    { kind: 'SET', usd: 'x' },
    { kind: 'COPY', from: ' ' },
  ] as const)('%j is not sent', (typed) => expect(editIn({ ...firstBulk, ...typed })).toBeNull());

  test('that sets an empty value removes the part', () =>
    expect(editIn({ ...firstBulk, kind: 'SET', part: 'call' })).toEqual({
      ...{ kind: 'SET', part: 'call', usd: null, ratio: null },
    }));
});
