import type { WakeUpSignal } from './wake-up-signal.js';

/**
 * Runs `round` over and over until the signal aborts, resting each time for the milliseconds it answers or until the
 * signal wakes it. Resolves when the last round is over; a round that throws ends it.
 */
export async function repeatedly(
  signal: AbortSignal,
  wakeUp: WakeUpSignal,
  round: () => Promise<number>,
): Promise<void> {
  signal.addEventListener('abort', () => wakeUp.ring(), { once: true });
  while (!signal.aborted) {
    const rest = await round();
    if (!signal.aborted) await wakeUp.wait(rest);
  }
}
