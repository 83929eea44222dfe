import { isObject, type JsonObject, type JsonValue, objectsIn } from '../json/json.js';

/* How long a caller wants parts of its prompt to be kept in a cache: a token that is kept for long costs more. */

/** Anthropic's, and OpenAI's; their usual ones are minutes. */
const lasting: ReadonlySet<JsonValue | undefined> = new Set(['1h', '12h']);

/** Whether what a caller says of keeping something asks for a lifetime of hours. */
export const keepsForHours = (control: JsonValue | undefined): boolean => isObject(control) && lasting.has(control.ttl);

/** Members that say so, by wire: what upstreams of OpenAI's take, some in Anthropic's word, and what Anthropic's do. */
const words = {
  openai: ['cache_control', 'prompt_cache_breakpoint', 'prompt_cache_options'],
  anthropic: ['cache_control'],
} as const;

type Words = keyof typeof words;

/** Blocks stand in results of tools, and those in messages. */
const deepest = 4;

function blockKeeps(block: JsonObject, wire: Words, depth = 0): boolean {
  if (words[wire].some((name) => keepsForHours(block[name]))) return true;
  return (
    depth < deepest &&
    [block.content, block.output].some((inner) => objectsIn(inner).some((one) => blockKeeps(one, wire, depth + 1)))
  );
}

/** Whether a body asks an upstream of this wire for it anywhere. */
export const asksToKeepForHours = (body: JsonObject, wire: Words): boolean =>
  [[body], body.system, body.tools, body.messages, body.input].some((list) =>
    objectsIn(list).some((block) => blockKeeps(block, wire)),
  );

/**
 * How many of the tokens that were written are kept for hours. Where upstream does not report it, all whose lifetime it
 * leaves open are, if hours were asked for: that costs most, and what is reserved for.
 */
export function keptForHours(
  written: number,
  reported: { readonly minutes: number | null; readonly hours: number | null },
  asked: () => boolean,
): number {
  if (reported.hours !== null) return Math.min(reported.hours, written);
  const open = Math.max(written - (reported.minutes ?? 0), 0);
  return open > 0 && asked() ? open : 0;
}
