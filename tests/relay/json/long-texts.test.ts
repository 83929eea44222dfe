import { describe, expect, test } from 'vitest';
import { withLongTexts, withoutLongTexts } from '../../../src/relay/json/long-texts.js';

const long = 'A'.repeat(70_000);

describe('long texts of JSON', () => {
  test.each<[string, unknown]>([
    ['none are there', { a: 'short', b: [1, null] }],
    ['one is there', { data: [{ b64_json: long }], usage: { total: 1 } }],
    ['several are there, and quotes before them', { say: 'a \\"quoted\\\\" word', x: long, y: { z: long } }],
    ['one is a name', { [long]: 1 }],
  ])('are put back as they were where %s', (_name, value) => {
    const bytes = Buffer.from(JSON.stringify(value));
    const short = withoutLongTexts(bytes);
    expect(short.length).toBeLessThan(1_000);
    const again = withLongTexts(JSON.stringify(JSON.parse(short.toString('utf8'))), bytes);
    expect(JSON.parse(again.toString('utf8'))).toEqual(value);
  });

  test('stay where a parser must look at them', () => {
    for (const text of [`"${'\\u0041'.repeat(20_000)}"`, `"${'é'.repeat(40_000)}"`, `"${long}\u0001"`, `"${long}`]) {
      const bytes = Buffer.from(`{"a":${text}}`);
      expect(withoutLongTexts(bytes)).toBe(bytes);
    }
  });
});
