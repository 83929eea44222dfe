import { describe, expect, test } from 'vitest';
import { type Look, lagsOf } from '../../bench/lag.js';

const look = (at: number, head: number, position: number): Look => ({ at, head, position });

describe('the lag of a read model', () => {
  test('is zero while it is complete', () =>
    expect(lagsOf([look(0, 10, 10), look(50, 10, 10), look(100, 12, 12)])).toEqual([0, 0, 0]));
  test('is the time since the log first contained an event that it lacks', () =>
    expect(
      lagsOf([look(0, 10, 10), look(50, 12, 10), look(100, 15, 10), look(150, 15, 12), look(200, 15, 15)]),
    ).toEqual([0, 0, 50, 50, 0]));
  test('starts again after it has caught up', () =>
    expect(lagsOf([look(0, 5, 4), look(100, 5, 5), look(200, 9, 5), look(260, 9, 5)])).toEqual([0, 0, 0, 60]));
});
