import { isObject, type JsonObject, type JsonValue, textIn } from '../json/json.js';

/*
 * What a request says of thinking, read from the body that goes upstream: what a dialect, a suffix or an operator has made
 * of the caller's words is in it, and what this wire has no word for is not.
 */

/** `unsaid`: the model goes its own way. */
export type RequestedThinking = 'asked' | 'refused' | 'unsaid';

const declines = (parameter: JsonValue): boolean =>
  parameter === null ||
  parameter === false ||
  parameter === 0 ||
  parameter === 'none' ||
  (isObject(parameter) &&
    (parameter.type === 'disabled' ||
      parameter.enabled === false ||
      parameter.effort === 'none' ||
      parameter.budget_tokens === 0));

const wants = (parameter: JsonValue | undefined): boolean => parameter !== undefined && !declines(parameter);

const memberOf = (holder: JsonValue | undefined, ...names: readonly string[]): JsonValue | undefined => {
  if (!isObject(holder)) return undefined;
  for (const name of names) if (holder[name] !== undefined) return holder[name];
  return undefined;
};

/**
 * On OpenAI's wire. Many vendors' words ask for thinking; it is refused by the one that whoever hides thinking knows: a
 * word that is not known there would be passed over, and the model think all the same.
 */
export function thinkingInOpenAi(body: JsonObject): RequestedThinking {
  const { reasoning_effort: effort, reasoning, thinking, thinking_budget: budget, enable_thinking: flag } = body;
  const template = body.chat_template_kwargs;
  const google = memberOf(memberOf(body.extra_body, 'google'), 'thinking_config', 'thinkingConfig');
  const said = [effort, reasoning, thinking, budget, flag, memberOf(template, 'enable_thinking', 'thinking'), google];
  if (said.some(wants)) return 'asked';
  const off =
    effort === 'none' || (isObject(reasoning) && (reasoning.effort === 'none' || reasoning.enabled === false));
  return off ? 'refused' : 'unsaid';
}

/** On Anthropic's wire. */
export function thinkingInAnthropic({ thinking }: JsonObject): RequestedThinking {
  if (wants(thinking)) return 'asked';
  return isObject(thinking) ? 'refused' : 'unsaid';
}

/** On Gemini's wire, whose members may be spelled in two ways. */
export function thinkingInGemini(body: JsonObject): RequestedThinking {
  const config = memberOf(memberOf(body, 'generationConfig', 'generation_config'), 'thinkingConfig', 'thinking_config');
  const budget = memberOf(config, 'thinkingBudget', 'thinking_budget');
  if (budget === 0) return 'refused';
  const shown = memberOf(config, 'includeThoughts', 'include_thoughts') === true;
  const level = textIn(memberOf(config, 'thinkingLevel', 'thinking_level'));
  return shown || level !== null || typeof budget === 'number' ? 'asked' : 'unsaid';
}
