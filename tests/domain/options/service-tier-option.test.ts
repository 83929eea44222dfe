import { describe, expect, test } from 'vitest';
import { checkOption } from '../../../src/domain/options/option-values.js';
import { readServiceTiers } from '../../../src/domain/options/service-tier-option.js';
import { builtInServiceTiers } from '../../../src/domain/pricing/built-in/default-service-tiers.js';
import { tierFactorsOf } from '../../../src/domain/pricing/service-tiers.js';

describe('the option ServiceTiers', () => {
  test('has factors by model and tier, and the longest beginning of a name wins', () => {
    const table = readServiceTiers('{"m*":{"priority":2},"mini*":{"flex":0.5},"mini":{"flex":0.25,"us":1.1}}');
    expect(Object.fromEntries(tierFactorsOf(table, 'm-large'))).toEqual({ priority: '2' });
    expect(Object.fromEntries(tierFactorsOf(table, 'mini-2026'))).toEqual({ flex: '0.5' });
    expect(Object.fromEntries(tierFactorsOf(table, 'mini'))).toEqual({ flex: '0.25', us: '1.1' });
    expect(tierFactorsOf(table, 'other').size).toBe(0);
  });

  test('starts with the published factors of vendors', () => {
    const table = readServiceTiers(builtInServiceTiers);
    const factor = (model: string, tier: string) => tierFactorsOf(table, model).get(tier);
    expect(factor('gpt-5.5', 'priority')).toBe('2.5');
    expect(factor('gpt-5-mini-2025-08-07', 'priority')).toBe('1.8');
    expect(factor('gpt-6.1-sol', 'ultrafast')).toBe('6');
    expect(factor('gpt-5-pro', 'priority')).toBeUndefined();
    expect(factor('gpt-4o-audio-preview', 'priority')).toBeUndefined();
    expect(factor('claude-opus-5-5', 'fast')).toBe('2');
    expect(factor('claude-sonnet-5-5', 'us')).toBe('1.1');
    expect(factor('gemini-3.8-flash', 'flex')).toBe('0.5');
    expect(factor('gemini-2.5-pro', 'flex')).toBeUndefined();
  });

  test.each([
    ['[]', 'ServiceTiers'],
    ['{"a":1}', 'ServiceTiers.a'],
    ['{"a":[]}', 'ServiceTiers.a'],
    ['{"a":{"flex":-1}}', 'ServiceTiers.a.flex'],
    ['{"a":{"flex":1001}}', 'ServiceTiers.a.flex'],
    ['{"a":{"flex":"1"}}', 'ServiceTiers.a.flex'],
    ['{"a":{"default":2}}', 'ServiceTiers.a.default'],
    ['{"a":{"__proto__":2}}', 'ServiceTiers.a.__proto__'],
    [`{"a":{${Array.from({ length: 17 }, (_, at) => `"t${at}":1`).join()}}}`, 'ServiceTiers.a'],
  ])('refuses %s with the name %s', (value, field) => {
    expect(() => checkOption('ServiceTiers', value)).toThrow(
      expect.objectContaining({ code: 'option-value-invalid', details: expect.objectContaining({ field }) }),
    );
  });
});
