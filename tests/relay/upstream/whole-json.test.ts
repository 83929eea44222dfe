import { describe, expect, test } from 'vitest';
import { ChunkBuffer } from '../../../src/relay/upstream/chunk-buffer.js';
import { WholeJson } from '../../../src/relay/upstream/whole-json.js';

const patience = { settledMs: 2_000, idleMs: 60_000 };
const value = '{"a":["}\\"]",{"b":"\\\\"}],"c":1}';

/** As it is seen when `pieces` have come, one after the other, and it is looked after each. */
function lookedAt(pieces: readonly string[], begun = ''): { readonly json: WholeJson; readonly source: ChunkBuffer } {
  const json = new WholeJson(patience);
  json.begin(Buffer.from(begun));
  const source = new ChunkBuffer();
  json.source = source;
  for (const piece of pieces) {
    source.add(Buffer.from(piece));
    void json.progress;
  }
  return { json, source };
}

describe('a JSON value that the upstream does not terminate', () => {
  test('is complete at its last bracket and not before, wherever it is cut', () => {
    for (let at = 0; at <= value.length; at++) {
      const { json } = lookedAt([value.slice(0, at)]);
      expect([at, json.complete, json.patienceMs]).toEqual([
        at,
        at === value.length,
        at === value.length ? patience.settledMs : patience.idleMs,
      ]);
      expect(lookedAt([value.slice(0, at), value.slice(at)]).json.complete).toBe(true);
      expect(lookedAt([value.slice(at)], value.slice(0, at)).json.complete).toBe(true);
    }
  });

  test.each([
    ['blanks', '\n \r\n\t'],
    ['comments of an event stream', '\n\n: keep-alive {"x":1}\n\n: ping\n\n'],
  ])('stays complete when %s follow, which are not part of it and not progress', (_what, behind) => {
    const { json, source } = lookedAt([value]);
    const before = json.progress;
    source.add(Buffer.from(behind));
    expect([json.progress, json.complete]).toEqual([before, true]);
    json.taken = true;
    expect(String(json.valueOf(source.take()))).toBe(value);
  });

  test.each([
    ['another value', '\n{"a":1}'],
    ['words', ' and more'],
    ['a colon within a line', ' : x'],
  ])('is not complete when %s follows it', (_what, behind) => {
    expect(lookedAt([value, behind]).json.complete).toBe(false);
    expect(lookedAt([value, behind, value]).json.complete).toBe(false);
  });

  test('makes no progress by blanks within it', () => {
    const { json, source } = lookedAt(['{"a":']);
    const before = json.progress;
    source.add(Buffer.from(' \n '));
    expect(json.progress).toBe(before);
    source.add(Buffer.from('1'));
    expect(json.progress).toBeGreaterThan(before);
  });

  test('is left unchanged where the upstream has ended it', () => {
    const { json, source } = lookedAt([`${value}\n`]);
    expect(String(json.valueOf(source.take()))).toBe(`${value}\n`);
  });

  test('is inspected piece by piece where it is long, and to its end where necessary', () => {
    const { json } = lookedAt([`["${'x'.repeat(3 * 1024 * 1024)}"]`]);
    expect(json.complete).toBe(false);
    expect(json.caughtUp()).toBe(true);
  });
});
