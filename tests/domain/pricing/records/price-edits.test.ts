import { describe, expect, test } from 'vitest';
import { Instant } from '../../../../src/domain/kernel/instant.js';
import type { ModelPrice } from '../../../../src/domain/pricing/records/model-price.js';
import { editedPeriods, type PriceEdit } from '../../../../src/domain/pricing/records/price-edits.js';

const now = Instant(Date.parse('2026-11-28T12:00:00Z'));
const edited = (price: ModelPrice | null, edit: PriceEdit) => editedPeriods(price === null ? null : [price], edit, now);

const price: ModelPrice = {
  tokens: { input: { usd: '2' }, output: { usd: '10' }, cachedInput: { ratio: '0.1' } },
  pieces: { images: '0.04' },
  pictures: [{ size: '1024x1024', usd: '0.08' }],
  contextTiers: [{ over: 200_000, factors: { input: '2' } }],
  purchase: { tokens: { input: { usd: '1.5' }, output: { usd: '6' } } },
};

describe('an edit of many prices', () => {
  test('that multiplies changes amounts in USD, and neither ratios, tiers nor purchase prices', () =>
    expect(edited(price, { kind: 'multiply', factor: '1.1' })).toEqual({
      periods: [
        {
          ...price,
          tokens: { input: { usd: '2.2' }, output: { usd: '11' }, cachedInput: { ratio: '0.1' } },
          pieces: { images: '0.044' },
          pictures: [{ size: '1024x1024', usd: '0.088' }],
        },
      ],
    }));

  test('that multiplies repeatedly is limited to twelve decimal places', () =>
    expect(edited({ call: '0.000000000003' }, { kind: 'multiply', factor: '0.5' })).toEqual({
      periods: [{ call: '0.000000000002' }],
    }));

  test('that sets a margin applies it to models with a purchase price, and leaves the rest', () =>
    expect(edited(price, { kind: 'margin', factor: '1.2' })).toEqual({
      periods: [{ ...price, tokens: { input: { usd: '1.8' }, output: { usd: '7.2' }, cachedInput: { ratio: '0.1' } } }],
    }));

  test('that sets a margin on a purchase price per call sets a price per call', () =>
    expect(
      edited({ tokens: { input: { usd: '1' } }, purchase: { call: '0.5' } }, { kind: 'margin', factor: '2' }),
    ).toEqual({ periods: [{ tokens: { input: { usd: '1' } }, call: '1', purchase: { call: '0.5' } }] }));

  test('that sets a margin leaves a model without a purchase price unchanged', () =>
    expect(edited({ call: '1' }, { kind: 'margin', factor: '2' })).toBe('no-purchase-price'));

  test.each<[string, PriceEdit, ModelPrice]>([
    [
      'a kind of token',
      { kind: 'set', part: { of: 'tokens', quantity: 'reasoning' }, rate: { ratio: '5' } },
      { ...price, tokens: { ...price.tokens, reasoning: { ratio: '5' } } },
    ],
    [
      'a price per use',
      { kind: 'set', part: { of: 'pieces', quantity: 'seconds' }, rate: { usd: '0.1' } },
      { ...price, pieces: { images: '0.04', seconds: '0.1' } },
    ],
    ['a price per call', { kind: 'set', part: { of: 'call' }, rate: { usd: '0.5' } }, { ...price, call: '0.5' }],
  ])('that sets %s changes nothing else', (_, edit, after) =>
    expect(edited(price, edit)).toEqual({ periods: [after] }),
  );

  test('that sets an empty value removes the part', () =>
    expect(edited(price, { kind: 'set', part: { of: 'pieces', quantity: 'images' }, rate: null })).toEqual({
      periods: [{ ...price, pieces: {} }],
    }));

  test('that sets a part adds a price to a model without one, which other edits skip', () => {
    const rate = { usd: '3' };
    expect(edited(null, { kind: 'set', part: { of: 'tokens', quantity: 'input' }, rate })).toEqual({
      periods: [{ tokens: { input: rate } }],
    });
    expect(edited(null, { kind: 'multiply', factor: '2' })).toBe('no-price');
    expect(edited(null, { kind: 'margin', factor: '2' })).toBe('no-price');
  });

  test('that copies takes all periods of the other model, and one that resets removes the record', () => {
    expect(edited(price, { kind: 'copy', periods: [{ call: '1' }] })).toEqual({ periods: [{ call: '1' }] });
    expect(edited(price, { kind: 'built-in' })).toEqual({ periods: null });
  });

  test('changes present and future periods, and no past ones', () =>
    expect(
      editedPeriods(
        [
          { call: '1', until: '2026-11-28' },
          { call: '2', from: '2026-11-28', until: '2026-12-01' },
          { call: '3', from: '2026-12-01' },
        ],
        { kind: 'multiply', factor: '2' },
        now,
      ),
    ).toEqual({
      periods: [
        { call: '1', until: '2026-11-28' },
        { call: '4', from: '2026-11-28', until: '2026-12-01' },
        { call: '6', from: '2026-12-01' },
      ],
    }));
});
