/* What the journal and its flushing thread say to each other, in memory that both have. */

export interface FlushingMemory {
  readonly control: SharedArrayBuffer;
  /** What is to be written. */
  readonly bytes: SharedArrayBuffer;
}

/** Places in `control`, 32 bits each. `asked` counts orders and is negative when there will be none; `answered` follows. */
export const slots = { asked: 0, answered: 1, file: 2, place: 3, offset: 4, length: 5, verdict: 6 } as const;

/** `taken`: written, but to a file that another process has taken over in the meantime. */
export const verdicts = { written: 1, failed: 2, taken: 3 } as const;
