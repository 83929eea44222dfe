import { type Counts, joined, type Usage, withoutOutput } from '../../../domain/call/usage.js';
import type { Quantity } from '../../../domain/pricing/quantities.js';
import type { CallerRequest } from '../../contracts/protocol.js';
import { isCount, isList, isObject, type JsonObject } from '../../json/json.js';

/*
 * Where one request has several answers, llama.cpp counts each apart: a whole answer reports the usage of the first, and a
 * stream that of each in a chunk of its own (https://github.com/ggml-org/llama.cpp/tree/master/tools/server, seen at
 * b11434). Such usage has the times of its answer beside it.
 */

export const isOfOneAnswer = ({ timings }: JsonObject): boolean => isObject(timings) && isCount(timings.predicted_n);

/** Each answer has a prompt of its own. */
export function readsApart({ mode, body: { prompt } }: Pick<CallerRequest, 'mode' | 'body'>): boolean {
  return mode === 'completions' && isList(prompt) && prompt.some((part) => typeof part !== 'number');
}

/** Usage of one of several answers, as far as it is that of all: what they read together. null: they read nothing together. */
export const readTogether = (usage: Usage, apart: boolean): Usage | null => (apart ? null : withoutOutput(usage));

/** Of the answers before, and of one more. */
export function withNextAnswer(before: Usage, next: Usage, apart: boolean): Usage {
  const input = apart ? sum(before, next) : before;
  return joined(input, sum(before, next));
}

function sum(one: Usage, other: Usage): Usage {
  const counts: Counts = { ...one };
  for (const name in other) counts[name as Quantity] = (one[name as Quantity] ?? 0) + (other[name as Quantity] ?? 0);
  return counts;
}
