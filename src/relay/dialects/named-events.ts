import { jsonText } from '../json/exact-number.js';
import { type JsonObject, textIn } from '../json/json.js';
import { inOneLine } from '../protocols/carried.js';
import type { Frame } from '../upstream/sse.js';

/* Events of a stream whose clients know each by its name. */

const lineFeed = 10;
const letterE = 0x65;
const eventName = /^[\w.]{1,64}$/;

/** One event, its type first. */
export const eventText = (type: string, event: JsonObject): string =>
  `event: ${type}\ndata: ${jsonText({ type, ...event })}\n\n`;

/** One whose data is known as text. */
export const eventOfData = (type: string, data: string): Buffer =>
  Buffer.from(`${eventName.test(type) ? `event: ${type}\n` : ''}data: ${data}\n\n`);

/** Whether the frame lies whole in its bytes, the name of its event before its data. */
export const isNamed = (bytes: Buffer, from: number): boolean => from >= 0 && bytes[from] === letterE;

/** The data of a frame, in one line. */
export function dataOf({ bytes, start, end }: Frame): string {
  const data = bytes.subarray(start, end);
  return data.includes(lineFeed) ? inOneLine(data) : data.toString('utf8');
}

/** The frame with its event's name. A copy: it outlives what it came in. */
export const namedFrame = (event: JsonObject, frame: Frame): Buffer =>
  isNamed(frame.bytes, frame.from)
    ? Buffer.from(frame.bytes.subarray(frame.from, frame.end + 2))
    : eventOfData(textIn(event.type) ?? '', dataOf(frame));
