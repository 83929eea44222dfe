import { describe, expect, test } from 'vitest';
import { RealtimeTally } from '../../../src/relay/metering/realtime-tally.js';

describe('what a realtime session holds at most', () => {
  const whole = { text: 30, sound: 0, pictures: 0 };
  const words = (bytes: number) => ({ bytes, sound: 0, pictures: { expected: 0, max: 0 } });

  test('is what usage says once a response has taken it in', () => {
    const tally = new RealtimeTally(0);
    tally.wrote(words(5_000));
    tally.begun(true);
    tally.ended(whole, 10);
    tally.begun(true);
    tally.ended(whole, 10);
    expect(tally.held).toBe(30);
  });

  test.each([
    ['sound that waits while a response begins', (tally: RealtimeTally) => tally.heard(256_000), 1_000],
    ['what was written while a response was on its way', (tally: RealtimeTally) => tally.wrote(words(1_000)), 1_000],
  ])('keeps %s', (_name, send, tokens) => {
    const tally = new RealtimeTally(0);
    send(tally);
    tally.begun(true);
    tally.ended(whole, 10);
    expect(tally.held).toBe(30 + tokens);
  });

  test('never falls after a response that takes in something else', () => {
    const tally = new RealtimeTally(0);
    tally.wrote(words(5_000));
    tally.askedApart();
    for (let times = 0; times < 2; times++) {
      tally.begun(true);
      tally.ended(whole, 10);
    }
    expect(tally.held).toBe(5_020);
  });

  test('is without a bound where tools of an upstream write into it', () => {
    const tally = new RealtimeTally(0);
    tally.growsUnseen();
    tally.begun(true);
    tally.ended(whole, 10);
    expect(tally.held).toBeGreaterThanOrEqual(Number.MAX_SAFE_INTEGER);
  });
});
