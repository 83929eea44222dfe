import { describe, expect, test } from 'vitest';
import { AccessTokens, type Granted } from '../../../src/relay/upstream/access-tokens.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';

const minute = 60_000;

function world(max?: number) {
  const clock = settableClock(someInstant);
  const tokens = new AccessTokens(clock, max);
  const waiting: ((granted: Granted) => void)[] = [];
  return {
    clock,
    tokens,
    /** Requests that have been made for a token. */
    made: 0,
    waiting,
    /** The token for these credentials, granted at once if it must be asked for. */
    async of(credentials: string, lifeMs = 60 * minute): Promise<string> {
      const granted = await tokens.of(credentials, async () => {
        this.made++;
        return { ok: true, token: `${credentials}-${this.made}`, lifeMs };
      });
      return granted.ok ? granted.token : 'refused';
    },
    wait: (credentials: string) =>
      tokens.of(credentials, () => new Promise<Granted>((resolve) => void waiting.push(resolve))),
  };
}

const unreached: Granted = { ok: false, refusal: null, saturated: false, blocked: false, timedOut: true };

describe('access tokens', () => {
  test('are fetched once for concurrent requests', async () => {
    const { wait, waiting } = world();
    const asked = Array.from({ length: 50 }, () => wait('a'));
    expect(waiting).toHaveLength(1);
    waiting[0]?.({ ok: true, token: 't', lifeMs: 60 * minute });
    expect(new Set((await Promise.all(asked)).map((granted) => granted.ok && granted.token))).toEqual(new Set(['t']));
  });

  test('are used until five minutes before they expire', async () => {
    const it = world();
    expect(await it.of('a')).toBe('a-1');
    it.clock.advance(55 * minute - 1);
    expect(await it.of('a')).toBe('a-1');
    it.clock.advance(1);
    expect(await it.of('a')).toBe('a-2');
  });

  test('with a shorter lifetime are used for half of it', async () => {
    const it = world();
    await it.of('a', 2 * minute);
    it.clock.advance(minute - 1);
    expect(await it.of('a')).toBe('a-1');
    it.clock.advance(1);
    expect(await it.of('a')).toBe('a-2');
  });

  test('without a lifetime are fetched for each call', async () => {
    const it = world();
    expect([await it.of('a', 0), await it.of('a', 0)]).toEqual(['a-1', 'a-2']);
  });

  test('belong to one set of credentials each', async () => {
    const it = world();
    expect([await it.of('a'), await it.of('b'), await it.of('a')]).toEqual(['a-1', 'b-2', 'a-1']);
  });

  test('that were not granted fail for all who waited, and are requested again', async () => {
    const it = world();
    const asked = [it.wait('a'), it.wait('a')];
    it.waiting[0]?.(unreached);
    expect(await Promise.all(asked)).toEqual([unreached, unreached]);
    expect(await it.of('a')).toBe('a-1');
  });

  test('whose request fails unexpectedly are requested again', async () => {
    const it = world();
    await expect(it.tokens.of('a', () => Promise.reject(new TypeError('ours')))).rejects.toThrow('ours');
    expect(await it.of('a')).toBe('a-1');
  });

  test('that were rejected are dropped once: the next one is kept, even if a late request rejects the old one', async () => {
    const it = world();
    await it.of('a');
    it.tokens.forget('a', 'a-1');
    expect(await it.of('a')).toBe('a-2');
    it.tokens.forget('a', 'a-1');
    expect(await it.of('a')).toBe('a-2');
  });

  test('are cached for a bounded number of credentials; the oldest are evicted', async () => {
    const it = world(2);
    for (const name of ['a', 'b', 'c', 'b', 'c']) await it.of(name);
    expect(it.made).toBe(3);
    expect(await it.of('a')).toBe('a-4');
  });
});
