import type { JsonObject } from '../../protocols/json.js';

/** One event of a stream, as Anthropic's clients read it. */
export const eventText = (type: string, event: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...event })}\n\n`;
