import type { Instant } from '../domain/kernel/instant.js';
import { RandomBytes } from './random-bytes.js';

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const random = new RandomBytes();
const byte = (): string => hex[random.next()] ?? '';

let newest: Instant | null = null;
/** Of `newest`, with the version. */
let time = '';

function timeOf(at: Instant): string {
  if (at === newest) return time;
  const digits = at.toString(16).padStart(12, '0');
  newest = at;
  time = `${digits.slice(0, 8)}-${digits.slice(8)}-7`;
  return time;
}

/** A UUID of version 7: it begins with the time, so new ids go to one end of an index and not all over it. */
export function newEventId(at: Instant): string {
  const variant = hex[(random.next() & 0x3f) | 0x80];
  const end = byte() + byte() + byte() + byte() + byte() + byte();
  return `${timeOf(at)}${byte().charAt(0)}${byte()}-${variant}${byte()}-${end}`;
}
