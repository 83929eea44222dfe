import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../log.js';
import type { Journal } from './journal.js';

/* A journal that could not be written has a new one in its place, once the log has everything that was answered by it. */

/** Twice as long each time. */
const firstPauseMs = 5_000;
const longestPauseMs = 300_000;

/** Of how many parts patience consists. */
const parts = 4;

interface Replacing {
  readonly failed: Journal;
  /** The log lacks something of it that was answered. */
  readonly isNeeded: () => boolean;
  /** null: there can be none now. */
  readonly open: () => Promise<Journal | null>;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Left out: as usual. */
  readonly pauseMs?: number | undefined;
}

/**
 * The new one; null: `signal` came first. The failed one is gone by then, and with it what it may hold of appends whose
 * outcome nobody knew: found by a later start, they would come behind what has become of their calls since.
 */
export async function replacedJournal({ failed, isNeeded, open, log, signal, ...options }: Replacing) {
  for (let pause = options.pauseMs ?? firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
    await sleep(pause, null, { signal }).catch(() => null);
    if (signal.aborted) return null;
    if (isNeeded()) continue;
    try {
      // A thread that writes to a file after that was closed might write to another one.
      await Promise.race([failed.end(), aborted(signal)]);
      if (signal.aborted) return null;
      await failed.close({ keep: false });
      const opened = await open();
      if (opened !== null) return opened;
    } catch (error) {
      log.warn({ err: error }, 'the journal cannot be replaced yet');
    }
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * Resolves with 'failed' after so long. A process that has slept meanwhile wakes up with one part over, and not with all of
 * them: it has not waited.
 */
export function patienceOf(ms: number): { readonly over: Promise<'failed'>; readonly end: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<'failed'>((resolve) => {
    const next = (left: number): void => {
      if (left === 0) resolve('failed');
      else timer = setTimeout(() => next(left - 1), ms / parts);
    };
    next(parts);
  });
  return { over, end: () => clearTimeout(timer) };
}
