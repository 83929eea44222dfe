import { describe, expect, test } from 'vitest';
import { newEventId } from '../../src/application/event-id.js';
import { requestId } from '../../src/application/request-id.js';
import { Instant } from '../../src/domain/kernel/instant.js';

describe('an event id', () => {
  test('is a UUID of version 7 that begins with its time', () => {
    for (const at of [0, 1, 1_763_800_000_000, 1_763_800_000_001, 1_763_800_000_001, 281_474_976_710_655]) {
      const id = newEventId(Instant(at));
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(at);
    }
  });

  test('differs from all others of the same millisecond', () => {
    const ids = Array.from({ length: 20_000 }, () => newEventId(Instant(5)));
    expect(new Set(ids).size).toBe(ids.length);
    // Each place takes every digit: none was drawn twice, or not at all.
    const digits = ids.map((id) => id.replaceAll('-', ''));
    for (const index of [13, 14, 15, 17, 18, 25, 31])
      expect([index, new Set(digits.map((text) => text[index])).size]).toEqual([index, 16]);
  });
});

describe('a request id', () => {
  test('contains its time in UTC, to the millisecond, also when another second was formatted in between', () => {
    const moments = ['2026-11-22T10:02:48.007Z', '2026-11-22T10:02:48.999Z', '2027-01-01T00:00:00.000Z'];
    for (const moment of [...moments, ...moments.reverse()])
      expect(requestId(Date.parse(moment)).slice(0, 17)).toBe(moment.replace(/\D/g, ''));
  });

  test('ends with eight letters and digits that no other has', () => {
    const ids = Array.from({ length: 10_000 }, () => requestId(0));
    expect(ids.every((id) => /^19700101000000000[0-9A-Za-z]{8}$/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
