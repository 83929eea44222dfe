import { expect, test } from 'vitest';
import { csvRow } from '../../src/exports/csv.js';

test.each([
  ['=1+1', "'=1+1"],
  ['+49', "'+49"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['＝1+1', "'＝1+1"],
  [' =1', "' =1"],
  ['-x', "'-x"],
  ['a,"b"', '"a,""b"""'],
  ['a\nb', '"a\nb"'],
  ['=a,b', `"'=a,b"`],
  ['a;=1+1;b', "a;'=1+1;b"],
  ['a\t@SUM(A1)', "a\t'@SUM(A1)"],
  ['a; "=1+1', `"a; ""'=1+1"`],
  ['a\n=1', `"a\n'=1"`],
  ['a;b=1', 'a;b=1'],
])('a field %j is written as %s, which no spreadsheet runs as a formula', (text, written) => {
  expect(csvRow([text])).toBe(`${written}\r\n`);
});

test('a number stays a number, and an empty value stays empty', () => {
  expect(csvRow([-5, -5n, '-0.000010', null, 0])).toBe('-5,-5,-0.000010,,0\r\n');
});
