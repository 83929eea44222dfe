import { describe, expect, test } from 'vitest';
import {
  maxFilePrices,
  maxPriceFileBytes,
  priceFileOf,
  readPriceFile,
} from '../../../../src/domain/pricing/records/price-file.js';
import { refusal } from '../../../support/refusal.js';

const fileOf = (prices: unknown, head: object = {}): string =>
  JSON.stringify({ format: 'tallygate-prices', version: 1, prices, ...head });
const price = { model: 'my-model', periods: [{ tokens: { input: { usd: '2' } } }] };

describe('a file of prices', () => {
  test('is read as it was written', () => {
    const prices = [price, { model: 'other', periods: [{ call: '0.5' }, { call: '1', from: '2026-12-01' }] }];
    expect(readPriceFile(priceFileOf(prices))).toEqual({ prices, faults: [] });
  });

  test('has each model on a line of its own', () => {
    const lines = priceFileOf([price, { ...price, model: 'other' }]).split('\n');
    expect(lines.filter((line) => line.includes('"model"'))).toHaveLength(2);
  });

  test.each([
    ['not an object', '[]', 'file'],
    ['not JSON', '<html>', 'file'],
    ['nested too deeply', '['.repeat(5_000), 'file'],
    ['too long', ' '.repeat(maxPriceFileBytes + 1), 'file'],
  ])('that is %s is refused', (_, text, field) => {
    expect(() => readPriceFile(text)).toThrow(refusal('invalid-field', { field }));
  });

  test.each([
    ['another form', fileOf([price], { format: 'other' }), 0, 'format'],
    ['a later version', fileOf([price], { version: 2 }), 0, 'version'],
    ['no prices', fileOf([]), 0, 'prices'],
    ['too many models', fileOf(Array.from({ length: maxFilePrices + 1 }, () => 0)), 0, 'prices'],
    ['a negative price', fileOf([{ model: 'a', periods: [{ call: -1 }] }]), 1, 'prices[0].periods[0].call'],
    [
      'an infinite price',
      fileOf([price, { model: 'b', periods: [{ call: '1e308' }] }]),
      2,
      'prices[1].periods[0].call',
    ],
    ['an unknown member', fileOf([{ ...price, currency: 'CNY' }]), 1, 'prices[0].currency'],
    ['a duplicate name', fileOf([price, price]), 2, 'prices[1].model'],
    ['an empty name', fileOf([{ ...price, model: ' ' }]), 1, 'prices[0].model'],
    ['a name that is a number', fileOf([{ ...price, model: 5 }]), 1, 'prices[0].model'],
    ['a name that shares an entry', fileOf([{ ...price, model: 'gpt-4o-gizmo-a' }]), 1, 'prices[0].model'],
    ['an invalid record', fileOf([5]), 1, 'prices[0]'],
  ])('with %s is refused with its path, and nothing is imported', (_, text, row, field) => {
    const { prices, faults } = readPriceFile(text);
    expect(prices).toEqual([]);
    expect(faults.map((fault) => [fault.row, fault.field])).toEqual([[row, field]]);
  });

  test('with a member called __proto__ is refused by that name', () => {
    const text = fileOf([price]).replace('"model"', '"__proto__":{"polluted":1},"model"');
    expect(readPriceFile(text).faults.map(({ field }) => field)).toEqual(['prices[0].__proto__']);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test('reports at most a hundred errors', () =>
    expect(readPriceFile(fileOf(Array.from({ length: 500 }, () => 0))).faults).toHaveLength(100));

  test('is not written where it could not be read again', () => {
    const many = Array.from({ length: maxFilePrices + 1 }, (_, index) => ({ ...price, model: `m${index}` }));
    expect(() => priceFileOf(many)).toThrow(refusal('invalid-field', { field: 'models' }));
    const long = Array.from({ length: 4_000 }, (_, index) => ({ ...price, model: `${index}${'m'.repeat(200)}` }));
    expect(() => priceFileOf(long)).toThrow(refusal('invalid-field', { field: 'models' }));
  });
});
