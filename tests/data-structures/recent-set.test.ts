import { expect, test } from 'vitest';
import { RecentSet } from '../../src/data-structures/recent-set.js';

test('a recent set keeps what was added last, and forgets the oldest for it', () => {
  const recent = new RecentSet<string>(2);
  for (const value of ['a', 'b', 'b', 'c']) recent.add(value);
  expect(['a', 'b', 'c'].map((value) => recent.has(value))).toEqual([false, true, true]);
});
