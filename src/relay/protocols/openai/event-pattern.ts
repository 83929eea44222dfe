import type { JsonObject } from '../../json/json.js';
import type { Frame } from '../../upstream/sse.js';
import { FramePattern, hasEscapes, maxPatternLength, type Place, type Slot, slotPlace } from '../frame-pattern.js';

/** Of the marks of a frame: an empty line behind it. */
const closing = 2;

/** Members that may differ between events that say more of the same item. */
const slots: readonly (readonly [member: string, slot: Slot])[] = [
  ['delta', 'words'],
  ['sequence_number', 'number'],
  ['obfuscation', 'noise'],
];

/**
 * The pattern of an event of a response, in the usual spelling, whose `delta` is a text; null: it is written in an
 * unusual way.
 */
export function eventPattern(event: JsonObject, { bytes, from, end }: Frame): FramePattern | null {
  if (end + closing - from > maxPatternLength) return null;
  const frame = Buffer.from(bytes.subarray(from, end + closing));
  if (hasEscapes(frame)) return null;
  const places: Place[] = [];
  for (const [member, slot] of slots) {
    if (event[member] === undefined) continue;
    const place = slotPlace(frame, member, slot);
    if (place === null) return null;
    places.push(place);
  }
  return new FramePattern(frame, places);
}
