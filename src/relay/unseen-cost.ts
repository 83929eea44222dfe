import type { UsageSource } from '../domain/call.js';
import { affordableOutput, type Price, type Usage } from '../domain/pricing.js';
import type { Quota } from '../domain/quota.js';
import { type JsonObject, objectsIn } from './protocols/json.js';

/*
 * What a call may cost beside what can be seen of it: thinking that is not shown, inputs whose tokens only upstream can
 * count. Nobody asks this of a call that runs to its end; whoever leaves one must not get it cheaper by leaving.
 */

/** Families that think without showing all of it, under whatever prefix a vendor or an operator puts before the name. */
const thinkers =
  /(^|[/.:_-])(o[1-9](-|$)|gpt-([5-9]|oss)|codex|computer-use|gemini-(2\.5|[3-9])|claude-(3-7|(opus|sonnet|haiku)-[4-9])|grok-(3-mini|[4-9])|magistral)|think|reason/i;

const asksForThinking = (body: JsonObject): boolean =>
  [body.reasoning_effort, body.reasoning, body.thinking, body.thinking_budget, body.enable_thinking].some(
    (parameter) => parameter !== undefined && parameter !== null && parameter !== false && parameter !== 'none',
  );

/** `models`: the name asked for, and the one sent upstream. */
export const mayThinkUnseen = (models: readonly string[], body: JsonObject): boolean =>
  asksForThinking(body) || models.some((model) => thinkers.test(model));

const counted = new Set<unknown>(['text', undefined]);

/** Files, sound and images: here their tokens can only be guessed. */
export const bringsUncounted = (body: JsonObject): boolean =>
  objectsIn(body.messages).some(({ content }) => objectsIn(content).some((part) => !counted.has(part.type)));

interface Determined {
  readonly usage: Usage;
  readonly usageSource: UsageSource;
}

interface Unseen {
  readonly thinks: boolean;
  readonly held: Quota;
  /** Output tokens that were allowed. */
  readonly most: number;
  readonly price: Price;
}

/**
 * The usage of a stream that was cut short before upstream told it, by us or by its caller. At least what was seen; and
 * where thinking may have gone unseen, all that the amount held pays for.
 */
export function cutShort(told: Determined, seen: number, { thinks, held, most, price }: Unseen): Determined {
  // Some tell as they go what has been used so far.
  if (told.usageSource === 'upstream' && told.usage.completion >= seen) return told;
  const completion = Math.max(told.usage.completion, seen);
  const paid = thinks ? affordableOutput(held, told.usage.prompt, price) : 0;
  const unseen = Number.isFinite(paid) ? Math.max(Math.min(paid, most) - completion, 0) : 0;
  return {
    usage: { ...told.usage, completion: completion + unseen, reasoning: told.usage.reasoning + unseen },
    usageSource: told.usageSource === 'disbelieved' ? 'disbelieved' : 'estimated',
  };
}
