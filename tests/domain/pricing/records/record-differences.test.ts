import { describe, expect, test } from 'vitest';
import { recordDifferences } from '../../../../src/domain/pricing/records/record-differences.js';

describe('the differences of two records', () => {
  test('are listed part by part: changed, added and removed', () =>
    expect(
      recordDifferences(
        [
          {
            tokens: { input: { usd: '2' }, output: { ratio: '4' }, reasoning: { usd: '9' } },
            contextTiers: [{ over: 200_000, factors: { input: '2', output: '1.5' } }],
            serviceTiers: { flex: '0.5' },
          },
        ],
        [
          {
            tokens: { input: { usd: '2.5' }, output: { ratio: '4' } },
            contextTiers: [{ over: 200_000, factors: { input: '2', output: '1.75' } }],
            serviceTiers: {},
            pictures: [{ usd: '0.04' }, { size: '1024x1024', quality: 'high', usd: '0.08' }],
            purchase: { call: '1', tokens: { input: { usd: '1' } }, pieces: { 'calls:web_search': '0.01' } },
            until: '2027-01-01',
          },
        ],
      ).map(({ from, part, before, after }) => [from, part, before, after]),
    ).toEqual([
      [null, 'tokens.input', '$2', '$2.5'],
      [null, 'tokens.reasoning', '$9', null],
      [null, 'contextTiers.200000.output', '×1.5', '×1.75'],
      [null, 'serviceTiers.flex', '×0.5', null],
      [null, 'pictures.any.any', null, '$0.04'],
      [null, 'pictures.1024x1024.high', null, '$0.08'],
      [null, 'serviceTiers', null, '—'],
      [null, 'purchase.call', null, '$1'],
      [null, 'purchase.tokens.input', null, '$1'],
      [null, 'purchase.pieces.calls:web_search', null, '$0.01'],
      [null, 'until', null, '2027-01-01'],
    ]));

  test('are listed by the first day of their period', () =>
    expect(recordDifferences([{ call: '1' }], [{ call: '1' }, { call: '2', from: '2026-12-01' }])).toEqual([
      { from: '2026-12-01', part: 'call', before: null, after: '$2' },
    ]));

  test('are empty for equal records, with members in any order', () =>
    expect(
      recordDifferences(
        [{ tokens: { input: { usd: '1' }, output: { usd: '2' } } }],
        [{ tokens: { output: { usd: '2' }, input: { usd: '1' } } }],
      ),
    ).toEqual([]));
});
