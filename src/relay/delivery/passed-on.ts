import type { AnsweredCall } from '../pipeline/call-context.js';

/** Sends a caller the limit to each answer that went upstream because it is what can be paid. */
export const outputLimitHeader = 'x-output-limit';

/** What the caller of this answer gets beside what all get: header names and values in turn. */
export function passedOn({ reservation, answer }: Pick<AnsweredCall, 'reservation' | 'answer'>): readonly string[] {
  const { outputLimit } = reservation;
  const { headers } = answer;
  if (outputLimit === null) return headers ?? [];
  return [outputLimitHeader, String(outputLimit), ...(headers ?? [])];
}
