import type { Logger } from 'pino';

/** Resolves at the first SIGINT, SIGTERM or SIGHUP; a second one ends the process at once. */
export function untilStopped(log: Logger): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(130);
        asked = true;
        log.info({ signal }, 'stopping: calls under way may finish');
        resolve();
      });
    }
  });
}
