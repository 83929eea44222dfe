import { describe, expect, test } from 'vitest';
import { readListParams, writeListParams } from '../../web/src/kit/table/listParams.js';

const defaults = { most: 1, search: '', onlyMine: false, status: 'ALL' } as const;
const read = (query: string) => readListParams(defaults, new URLSearchParams(query));
const write = (query: string, patch: Parameters<typeof writeListParams<typeof defaults>>[2]) =>
  writeListParams(defaults, new URLSearchParams(query), patch).toString();

describe('reading the state of a list from its address', () => {
  test('has the value in the address, in the type of its default', () => {
    expect(read('most=3&search=a+b&onlyMine=true&status=OPEN')).toEqual({
      most: 3,
      search: 'a b',
      onlyMine: true,
      status: 'OPEN',
    });
  });
  test('has the default for an absent value', () => {
    expect(read('')).toEqual({ most: 1, search: '', onlyMine: false, status: 'ALL' });
  });
  test.each(['most=', 'most=abc', 'most=NaN', 'most=1e9', 'most=0x10'])('has the default for %s', (query) => {
    expect(read(query).most).toBe(1);
  });
  test('has the default for a flag that is neither true nor false', () => {
    expect(readListParams({ on: true }, new URLSearchParams('on=maybe')).on).toBe(true);
    expect(readListParams({ on: true }, new URLSearchParams('on=false')).on).toBe(false);
  });
});

describe('writing the state of a list into its address', () => {
  test('omits values equal to the default', () => {
    expect(write('most=3&search=x', { most: 1 })).toBe('search=x');
    expect(write('', { search: '', onlyMine: false })).toBe('');
  });
  test('keeps values that the patch does not name, also those of others', () => {
    expect(write('open=7&search=x', { most: 2 })).toBe('open=7&search=x&most=2');
  });
  test('is reversible by reading', () => {
    const state = { most: 12, search: '50% & more', onlyMine: true, status: '' };
    expect(read(write('', state))).toEqual(state);
  });
});
