import { describe, expect, test } from 'vitest';
import { BodyRoom } from '../../src/http/body-room.js';

const room = () => new BodyRoom({ totalBytes: 1000, maxBytes: 100, unfinishedPerAddress: 2 });

describe('the room for request bodies', () => {
  test('counts what has come, not what is announced, and gives it back once', () => {
    const bodies = room();
    const one = bodies.enter('a', 1);
    expect(bodies.bytes).toBe(0);
    expect(one?.take(60)).toBeNull();
    expect(one?.take(40)).toBeNull();
    expect(bodies.bytes).toBe(100);
    one?.leave();
    one?.leave();
    expect(bodies.bytes).toBe(0);
  });

  test('gives one holder a quarter of it, over all its bodies, and the others still find theirs', () => {
    const bodies = room();
    const first = bodies.enter('a', 1);
    const second = bodies.enter('b', 1);
    expect(first?.take(200)).toBeNull();
    expect(second?.take(51)).toBe('holder');
    expect(second?.take(50)).toBeNull();
    expect(bodies.enter('c', 2)?.take(250)).toBeNull();
    first?.leave();
    expect(second?.take(200)).toBeNull();
  });

  test('always takes one largest body, however small the whole is', () => {
    const bodies = new BodyRoom({ totalBytes: 100, maxBytes: 100, unfinishedPerAddress: 2 });
    expect(bodies.enter('a', 1)?.take(100)).toBeNull();
    expect(bodies.enter('b', 2)?.take(1)).toBe('process');
  });

  test('lets an address send so many at a time, whole ones not counted', () => {
    const bodies = room();
    const one = bodies.enter('a', 1);
    expect(bodies.enter('a', 2)).not.toBeNull();
    expect(bodies.enter('a', 3)).toBeNull();
    expect(bodies.enter('b', 3)).not.toBeNull();
    one?.finish();
    one?.leave();
    expect(bodies.enter('a', 3)).not.toBeNull();
    expect(bodies.enter('a', 4)).toBeNull();
  });

  test('counts the addresses one subscriber has as one', () => {
    const bodies = room();
    for (const host of [1, 2]) expect(bodies.enter(`2001:db8:0:1::${host}`, host)).not.toBeNull();
    expect(bodies.enter('2001:db8:0:1::3', 3)).toBeNull();
    expect(bodies.enter('2001:db8:0:2::3', 3)).not.toBeNull();
  });
});
