import { expect, test } from 'vitest';
import { csvOf } from '../../src/exports/csv.js';
import { ExportSlots } from '../../src/exports/export-slots.js';

test('export slots are two for each user, and eight for all together', () => {
  const slots = new ExportSlots({ each: 2, all: 8 });
  const leave = slots.take(1);
  expect(slots.take(1)).not.toBeNull();
  expect(slots.take(1)).toBeNull();
  leave?.();
  leave?.();
  expect(slots.take(1)).not.toBeNull();
  expect(slots.take(1)).toBeNull();
  for (const holder of [2, 2, 3, 3, 4, 4]) expect(slots.take(holder)).not.toBeNull();
  expect(slots.take(5)).toBeNull();
});

test('a reader that stops ends the reading of pages, and no page is read ahead', async () => {
  let read = 0;
  let ended = false;
  async function* pages() {
    try {
      for (;;) {
        read += 1;
        yield [read];
      }
    } finally {
      ended = true;
    }
  }
  const texts = csvOf(['n'], pages(), (n) => [n]);
  await texts.next();
  expect(read).toBe(0);
  expect((await texts.next()).value).toBe('1\r\n');
  await texts.return();
  expect([read, ended]).toEqual([1, true]);
});
