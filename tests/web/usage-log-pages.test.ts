import { describe, expect, test } from 'vitest';
import { logCache } from './log-cache.js';

describe('the usage log in the cache', () => {
  const pages = () => {
    const log = logCache();
    log.write([9, 8, 7], { hasNextPage: true });
    log.write([6, 5, 4], { hasNextPage: true, after: '7' });
    return log;
  };

  test('returns a cached page', () => {
    const log = pages();
    expect(log.ids(null, 3)).toEqual([9, 8, 7]);
    expect(log.ids('7', 3)).toEqual([6, 5, 4]);
  });
  test('returns pages in another size than requested', () => {
    const log = pages();
    expect(log.ids(null, 5)).toEqual([9, 8, 7, 6, 5]);
    expect(log.ids('8', 2)).toEqual([7, 6]);
  });
  test('requests what it lacks', () => {
    expect(logCache().ids(null, 3)).toBeUndefined();
    expect(pages().ids('4', 3)).toBeUndefined();
    expect(pages().ids(null, 7)).toBeUndefined();
  });
  test('contains the end of the log', () => {
    const log = pages();
    log.write([3], { hasNextPage: false, after: '4' });
    expect(log.ids('4', 3)).toEqual([3]);
    expect(log.page('4', 3)?.pageInfo).toEqual({ hasNextPage: false, endCursor: '3', startCursor: '3' });
    expect(log.page(null, 3)?.pageInfo.hasNextPage).toBe(true);
  });
  test('inserts newer lines before the first and keeps the rest', () => {
    const log = pages();
    log.write([11, 10, 9], { hasNextPage: true });
    expect(log.ids(null, 8)).toEqual([11, 10, 9, 8, 7, 6, 5, 4]);
    expect(log.page(null, 2)?.pageInfo.startCursor).toBe('11');
  });
  test('drops older pages when the newest one no longer reaches them', () => {
    const log = pages();
    log.write([40, 39, 38], { hasNextPage: true });
    expect(log.ids(null, 3)).toEqual([40, 39, 38]);
    expect(log.ids('38', 3)).toBeUndefined();
  });
  test('contains a page opened by its address, beside others', () => {
    const log = pages();
    log.write([2, 1], { hasNextPage: false, after: '3' });
    expect(log.ids('3', 3)).toEqual([2, 1]);
    expect(log.ids(null, 3)).toEqual([9, 8, 7]);
  });
  test('accepts a page again without duplicates', () => {
    const log = pages();
    log.write([6, 5, 4], { hasNextPage: true, after: '7' });
    log.write([9, 8, 7], { hasNextPage: true });
    expect(log.ids(null, 6)).toEqual([9, 8, 7, 6, 5, 4]);
    expect(log.ids(null, 7)).toBeUndefined();
  });
  test('may be empty', () => {
    const log = logCache();
    log.write([], { hasNextPage: false });
    expect(log.page(null, 20)).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, endCursor: null, startCursor: '0' },
    });
  });
  test('keeps the lines of another filter separate', () => {
    const log = pages();
    log.write([8, 5], { hasNextPage: false, model: 'gpt-4o' });
    expect(log.ids(null, 3, 'gpt-4o')).toEqual([8, 5]);
    expect(log.ids(null, 3)).toEqual([9, 8, 7]);
  });
});
