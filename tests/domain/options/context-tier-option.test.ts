import { describe, expect, test } from 'vitest';
import { contextTiersText, readContextTiers } from '../../../src/domain/options/context-tier-option.js';
import { checkOption } from '../../../src/domain/options/option-values.js';

describe('the option ContextTiers', () => {
  const given = '{"a":[{"over":1000,"input":2},{"over":2000,"input":4,"output":1.5}],"b":[{"over":1,"cachedInput":0}]}';

  test('has tiers by model, and is written as it was read', () => {
    const tiers = readContextTiers(given);
    expect(tiers.get('a')).toEqual([
      { over: 1000, factors: { input: '2' } },
      { over: 2000, factors: { input: '4', output: '1.5' } },
    ]);
    expect(JSON.parse(contextTiersText(tiers))).toEqual(JSON.parse(given));
  });

  test.each([
    ['[]', 'ContextTiers'],
    ['{"a":{}}', 'ContextTiers.a'],
    ['{"a":[]}', 'ContextTiers.a'],
    ['{"a":[1]}', 'ContextTiers.a[0]'],
    ['{"a":[{"input":2}]}', 'ContextTiers.a[0].over'],
    ['{"a":[{"over":0}]}', 'ContextTiers.a[0].over'],
    ['{"a":[{"over":1.5}]}', 'ContextTiers.a[0].over'],
    ['{"a":[{"over":2,"input":-1}]}', 'ContextTiers.a[0].input'],
    ['{"a":[{"over":2,"input":1e7}]}', 'ContextTiers.a[0].input'],
    ['{"a":[{"over":2,"input":"2"}]}', 'ContextTiers.a[0].input'],
    ['{"a":[{"over":2,"images":2}]}', 'ContextTiers.a[0].images'],
    ['{"a":[{"over":2,"__proto__":2}]}', 'ContextTiers.a[0].__proto__'],
    ['{"a":[{"over":2},{"over":2}]}', 'ContextTiers.a[1].over'],
  ])('refuses %s with the name %s', (value, field) =>
    expect(() => checkOption('ContextTiers', value)).toThrow(
      expect.objectContaining({ code: 'option-value-invalid', details: expect.objectContaining({ field }) }),
    ),
  );
});
