/* Much that is done page by page, with pauses in which everybody else has the process. */

interface UnhurriedTime {
  /** Milliseconds from any beginning. */
  now(): number;
  pause(ms: number): Promise<void>;
}

const realTime: UnhurriedTime = {
  now: () => performance.now(),
  pause: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
};

/** So many times as long as a page took, the work of whoever takes it included. */
const pauses = 2;
/** Whoever is slow to take a page has left room enough. */
const maxPauseMs = 100;

/** The same pages, a pause before each but the first. */
export async function* unhurried<Page>(
  pages: AsyncIterable<Page>,
  time: UnhurriedTime = realTime,
): AsyncGenerator<Page, void, undefined> {
  let began: number | null = null;
  const iterator = pages[Symbol.asyncIterator]();
  try {
    for (;;) {
      if (began !== null) await time.pause(Math.min((time.now() - began) * pauses, maxPauseMs));
      began = time.now();
      const { done, value } = await iterator.next();
      if (done === true) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}
