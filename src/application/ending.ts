/** The moment from which this node must not serve any more, although nobody asked it to stop; and why. */
export interface Ending {
  /** Resolves with the reason once it has come; never rejects, and for most nodes never resolves. */
  readonly begun: Promise<string>;
  /** null: the node may serve. */
  reason(): string | null;
  /** The first reason counts. */
  begin(reason: string): void;
}

export function openEnding(): Ending {
  let known: string | null = null;
  let resolveBegun: (reason: string) => void;
  const begun = new Promise<string>((resolve) => {
    resolveBegun = resolve;
  });
  return {
    begun,
    reason: () => known,
    begin(reason) {
      if (known !== null) return;
      known = reason;
      resolveBegun(reason);
    },
  };
}
