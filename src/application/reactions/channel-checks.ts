import { atIntervals } from '../../concurrency/at-intervals.js';

/* What is done to all channels by the clock: they are tested, and the balances of their accounts are asked for. */

export interface ChannelsByTheClock {
  /** Begins, and does not wait: a test takes as long as upstreams take. Nothing where one is under way. */
  testAll(): void;
  updateBalances(): Promise<unknown>;
}

export interface ChannelIntervals {
  /** null: only when somebody orders it; so for the other. */
  readonly testEveryMs: number | null;
  readonly balancesEveryMs: number | null;
}

/** The result ends it; what is under way ends with the node, not with this. */
export function startChannelChecks(
  { testAll, updateBalances }: ChannelsByTheClock,
  { testEveryMs, balancesEveryMs }: ChannelIntervals,
  failed: (error: unknown) => void,
): () => Promise<void> {
  const ends: (() => Promise<void>)[] = [];
  if (testEveryMs !== null) ends.push(atIntervals(testEveryMs, async () => testAll()));
  if (balancesEveryMs !== null)
    ends.push(
      atIntervals(balancesEveryMs, async () => {
        void updateBalances().catch(failed);
      }),
    );
  return async () => {
    await Promise.all(ends.map((end) => end()));
  };
}
