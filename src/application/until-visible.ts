import { setTimeout as sleep } from 'node:timers/promises';
import type { Position } from '../domain/events/events.js';
import { Failure } from '../domain/kernel/failure.js';
import type { Application } from './application.js';

/** A machine that is busy with other things is set up, too. */
const usualPatienceMs = 120_000;
/** Where read models have ended the answer comes at once; the process has other things to do. */
const pauseMs = 20;

/**
 * Resolves once the read models hold the event at `position`, for programs whose next step is asked of them: a face answers
 * without what is not visible in time. Throws Failure `store-unavailable` when they do not follow in time.
 */
export async function untilVisible(
  app: Pick<Application, 'visible'>,
  position: Position,
  patienceMs = usualPatienceMs,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await app.visible(position))) {
    if (performance.now() > deadline)
      throw new Failure('store-unavailable', { reason: 'The read models do not follow the log.' });
    await sleep(pauseMs);
  }
}
