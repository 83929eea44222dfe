import { setImmediate } from 'node:timers/promises';

/** Everything that waits for nothing but promises of ours has run. */
export const flush = (): Promise<void> => setImmediate();
