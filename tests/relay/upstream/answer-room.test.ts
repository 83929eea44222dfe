import { describe, expect, test } from 'vitest';
import { AnswerRoom } from '../../../src/relay/upstream/answer-room.js';

const mebibyte = 1024 * 1024;

describe('the memory for answers', () => {
  test('allows answers of 64 MiB where the heap is large, and of an eighth of the heap otherwise', () => {
    expect(new AnswerRoom(4096 * mebibyte).maxBytes).toBe(64 * mebibyte);
    expect(new AnswerRoom(256 * mebibyte).maxBytes).toBe(32 * mebibyte);
  });

  test('counts nothing up to a mebibyte, then everything, and releases it once', () => {
    const room = new AnswerRoom(256 * mebibyte);
    const slot = room.newSlot(1);
    expect(slot.take(mebibyte)).toBeNull();
    expect(room.bytes).toBe(0);
    expect(slot.take(1)).toBeNull();
    expect(slot.take(mebibyte)).toBeNull();
    expect(room.bytes).toBe(2 * mebibyte + 1);
    slot.leave();
    slot.leave();
    expect(room.bytes).toBe(0);
    expect(slot.take(mebibyte)).toBeNull();
    expect(room.bytes).toBe(0);
  });

  test('counts the buffered part of a stream, as it grows and shrinks', () => {
    const room = new AnswerRoom(256 * mebibyte);
    const slot = room.newSlot(1);
    const counted = [1, 2, 3, 5, 2, 0, 1].map((mebibytes) => {
      expect(slot.hold(mebibytes * mebibyte)).toBeNull();
      return room.bytes / mebibyte;
    });
    expect(counted).toEqual([0, 2, 3, 5, 2, 0, 0]);
    expect(slot.hold(33 * mebibyte)).toBe('holder');
    slot.leave();
    expect(room.bytes).toBe(0);
  });

  test('is limited to a share for one payer, and to the whole for all payers together', () => {
    const room = new AnswerRoom(256 * mebibyte);
    expect(room.newSlot(1).take(32 * mebibyte)).toBeNull();
    expect(room.newSlot(1).take(2 * mebibyte)).toBe('holder');
    expect(room.newSlot(2).take(32 * mebibyte)).toBeNull();
    expect(room.newSlot(3).take(2 * mebibyte)).toBe('process');
    // Small answers find room at any time.
    expect(room.newSlot(3).take(mebibyte)).toBeNull();
  });
});
