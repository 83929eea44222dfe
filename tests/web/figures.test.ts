import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import {
  abbreviate,
  asTick,
  formatDuration,
  formatDurations,
  formatExactly,
  formatPercent,
  formatRate,
} from '../../web/src/kit/figures.js';
import { webSources } from './sources.js';

describe('the format of figures', () => {
  test('has percents for shares, with a decimal near both ends', () =>
    expect([0, 0.004, 0.05, 0.123, 0.5, 0.987, 1, 2.5].map(formatPercent)).toEqual([
      '0%',
      '0.4%',
      '5%',
      '12%',
      '50%',
      '98.7%',
      '100%',
      '250%',
    ]));
  test('distinguishes nearly nothing from nothing, and nearly all from all', () =>
    expect([0.000_01, 0.999_9].map(formatPercent)).toEqual(['<0.1%', '>99.9%']));
  test('has three digits for durations: milliseconds, then seconds', () =>
    expect([0, 6, 340, 999, 1_000, 1_500, 15_000, 150_400].map(formatDuration)).toEqual([
      '0 ms',
      '6 ms',
      '340 ms',
      '999 ms',
      '1.00 s',
      '1.50 s',
      '15.0 s',
      '150 s',
    ]));
  test('rounds up to the next unit where necessary', () =>
    expect([999.6, 9_996, 99_960].map(formatDuration)).toEqual(['1.00 s', '10.0 s', '100 s']));
  test('has a dash for a duration without a sample, and two dashes for two', () => {
    expect(formatDuration(null)).toBe('—');
    expect(formatDurations(null, null)).toBe('—');
    expect(formatDurations(20, 1_000)).toBe('20 ms / 1.00 s');
  });
  test('groups counts, and has decimals for small rates', () => {
    expect(formatExactly(1_234_567)).toBe('1,234,567');
    expect([0, 999, 1_861, 9_999, 10_000, 1_200_000].map(abbreviate)).toEqual([
      '0',
      '999',
      '1,861',
      '9,999',
      '10.0k',
      '1.2M',
    ]);
    expect([0.126, 12.6, 12_600].map(formatRate)).toEqual(['0.13', '13', '12.6k']);
  });
});

describe('the figures of an axis', () => {
  test('have no unnecessary decimals', () =>
    expect(['$9.0000', '$0.2700', '$0.0000', '200.0k', '1.50 s', '15.0 s', '10%', '1,000', '0 ms'].map(asTick)).toEqual(
      ['$9', '$0.27', '$0', '200k', '1.5 s', '15 s', '10%', '1,000', '0 ms'],
    ));
});

describe('the shared format of figures', () => {
  const writers = /^(toFixed|toLocaleString|toPrecision|NumberFormat)$/;
  /** Figures and amounts; prices; what is typed into fields again. */
  const own = [
    'kit/figures.ts',
    'kit/quota.ts',
    'kit/unitPrice.ts',
    'settings/prices/QuantityGrid.tsx',
    'settings/prices/bulkDraft.ts',
  ];

  test('is used by every page in place of rounding and grouping', () => {
    const writing = (node: ts.Node): boolean =>
      (ts.isPropertyAccessExpression(node) && writers.test(node.name.text)) ||
      (ts.forEachChild(node, (child) => writing(child) || undefined) ?? false);
    const found = webSources().filter(({ syntax }) => writing(syntax));
    expect(found.map(({ path }) => path).sort()).toEqual(own);
  });
});
