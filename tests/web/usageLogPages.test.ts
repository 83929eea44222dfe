import { describe, expect, test } from 'vitest';
import { joinPage, type LogPage, pageAfter, type Stretch } from '../../web/src/usageLogPages.js';

/** A page of lines by their ids, newest first. */
const page = (ids: readonly number[], hasNextPage: boolean): LogPage => ({
  edges: ids.map((id) => ({ cursor: String(id), node: { __ref: `UsageLogLine:${id}` } })),
  pageInfo: { hasNextPage, endCursor: String(ids.at(-1) ?? '') || null, startCursor: String(ids[0] ?? 0) },
});

const idsOf = (found: LogPage | undefined): number[] | undefined => found?.edges.map(({ cursor }) => Number(cursor));
const nothing: readonly Stretch[] = [];

describe('the usage log in the cache', () => {
  const first = joinPage(nothing, page([9, 8, 7], true), null);
  const both = joinPage(first, page([6, 5, 4], true), '7');

  test('answers a page it has seen', () => {
    expect(idsOf(pageAfter(both, null, 3))).toEqual([9, 8, 7]);
    expect(idsOf(pageAfter(both, '7', 3))).toEqual([6, 5, 4]);
  });
  test('answers in another size than it was asked in', () => {
    expect(idsOf(pageAfter(both, null, 5))).toEqual([9, 8, 7, 6, 5]);
    expect(idsOf(pageAfter(both, '8', 2))).toEqual([7, 6]);
  });
  test('asks for what it has not seen', () => {
    expect(pageAfter(nothing, null, 3)).toBeUndefined();
    expect(pageAfter(both, '4', 3)).toBeUndefined();
    expect(pageAfter(both, null, 7)).toBeUndefined();
  });
  test('knows where the log ends', () => {
    const whole = joinPage(both, page([3], false), '4');
    expect(idsOf(pageAfter(whole, '4', 3))).toEqual([3]);
    expect(pageAfter(whole, '4', 3)?.pageInfo).toEqual({ hasNextPage: false, endCursor: '3', startCursor: '3' });
    expect(pageAfter(whole, null, 3)?.pageInfo.hasNextPage).toBe(true);
  });
  test('puts newer lines before the first and keeps the rest', () => {
    const grown = joinPage(both, page([11, 10, 9], true), null);
    expect(idsOf(pageAfter(grown, null, 8))).toEqual([11, 10, 9, 8, 7, 6, 5, 4]);
    expect(pageAfter(grown, null, 2)?.pageInfo.startCursor).toBe('11');
  });
  test('forgets older pages when the newest one no longer reaches them', () => {
    const jumped = joinPage(both, page([40, 39, 38], true), null);
    expect(idsOf(pageAfter(jumped, null, 3))).toEqual([40, 39, 38]);
    expect(pageAfter(jumped, '38', 3)).toBeUndefined();
  });
  test('shows a page opened by its address, beside those it knows', () => {
    const apart = joinPage(both, page([2, 1], false), '3');
    expect(idsOf(pageAfter(apart, '3', 3))).toEqual([2, 1]);
    expect(idsOf(pageAfter(apart, null, 3))).toEqual([9, 8, 7]);
  });
  test('takes a page again without doubling it', () => {
    expect(joinPage(both, page([6, 5, 4], true), '7')).toEqual(both);
    expect(joinPage(both, page([9, 8, 7], true), null)).toEqual(both);
  });
  test('has an empty log', () => {
    const empty = joinPage(nothing, page([], false), null);
    expect(pageAfter(empty, null, 20)).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, endCursor: null, startCursor: '0' },
    });
  });
});
