import { describe, expect, test } from 'vitest';
import {
  kindsWithin,
  mayUse,
  reservedOutput,
  reservedUsage,
  unboundedTokens,
  usageBound,
  withOutput,
} from '../../../src/domain/call/usage-bound.js';

/* A bound is a record of quantities: `input` and `output` are all tokens of a direction, kinds with a bound of their own a part of them. */

describe('the usage bound of a call', () => {
  test('is reserved for by the quantities that have a bound of their own, each token once', () => {
    const bound = { input: 100, audioInput: 30, output: 50, audioOutput: 50, 'calls:web_search': 3, seconds: 61 };
    expect(reservedUsage(bound)).toEqual({ ...bound, input: 70, output: 0 });
  });

  test('is reserved for as written to a cache for an hour except for audio, where all of it may be', () =>
    expect(reservedUsage({ input: 100, audioInput: 30, cacheWriteHour: 100, output: 50 })).toEqual({
      ...{ input: 0, audioInput: 30, cacheWriteHour: 70, output: 50 },
    }));

  test('with fewer tokens has fewer of each quantity; with more, more only of those that all tokens may be', () => {
    const bound = { input: 100, audioInput: 30, cacheWriteHour: unboundedTokens, output: 50 };
    const input = (tokens: number) => usageBound({ input: tokens, output: 50 }, bound);
    expect(input(20)).toEqual({ ...bound, input: 20, audioInput: 20, cacheWriteHour: 20 });
    expect(input(500)).toEqual({ ...bound, input: 500, audioInput: 30, cacheWriteHour: 500 });
    expect(withOutput({ ...bound, audioOutput: 50 }, 10)).toEqual({
      ...{ ...bound, cacheWriteHour: 100, output: 10, audioOutput: 10 },
    });
  });

  test('contains other quantities beside its prompt, of which the later wins', () =>
    expect(usageBound({ input: 9, output: 5 }, { seconds: 61, audioInput: 1 }, { audioInput: 3, images: 2 })).toEqual({
      ...{ input: 9, output: 5, seconds: 61, audioInput: 3, images: 2 },
    }));

  test.each([
    ['a part within its bound', { audioInput: 30 }, true],
    ['a part beyond its bound', { audioInput: 31 }, false],
    ['a quantity that all tokens may be', { cacheWriteHour: 90 }, true],
    ['quantities that are not bounded', { input: 1, cachedInput: 5, imageInput: 9_000 }, true],
  ])('allows or forbids %s', (_what, reported, allowed) =>
    expect(kindsWithin(reported, { input: 100, audioInput: 30, cacheWriteHour: 100, output: 0 }, 'input')).toBe(
      allowed,
    ),
  );

  test('forbids quantities that it omits, and those that it sets to 0', () => {
    for (const bound of [
      { input: 1, output: 50 },
      { input: 1, output: 50, audioOutput: 0 },
    ]) {
      expect(mayUse(bound, 'audioOutput')).toBe(false);
      expect(kindsWithin({ audioOutput: 1 }, bound, 'output')).toBe(false);
      expect(reservedOutput(bound)).toBe('output');
    }
    expect(reservedOutput({ output: 50, audioOutput: 50 })).toBe('audioOutput');
  });
});
