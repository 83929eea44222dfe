/* How long the read models need to show what has happened, from looks at both ends. */

/** What a look found: where the log ended, and how far a read model had come. */
export interface Look {
  /** Milliseconds, on any clock. */
  readonly at: number;
  readonly head: number;
  readonly position: number;
}

/**
 * For each look, how long ago the log had first been seen beyond what the read model holds; 0 where it holds everything.
 * As exact as the looks are frequent.
 */
export function lagsOf(looks: readonly Look[]): number[] {
  let next = 0;
  return looks.map(({ at, head, position }) => {
    if (position >= head) return 0;
    // Neither the head nor the position ever goes back: what was within then is within now.
    while ((looks[next]?.head ?? head) <= position) next++;
    return at - (looks[next]?.at ?? at);
  });
}
