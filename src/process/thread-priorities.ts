import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/*
 * Which threads of a process may keep calls waiting for a processor. Only Linux gives the threads of a process priorities
 * of their own.
 */

/*
 * In steps of `nice`. Of a processor that calls want as well, ten leave a tenth, and five a quarter: folding takes a sixth
 * of what a call does, so read models keep up on a single core.
 */
const helping = 10;
const folding = 5;
const lowest = 19;

/** Thread 0 is the one that asks. Throws where the system does not let us. */
function stepBack(threads: readonly number[], steps: number): void {
  const priority = Math.min(getPriority(process.pid) + steps, lowest);
  for (const thread of threads) setPriority(thread, priority);
}

/** Calls are served as well where a system does not list its threads, or does not let us. */
function whereAllowed(change: () => void): void {
  if (process.platform !== 'linux') return;
  try {
    change();
  } catch {}
}

/** For the thread that folds, by itself: it waits where one that serves calls wants the processor. */
export function letCallsFirst(): void {
  whereAllowed(() => stepBack([0], folding));
}

/** Node makes them before everything else: one with a clock, and four that work. */
const helpers = 5;
/** Who wants another number knows what for, and which they are is not known then. */
const isNumberGiven = (): boolean => process.execArgv.some((flag) => /^--v8[-_]pool[-_]size\b/.test(flag));

/**
 * What V8 does beside us waits where a thread that serves calls wants the processor: compiling, and looking through the
 * heap, either of which may hold one for longer than a call takes.
 */
export function letHelpersWait(): void {
  if (isNumberGiven()) return;
  whereAllowed(() => {
    const [first, ...others] = readdirSync('/proc/self/task')
      .map(Number)
      .toSorted((a, b) => a - b);
    // Else numbers have begun anew meanwhile, and do not show which came first.
    if (first === process.pid) stepBack(others.slice(0, helpers), helping);
  });
}
