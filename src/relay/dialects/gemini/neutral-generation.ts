import type { ChatRequest, ThinkingWords } from '../../contracts/neutral-request.js';
import { isList, isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';
import { memberIn, objectIn } from '../../protocols/gemini/names.js';
import { jsonSchemaOf } from './json-schema-of.js';

/* `generationConfig` in neutral words. */

const parameters = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
  ['maxOutputTokens', 'max_tokens'],
  ['seed', 'seed'],
  ['candidateCount', 'n'],
  ['stopSequences', 'stop'],
  ['presencePenalty', 'presence_penalty'],
  ['frequencyPenalty', 'frequency_penalty'],
] as const satisfies readonly (readonly [theirs: string, neutral: keyof ChatRequest])[];

function formatOf(config: JsonObject): Pick<ChatRequest, 'response_format'> {
  if (memberIn(config, 'responseMimeType') !== 'application/json') return {};
  const plain = memberIn(config, 'responseJsonSchema');
  const own = objectIn(config, 'responseSchema');
  const schema: JsonValue | undefined = plain ?? (own === null ? undefined : jsonSchemaOf(own));
  return {
    response_format: isObject(schema)
      ? { type: 'json_schema', json_schema: { name: 'response', schema } }
      : { type: 'json_object' },
  };
}

/** Tokens, up to which an effort is called so. */
const efforts: readonly (readonly [number, string])[] = [
  [1_024, 'low'],
  [8_192, 'medium'],
];

function effortOf(config: JsonObject): ThinkingWords {
  const thinking = objectIn(config, 'thinkingConfig');
  if (thinking === null) return {};
  const level = textIn(memberIn(thinking, 'thinkingLevel'))?.toLowerCase();
  const budget = memberIn(thinking, 'thinkingBudget');
  if (level !== undefined && level !== 'thinking_level_unspecified') return { reasoning_effort: level };
  if (budget === 0) return { thinking: { type: 'disabled' } };
  // Below nothing the model decides.
  if (typeof budget !== 'number' || budget < 0) return {};
  return { reasoning_effort: efforts.find(([max]) => budget <= max)?.[1] ?? 'high' };
}

function modalitiesOf(config: JsonObject): Pick<ChatRequest, 'modalities' | 'audio'> {
  const asked = memberIn(config, 'responseModalities');
  const modalities = isList(asked) ? asked.flatMap((one) => textIn(one)?.toLowerCase() ?? []) : [];
  if (modalities.every((one) => one === 'text')) return {};
  const voice = objectIn(objectIn(config, 'speechConfig') ?? {}, 'voiceConfig') ?? {};
  const named = textIn(memberIn(objectIn(voice, 'prebuiltVoiceConfig') ?? {}, 'voiceName')) ?? textIn(voice.voice);
  return {
    modalities: [...new Set(['text', ...modalities])],
    ...(modalities.includes('audio') && { audio: { format: 'pcm16', ...(named !== null && { voice: named }) } }),
  };
}

type Parameter = (typeof parameters)[number][1] | 'logprobs' | 'top_logprobs';

export function neutralGeneration(config: JsonObject): Omit<ChatRequest, 'messages'> {
  const neutral: { [name in Parameter]?: JsonValue } = {};
  for (const [theirs, name] of parameters) {
    const value = memberIn(config, theirs);
    if (value !== undefined) neutral[name] = value;
  }
  if (memberIn(config, 'responseLogprobs') === true) {
    neutral.logprobs = true;
    const tops = memberIn(config, 'logprobs');
    if (tops !== undefined) neutral.top_logprobs = tops;
  }
  return { ...neutral, ...formatOf(config), ...effortOf(config), ...modalitiesOf(config) };
}
