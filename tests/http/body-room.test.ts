import { describe, expect, test } from 'vitest';
import { BodyRoom } from '../../src/http/body-room.js';

const room = () => new BodyRoom({ totalBytes: 1000, maxBytes: 100, unfinishedPerAddress: 2 });

describe('the memory for request bodies', () => {
  test('counts what has arrived, not what is announced, and releases it once', () => {
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

  test('limits one holder to a quarter of it, over all its bodies, and leaves the rest to others', () => {
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

  test('always admits one body of the maximum size, however small the total is', () => {
    const bodies = new BodyRoom({ totalBytes: 100, maxBytes: 100, unfinishedPerAddress: 2 });
    expect(bodies.enter('a', 1)?.take(100)).toBeNull();
    expect(bodies.enter('b', 2)?.take(1)).toBe('process');
  });

  test('limits concurrent uploads of an address, without complete ones', () => {
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

  test('counts the addresses of one subscriber as one', () => {
    const bodies = room();
    for (const host of [1, 2]) expect(bodies.enter(`2001:db8:0:1::${host}`, host)).not.toBeNull();
    expect(bodies.enter('2001:db8:0:1::3', 3)).toBeNull();
    expect(bodies.enter('2001:db8:0:2::3', 3)).not.toBeNull();
  });
});
