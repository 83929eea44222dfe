import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Failure } from '../../src/domain/kernel/failure.js';
import { type SignInDelays, signInDelays } from '../../src/rate-limit/sign-in-delays.js';
import { someInstant } from '../support/given/events.js';
import { type SettableClock, settableClock } from '../support/given/fixed-clock.js';

const second = 1000;
const minute = 60 * second;

let clock: SettableClock;
let delays: SignInDelays;

beforeEach(() => {
  clock = settableClock(someInstant);
  delays = signInDelays(clock);
});

/** Seconds to wait; 0: the attempt was taken, and failed unless `right`. */
function attempt(network: string, { account = 'alice', right = false } = {}): number {
  try {
    const taken = delays.begin(account, network);
    if (right) taken.succeeded();
    return 0;
  } catch (error) {
    if (error instanceof Failure && error.code === 'too-many-attempts') return Number(error.details.seconds);
    throw error;
  }
}

/** Fails at once as often as it is taken, at most `times`. */
const hammer = (network: string, times: number): number =>
  Array.from({ length: times }, () => attempt(network)).filter((wait) => wait === 0).length;

describe('guessing at an account', () => {
  test('is free a few times, then is delayed twice as long after every failure, up to a quarter of an hour', () => {
    expect(hammer('attic', 100)).toBe(6);
    const waits: number[] = [];
    for (let round = 0; round < 14; round++) {
      const wait = attempt('attic');
      waits.push(wait);
      clock.advance(wait * second);
      expect(attempt('attic')).toBe(0);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900]);
  });

  test('that is refused does not extend the delay', () => {
    hammer('attic', 6);
    for (let n = 0; n < 50; n++) expect(attempt('attic')).toBe(1);
    clock.advance(second);
    expect(attempt('attic')).toBe(0);
  });

  test('is reset an hour after the last failure, and by success', () => {
    hammer('attic', 100);
    clock.advance(60 * minute + 1);
    expect(hammer('attic', 100)).toBe(6);
    clock.advance(second);
    expect(attempt('attic', { right: true })).toBe(0);
    expect(hammer('attic', 100)).toBe(6);
  });

  test('from many networks is one guess from each, then all of them are delayed together', () => {
    // 720,000 refusals: writing down where each was thrown would take most of the time.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    onTestFinished(() => {
      Error.stackTraceLimit = stackTraceLimit;
    });
    const networks = Array.from({ length: 400 }, (_, n) => `place ${n}`);
    for (const network of networks) expect(attempt(network)).toBe(0);
    let taken = 0;
    for (let passed = 0; passed < 30 * minute; passed += second) {
      for (const network of networks) if (attempt(network) === 0) taken += 1;
      clock.advance(second);
    }
    expect(taken).toBeLessThanOrEqual(3);
  });

  test('delays no other account', () => {
    for (let n = 0; n < 400; n++) attempt(`place ${n}`);
    for (let n = 0; n < 5; n++) expect(attempt('place 1', { account: 'bob' })).toBe(0);
  });
});

describe('guessing short codes', () => {
  let notified: string[];

  beforeEach(() => {
    notified = [];
    delays = signInDelays(clock, { together: true, manyFailed: (account) => notified.push(account) });
  });

  test('is permitted five times from all new networks together, then once every two minutes', () => {
    let taken = 0;
    for (let n = 0; n < 300; n++) if (attempt(`10.${n % 256}.${n}.1`) === 0) taken++;
    expect(taken).toBe(5);
    expect(notified).toEqual(['alice']);
    // An hour of everything that 300 places can do.
    for (let passed = 0; passed < 60 * minute; passed += 30 * second) {
      for (let n = 0; n < 300; n++) if (attempt(`10.${n % 256}.${n}.1`) === 0) taken++;
      clock.advance(30 * second);
    }
    expect(taken).toBeLessThanOrEqual(5 + 31);
    expect(notified).toEqual(['alice']);
  });

  test('does not use up the attempt of a user that mistyped once from a new network, with any number of guesses', () => {
    attempt('172.16.0.1');
    for (let n = 0; n < 4; n++) attempt(`10.${n}.0.1`);
    const wait = attempt('172.16.0.1');
    expect(wait).toBe(120);
    for (let passed = 0; passed < wait; passed += 1) {
      attempt(`10.${passed}.0.2`);
      clock.advance(second);
    }
    for (let n = 0; n < 50; n++) attempt(`11.${n}.0.2`);
    expect(attempt('172.16.0.1', { right: true })).toBe(0);
    for (let n = 0; n < 5; n++) expect(attempt('172.16.0.1')).toBe(0);
  });

  test('is reported again after a day', () => {
    for (let day = 0; day < 3; day++) {
      for (let n = 0; n < 20; n++) attempt(`10.${n}.${day}.1`);
      clock.advance(24 * 60 * minute + 1);
    }
    expect(notified).toEqual(['alice', 'alice', 'alice']);
  });
});

describe('a clock that was set back', () => {
  test.each([true, false])('does not extend any delay (codes: %s)', (together) => {
    delays = signInDelays(clock, { together });
    attempt('home', { right: true });
    attempt('hotel');
    for (let n = 0; n < 40; n++) attempt(`10.${n}.0.1`);
    clock.advance(-24 * 60 * minute);
    expect(attempt('home', { right: true })).toBe(0);
    for (const network of ['hotel', '10.1.0.1', '10.77.0.1']) expect(attempt(network)).toBeLessThanOrEqual(34 * 60);
  });
});

describe('the owner of an attacked account', () => {
  const underAttack = (): void => {
    for (let n = 0; n < 1_000; n++) attempt(`attacker ${n}`);
  };

  test('is not locked out by guesses from other networks: the first attempt from any network is accepted', () => {
    underAttack();
    expect(attempt('a hotel', { right: true })).toBe(0);
  });

  test('may mistype from a known network, whatever happens from other networks', () => {
    attempt('home', { right: true });
    underAttack();
    for (let n = 0; n < 5; n++) expect(attempt('home')).toBe(0);
    expect(attempt('home', { right: true })).toBe(0);
  });

  test('that has mistyped once from a new network can sign in after half an hour, with any number of guesses meanwhile', () => {
    underAttack();
    attempt('a hotel');
    for (let passed = 0, n = 0; passed < 30 * minute; passed += minute) {
      for (let more = 0; more < 10; more++) attempt(`another attacker ${n++}`);
      clock.advance(minute);
    }
    expect(attempt('a hotel', { right: true })).toBe(0);
  });

  test('that signs in does not reset the delay of others', () => {
    underAttack();
    attempt('home', { right: true });
    expect(attempt('attacker 1')).toBeGreaterThan(0);
  });

  test('is protected in a known network too, by the failures there', () => {
    attempt('home', { right: true });
    expect(hammer('home', 100)).toBe(6);
  });
});

test('the number of sign-in delays is bounded: the least recent is dropped first', () => {
  hammer('attic', 6);
  for (let n = 0; n < 60_000; n++) attempt(`place ${n % 7}`, { account: `account ${n}` });
  expect(attempt('attic')).toBe(0);
});
