import { randomUUID } from 'node:crypto';
import type { Instant } from '../domain/instant.js';

/** A UUID of version 7: it begins with the time, so new ids go to one end of an index and not all over it. */
export function newEventId(at: Instant): string {
  const time = at.toString(16).padStart(12, '0');
  const random = randomUUID();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}
