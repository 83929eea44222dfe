import { describe, expect, test } from 'vitest';
import { listings, providerOf, providers } from '../../../src/relay/providers/registry.js';

describe('the providers', () => {
  test('are known by their type numbers, each once', () => {
    const types = listings.map(({ type }) => type);
    expect(new Set(types).size).toBe(types.length);
    expect(types).toEqual([...types].sort((a, b) => a - b));
  });

  test('of the OpenAI family all have a codec', () => {
    const family = [1, 3, 4, 6, 7, 8, 9, 10, 12, 13, 17, 19, 20, 22, 25, 26, 27, 31, 35, 38, 39, 40];
    expect(providers.map(({ type }) => type)).toEqual([...family, 42, 43, 44, 45, 46, 47, 48]);
  });

  test('with a codec are found by type, the others are not', () => {
    for (const provider of providers) expect(providerOf(provider.type)).toBe(provider);
    expect(providerOf(14)).toBeNull();
    expect(providerOf(999)).toBeNull();
  });

  test('all have a name, and models to begin with that are named once', () => {
    for (const { name, defaultModels } of listings) {
      expect(name).not.toBe('');
      expect(defaultModels.length).toBeGreaterThan(0);
      expect(new Set(defaultModels).size).toBe(defaultModels.length);
      expect(defaultModels.every((model) => /^\S{1,100}$/.test(model))).toBe(true);
    }
  });

  test('offered for new channels have a colour', () => {
    expect(listings.filter(({ colour, deprecated }) => colour === null && !deprecated)).toEqual([]);
  });

  test('have an address, or need one that is the operator’s own', () => {
    for (const { name, defaultBaseUrl } of listings)
      expect([name, defaultBaseUrl === '' || URL.canParse(defaultBaseUrl)]).toEqual([name, true]);
  });
});
