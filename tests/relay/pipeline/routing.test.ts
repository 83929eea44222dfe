import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import {
  byAffinity,
  byChance,
  type Candidate,
  chooseChannel,
  isRetryable,
} from '../../../src/relay/pipeline/channels/routing.js';

const candidate = (id: number, priority = 0, weight = 0): Candidate => ({ id: ChannelId(id), priority, weight });
const failed = (...ids: number[]): Set<ChannelId> => new Set(ids.map(ChannelId));

const tiers = [candidate(1, 10), candidate(2, 10), candidate(3, 5), candidate(4, 0)];

describe('the channel of an attempt', () => {
  // `random` decides within a tier: the first half is channel 1's.
  test.each([
    ['is of the best tier first', 0, [], 0.4, 1],
    ['is drawn among equals', 0, [], 0.6, 2],
    ['is of the second tier at the second attempt', 1, [1], 0, 3],
    ['is of the last tier at the third', 2, [1, 3], 0, 4],
    ['stays in the last tier when there are more attempts than tiers', 7, [1, 3], 0, 4],
    ['passes over those that failed', 0, [1], 0, 2],
    ['goes down where all of a tier failed', 0, [1, 2], 0, 3],
    ['comes from above where all below failed', 2, [1, 3, 4], 0, 2],
    ['is of the best tier again when all have failed', 2, [1, 2, 3, 4], 0.9, 2],
  ] as const)('%s', (_rule, attempt, before, random, chosen) => {
    expect(chooseChannel(tiers, attempt, failed(...before), byChance(random))?.id).toBe(chosen);
  });

  test('is missing where there are no candidates', () => {
    expect(chooseChannel([], 0, failed(), byChance(0))).toBeNull();
  });

  test.each([
    ['weight 0 has half the share of weight 10', [0, 10], [1 / 3, 2 / 3]],
    ['equal weights have equal shares', [7, 7], [1 / 2, 1 / 2]],
    ['weight 90 has ten times the share of weight 0', [0, 90], [1 / 11, 10 / 11]],
  ] as const)('is drawn by weight: %s', (_rule, weights, shares) => {
    const drawn = weights.map((weight, index) => candidate(index + 1, 0, weight));
    const [share] = shares;
    const at = (random: number) => chooseChannel(drawn, 0, failed(), byChance(random))?.id;
    expect([at(0), at(share - 1e-9), at(share + 1e-9), at(1 - 1e-9)]).toEqual([1, 1, 2, 2]);
  });
});

/** Conversations as digests make them: spread evenly. */
const conversations = Array.from({ length: 20_000 }, (_, index) => {
  const digest = createHash('sha1').update(String(index)).digest();
  return { high: digest.readInt32BE(0), low: digest.readInt32BE(4) };
});

describe('the channel of a conversation', () => {
  const none = new Set<ChannelId>();
  const chosen = (candidates: readonly Candidate[], before = none, left = none) =>
    conversations.map((one) => chooseChannel(candidates, before.size, before, byAffinity(one, left))?.id);
  const share = (ids: readonly (number | undefined)[], id: number) =>
    ids.filter((one) => one === id).length / ids.length;
  const weighted = [candidate(1, 0, 0), candidate(2, 0, 10), candidate(3, 0, 90), candidate(4, -1, 500)];

  test('is the same at each call, and over all conversations drawn by weight, within the best priority', () => {
    const ids = chosen(weighted);
    expect(chosen([...weighted].reverse())).toEqual(ids);
    for (const [id, expected] of [
      [1, 10 / 130],
      [2, 20 / 130],
      [3, 100 / 130],
      [4, 0],
    ] as const)
      expect(share(ids, id)).toBeCloseTo(expected, 1.7);
  });

  test('changes only for those who had a channel that goes, or get one that comes', () => {
    const [before, after] = [chosen(weighted), chosen(weighted.filter(({ id }) => id !== 2))];
    for (const [index, id] of before.entries()) if (id !== 2) expect(after[index]).toBe(id);
    const moved = after.filter((_, index) => before[index] === 2);
    // By weight again, and not all to one.
    expect(share(moved, 1)).toBeCloseTo(10 / 110, 1);
  });

  test('is another for those who have left it, the same one each time; it is theirs again where all others are left too', () => {
    const [before, after] = [chosen(weighted), chosen(weighted, none, failed(3))];
    expect(share(after, 3)).toBe(0);
    expect(after).toEqual(chosen(weighted.filter(({ id }) => id !== 3)));
    expect(chosen(weighted, none, failed(1, 2, 3))).toEqual(before);
  });

  test('of a second attempt is of the next priority, as for any call', () => {
    expect(new Set(chosen(weighted, failed(3)))).toEqual(new Set([4]));
  });
});

test.each([
  [200, false],
  [299, false],
  [307, true],
  [400, false],
  [401, true],
  [403, true],
  [404, true],
  [408, false],
  [429, true],
  [500, true],
  [502, true],
  [503, true],
  [504, false],
  [524, false],
])('an answer with status %i is retried on another channel: %s', (status, retried) => {
  expect(isRetryable(status)).toBe(retried);
});
