import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DamagedJournal,
  headBytes,
  headOf,
  logOf,
  readRecords,
  writeRecord,
} from '../../../../src/adapters/event-log/journal/record.js';

const fileBytes = 4096;
const emptyFile = (log = 'log 7'): Buffer => Buffer.concat([headOf(log), Buffer.alloc(fileBytes - headBytes)]);

/** Puts the records one behind the other, the first with this number; returns where the next one would go. */
function fill(file: Buffer, first: number, texts: readonly string[]): number {
  let offset = headBytes;
  for (const [index, text] of texts.entries())
    offset += writeRecord(file.subarray(offset), first + index, 0, text) ?? 0;
  return offset;
}

const recordsIn = (files: readonly Buffer[]) => readRecords(files).map(({ number, text }) => [number, text]);

describe('the files of a journal', () => {
  test('name the log that they belong to', () => {
    expect(logOf(emptyFile('7264'))).toBe('7264');
  });
  test('are ignored if they do not begin with the header of a journal', () => {
    expect(logOf(Buffer.alloc(fileBytes))).toBeNull();
    expect(logOf(Buffer.alloc(0))).toBeNull();
    expect(logOf(Buffer.from('something else\n7264\n'))).toBeNull();
  });
  test('return what was written, of whatever characters', () => {
    const file = emptyFile();
    fill(file, 0, ['one', '', 'zwölf 十二 🧮']);
    expect(recordsIn([file, emptyFile()])).toEqual([
      [0, 'one'],
      [1, ''],
      [2, 'zwölf 十二 🧮'],
    ]);
  });
  test('store numbers beyond 32 bits', () => {
    const file = emptyFile();
    fill(file, 2 ** 40, ['far']);
    expect(recordsIn([file])).toEqual([[2 ** 40, 'far']]);
  });
  test('are read in the order of their records, whichever is current', () => {
    const [a, b] = [emptyFile(), emptyFile()];
    fill(a, 0, ['old', 'older than the next', 'left over']);
    fill(b, 3, ['in', 'between']);
    fill(a, 5, ['new']);
    expect(recordsIn([a, b])).toEqual([
      [3, 'in'],
      [4, 'between'],
      [5, 'new'],
    ]);
  });
  test('contain nothing that the newest record declares as released', () => {
    const file = emptyFile();
    const offset = fill(file, 0, ['one', 'two', 'three']);
    writeRecord(file.subarray(offset), 3, 2, 'four');
    expect(recordsIn([file])).toEqual([
      [2, 'three'],
      [3, 'four'],
    ]);
  });
  test('without records are empty', () => {
    expect(readRecords([emptyFile(), emptyFile()])).toEqual([]);
    expect(readRecords([])).toEqual([]);
  });
  test('refuse a record that does not fit', () => {
    const target = Buffer.alloc(64);
    expect(writeRecord(target, 0, 0, 'x'.repeat(37))).toBeNull();
    expect(writeRecord(target, 0, 0, '十'.repeat(13))).toBeNull();
    expect(writeRecord(target, 0, 0, 'x'.repeat(36))).toBe(64);
    expect(writeRecord(target, 0, 0, '十'.repeat(12))).toBe(28 + 36);
  });
});

describe('a truncated journal', () => {
  test('ends before the record that was being written, wherever it was cut', () => {
    const whole = emptyFile();
    const begun = fill(whole, 0, ['first', 'second']);
    const length = writeRecord(whole.subarray(begun), 2, 0, 'third') ?? 0;
    for (let bytes = 0; bytes < length; bytes++) {
      const cut = emptyFile();
      whole.copy(cut, 0, 0, begun + bytes);
      expect(recordsIn([cut, emptyFile()])).toEqual([
        [0, 'first'],
        [1, 'second'],
      ]);
    }
  });
  test('loses nothing of the other file when its first record over an old one was being written', () => {
    const [a, b] = [emptyFile(), emptyFile()];
    fill(a, 0, ['old']);
    fill(b, 1, ['newer']);
    const torn = Buffer.from(a);
    writeRecord(torn.subarray(headBytes), 2, 0, 'newest of all');
    torn.copy(a, headBytes, headBytes, headBytes + 14);
    expect(recordsIn([a, b])).toEqual([[1, 'newer']]);
  });
});

describe('a damaged journal', () => {
  test('is not read as if it ended at the damage', () => {
    const file = emptyFile();
    fill(file, 0, ['first', 'second', 'third']);
    file.writeUInt8(file.readUInt8(headBytes + 30) ^ 1, headBytes + 30);
    expect(() => readRecords([file, emptyFile()])).toThrow(DamagedJournal);
  });
  test('is not read when one of its files lacks what the other one continues from', () => {
    const [a, b] = [emptyFile(), emptyFile()];
    fill(a, 0, ['first']);
    fill(b, 2, ['third']);
    expect(() => readRecords([a, b])).toThrow(DamagedJournal);
  });
});

test('a journal written, released and truncated in random turns holds exactly what was completed since', () => {
  const step = fc.record({ text: fc.string({ maxLength: 200, unit: 'binary' }), forget: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.nat(100), (steps, cut) => {
      const files = [emptyFile(), emptyFile()] as const;
      let active: 0 | 1 = 0;
      let offset = headBytes;
      let forgotten = -1;
      const newest = [-1, -1];
      const written: string[] = [];
      let before: readonly Buffer[] = files.map((file) => Buffer.from(file));
      for (const { text, forget } of steps) {
        before = files.map((file) => Buffer.from(file));
        let length = writeRecord(files[active].subarray(offset), written.length, forgotten + 1, text);
        if (length === null) {
          const other: 0 | 1 = active === 0 ? 1 : 0;
          if ((newest[other] ?? -1) > forgotten) break;
          active = other;
          offset = headBytes;
          length = writeRecord(files[active].subarray(offset), written.length, forgotten + 1, text);
          if (length === null) break;
        }
        newest[active] = written.length;
        offset += length;
        written.push(text);
        if (forget) forgotten = written.length - 1;
      }
      const read = readRecords(files);
      expect(read.map(({ number }) => number)).toEqual(read.map((_, index) => written.length - read.length + index));
      for (const { number, text } of read) expect(Buffer.from(text)).toEqual(Buffer.from(written[number] ?? 'missing'));
      // What was forgotten after the newest was written may be there still.
      expect(written.length - read.length).toBeLessThanOrEqual(forgotten + 1);

      // The last one again, but cut off somewhere.
      if (written.length === 0) return;
      const torn = before.map((file) => Buffer.from(file));
      const at = files.findIndex((file, index) => !file.equals(before[index] ?? file));
      if (at < 0) return;
      const [now, then] = [files[at], torn[at]];
      if (now === undefined || then === undefined) return;
      const first = now.findIndex((byte, index) => byte !== then[index]);
      now.copy(then, first, first, first + cut);
      const left = readRecords(torn);
      expect(
        left.every(({ number, text }) => Buffer.from(text).equals(Buffer.from(written[number] ?? 'missing'))),
      ).toBe(true);
      expect(left.at(-1)?.number ?? -1).toBeGreaterThanOrEqual(written.length - 2);
    }),
    { numRuns: 300 },
  );
});
