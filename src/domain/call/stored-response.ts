import type { CallId } from '../kernel/ids.js';
import { Instant } from '../kernel/instant.js';

/* A response that the gateway stores itself is named by its call. */

const pattern = /^resp_(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})[A-Za-z0-9]{8}$/;

export const storedResponseId = (callId: CallId | string): string => `resp_${callId}`;

/** When the call of such an id began; null: no response is stored here by this id. */
export function storedResponseTime(id: string): Instant | null {
  const parts = pattern.exec(id)?.slice(1).map(Number);
  if (parts === undefined) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, milliseconds = 0] = parts;
  return Instant(Date.UTC(year, month - 1, day, hour, minute, second, milliseconds));
}
