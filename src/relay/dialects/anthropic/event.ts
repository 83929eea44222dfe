import { jsonText } from '../../json/exact-number.js';
import type { JsonObject } from '../../json/json.js';

/** One event of a stream, as Anthropic's clients read it. */
export const eventText = (type: string, event: JsonObject): string =>
  `event: ${type}\ndata: ${jsonText({ type, ...event })}\n\n`;
