import { setTimeout as pause } from 'node:timers/promises';

/**
 * Asks again and again until there is an answer other than null or false; throws after `limitMs` so that a test cannot
 * hang.
 */
export async function until<Answer>(ask: () => Promise<Answer | null | false>, limitMs = 15_000): Promise<Answer> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`still nothing after ${limitMs} ms`);
    await pause(10);
  }
}
