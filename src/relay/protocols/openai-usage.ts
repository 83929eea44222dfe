import type { Usage } from '../../domain/pricing.js';
import { countIn, isObject, type JsonObject } from './json.js';

/* Usage as the OpenAI family tells it, and as OpenAI would tell it. */

const firstCount = (...values: unknown[]): number | null => {
  for (const value of values) {
    const count = countIn(value);
    if (count !== null) return count;
  }
  return null;
};

const detailsIn = (usage: JsonObject, name: string): JsonObject => {
  const details = usage[name];
  return isObject(details) ? details : {};
};

/**
 * null: nothing usable, which is not the same as nothing used. `reasoningBeside`: this upstream counts reasoning beside
 * the completion and in the total only.
 */
export function readUsage(told: JsonObject, reasoningBeside: boolean): Usage | null {
  const input = detailsIn(told, 'prompt_tokens_details');
  const total = countIn(told.total_tokens);
  const saidPrompt = countIn(told.prompt_tokens);
  const saidCompletion = countIn(told.completion_tokens);
  // Embedding and rerank services give the total only.
  const prompt = saidPrompt ?? (total === null ? null : Math.max(total - (saidCompletion ?? 0), 0));
  const spoken = saidCompletion ?? (total === null || prompt === null ? null : Math.max(total - prompt, 0));
  if (prompt === null || spoken === null || prompt + spoken === 0) return null;

  const saidReasoning = countIn(detailsIn(told, 'completion_tokens_details').reasoning_tokens) ?? 0;
  // The sum gives it away also where an upstream of that kind stands behind another one.
  const beside = reasoningBeside || (saidReasoning > 0 && total === prompt + spoken + saidReasoning);
  const completion = beside ? Math.max(total === null ? spoken + saidReasoning : total - prompt, spoken) : spoken;
  const saidCached = firstCount(
    input.cached_tokens,
    told.prompt_cache_hit_tokens,
    told.cached_tokens,
    told.num_cached_tokens,
  );
  const cached = Math.min(saidCached ?? 0, prompt);
  return {
    prompt,
    cached,
    cacheWrite: 0,
    image: Math.min(countIn(input.image_tokens) ?? 0, prompt - cached),
    completion,
    reasoning: Math.min(saidReasoning, completion),
  };
}

/**
 * The upstream's own usage object, made to say what is charged where it counts otherwise; everything else in it stays.
 * The same object when there is nothing to mend.
 */
export function mendedUsage(told: JsonObject, usage: Usage): JsonObject {
  const input = detailsIn(told, 'prompt_tokens_details');
  const output = detailsIn(told, 'completion_tokens_details');
  const total = usage.prompt + usage.completion;
  const tells =
    (told.prompt_tokens ?? usage.prompt) === usage.prompt &&
    (told.completion_tokens ?? 0) === usage.completion &&
    (told.total_tokens ?? total) === total &&
    (input.cached_tokens ?? 0) === usage.cached &&
    (input.image_tokens ?? 0) === usage.image &&
    (output.reasoning_tokens ?? 0) === usage.reasoning;
  if (tells) return told;
  const { prompt, completion, cached, image, reasoning } = usage;
  const parts = { cached_tokens: cached, ...(image > 0 || 'image_tokens' in input ? { image_tokens: image } : {}) };
  return {
    ...told,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
    ...((cached > 0 || image > 0 || isObject(told.prompt_tokens_details)) && {
      prompt_tokens_details: { ...input, ...parts },
    }),
    ...((reasoning > 0 || isObject(told.completion_tokens_details)) && {
      completion_tokens_details: { ...output, reasoning_tokens: reasoning },
    }),
  };
}

/** Usage in OpenAI's words; details only where there is something to tell. */
export const writtenUsage = ({ prompt, cached, completion, reasoning }: Usage): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...(cached > 0 && { prompt_tokens_details: { cached_tokens: cached } }),
  ...(reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning } }),
});
