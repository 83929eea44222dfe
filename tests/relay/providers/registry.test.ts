import { describe, expect, test } from 'vitest';
import { isServed, servesType } from '../../../src/domain/channel/provider.js';
import { providerOf, providers, providerTable } from '../../../src/relay/providers/registry.js';

describe('the registered providers', () => {
  test('have unique type numbers', () => {
    const types = providers.map(({ type }) => type);
    expect(new Set(types).size).toBe(types.length);
    expect(types).toEqual([...types].sort((a, b) => a - b));
  });

  test('of the OpenAI family, and those with a protocol of their own, have a codec', () => {
    const served = [
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 31, 33, 34, 35,
      36, 37, 38, 39, 40,
    ];
    expect(providers.map(({ type }) => type)).toEqual([...served, 41, 42, 43, 44, 45, 46, 47, 48]);
  });

  test('with a codec are found by type, and the others are not', () => {
    for (const provider of providers) expect(providerOf(provider.type)).toBe(provider);
    expect(providerOf(999)).toBeNull();
  });

  test('with a codec are those that are served, and have a mode', () => {
    expect(providers.filter(isServed)).toEqual(providers);
    for (const { type } of providers) expect(servesType(providerTable, type)).toBe(providerOf(type) !== null);
    expect(servesType(providerTable, 999)).toBe(false);
  });

  test('declare only what differs from the default', () => {
    const where = (has: (facts: (typeof providers)[number]) => boolean) =>
      providers.filter(has).map(({ type }) => type);
    expect(where(({ documentKey }) => documentKey)).toEqual([41]);
    expect(where(({ other }) => other?.region ?? false)).toEqual([41]);
    expect(where(({ other }) => (other?.usual ?? '') !== '')).toEqual([18]);
    expect(where(({ other }) => other !== null)).toEqual([3, 17, 18, 21, 24, 37, 39, 41]);
    expect(where(({ billsOrganization }) => billsOrganization)).toEqual([1]);
    expect(where(({ forbiddenMeansDead }) => forbiddenMeansDead)).toEqual([24]);
    expect(where(({ testable }) => !testable)).toEqual([2, 5, 36]);
    expect(where(({ listsModels }) => !listsModels)).toEqual([2, 5, 15, 16, 18, 21, 23, 33, 36, 37, 41, 44]);
    expect(where(({ reportsBalance }) => reportsBalance)).toEqual([1, 8, 10, 12, 13, 20, 25, 36, 40, 43]);
    expect(where(({ modes }) => modes.length > 0 && !modes.includes('chat'))).toEqual([2, 5, 36, 38, 44]);
  });

  test('have a name, and default models without duplicates', () => {
    for (const { name, defaultModels } of providers) {
      expect(name).not.toBe('');
      expect(defaultModels.length).toBeGreaterThan(0);
      expect(new Set(defaultModels).size).toBe(defaultModels.length);
      expect(defaultModels.every((model) => /^\S{1,100}$/.test(model))).toBe(true);
    }
  });

  test('offered for new channels have a colour', () => {
    expect(providers.filter(({ colour, deprecated }) => colour === null && !deprecated)).toEqual([]);
  });

  test('have an address, or require the operator’s own', () => {
    for (const { name, defaultBaseUrl } of providers)
      expect([name, defaultBaseUrl === '' || URL.canParse(defaultBaseUrl)]).toEqual([name, true]);
  });
});
