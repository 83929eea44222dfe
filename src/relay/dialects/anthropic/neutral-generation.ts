import type { ChatRequest, ThinkingWords } from '../../contracts/neutral-request.js';
import { isObject, type JsonObject, objectsIn, textIn } from '../../json/json.js';
import { refused, refuseOthers, within } from './across.js';

/* How an answer is to be generated, in neutral words; what of it cannot be carried is refused by name. */

/** The effort that a budget comes to. */
const effortOf = (budget: number): string => (budget <= 2_048 ? 'low' : budget <= 8_192 ? 'medium' : 'high');

/** The one that holds in the end: instructions within the conversation may change it. */
function askedEffort({ output_config: config, messages }: JsonObject): string | null {
  let effort = textIn(isObject(config) ? config.effort : null);
  for (const { role, output_config: later } of objectsIn(messages))
    if (role === 'system' && isObject(later)) effort = textIn(later.effort) ?? effort;
  return effort;
}

const thinks = new Set<unknown>(['enabled', 'adaptive']);

/** What a body says of thinking. */
export function thinkingOf(body: JsonObject): ThinkingWords {
  const { thinking } = body;
  const effort = askedEffort(body);
  const byEffort = effort === null ? {} : { reasoning_effort: effort };
  if (!isObject(thinking)) return byEffort;
  // Who cannot think between its tools alone does not think: so Anthropic has it for models of its own.
  if (!thinks.has(thinking.type)) return { thinking: { type: 'disabled' } };
  const { type, budget_tokens: budget } = thinking;
  if (typeof budget !== 'number') return { thinking: { type }, ...byEffort };
  return { thinking: { type, budget_tokens: budget }, reasoning_effort: effortOf(budget), ...byEffort };
}

export const formatOf = ({
  output_config: config,
  output_format: earlier,
}: JsonObject): Pick<ChatRequest, 'response_format'> => {
  const format = isObject(config) && isObject(config.format) ? config.format : earlier;
  return isObject(format) && format.type === 'json_schema' && isObject(format.schema)
    ? { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema } } }
    : {};
};

const thinkingTypes = new Set<unknown>(['enabled', 'adaptive', 'disabled', 'between_tools']);

/** What is cleared is cleared to save tokens; a summary in its place would be another prompt. */
function refuseContextEdits({ context_management: management }: JsonObject): void {
  for (const [at, { type }] of objectsIn(isObject(management) ? management.edits : null).entries())
    if (!/^clear_/.test(textIn(type) ?? ''))
      throw refused(`context_management.edits[${at}].type: another provider does not edit the conversation`);
}

/** Throws NotConvertible naming what would be lost on the way to another wire. */
export function refuseUncarried(body: JsonObject): void {
  refuseOthers(body, within.request, '');
  const { max_tokens: limit, inference_geo: geo, output_config: output, thinking, metadata } = body;
  if (limit === 0) throw refused('max_tokens: only Anthropic fills its cache without an answer');
  if ((geo ?? 'global') !== 'global')
    throw refused('inference_geo: another provider is not told where to serve a call');
  refuseContextEdits(body);
  if (isObject(output)) refuseOthers(output, within.output, 'output_config.');
  if (isObject(metadata)) refuseOthers(metadata, within.metadata, 'metadata.');
  if (!isObject(thinking)) return;
  refuseOthers(thinking, within.thinking, 'thinking.');
  if (!thinkingTypes.has(thinking.type))
    throw refused('thinking.type must be enabled, adaptive, between_tools or disabled');
}
