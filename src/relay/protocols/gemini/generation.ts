import type { ChatRequest } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { countIn, isList, isNumber, isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';
import { geminiSchema } from './schema.js';
import { type ThinkingRules, thinkingConfig } from './thinking.js';

/* How an answer is to be generated: OpenAI's parameters as Gemini's `generationConfig`. */

const maxStops = 5;

const givenNumber = (value: JsonValue | undefined): JsonValue | undefined => (isNumber(value) ? value : undefined);

/** Throws NotConvertible. */
function stopsIn(stop: JsonValue | undefined): JsonValue[] | undefined {
  const stops = (isList(stop) ? stop : [stop]).flatMap((one) => textIn(one) ?? []);
  if (stops.length > maxStops)
    throw new NotConvertible('caller', `stop: this provider takes at most ${maxStops} of them`);
  return stops.length > 0 ? stops : undefined;
}

/** Throws NotConvertible. */
function formatted({ response_format: format }: ChatRequest): JsonObject {
  if (!isObject(format)) return {};
  const { json_schema: named } = format;
  if (format.type === 'json_object') return { responseMimeType: 'application/json' };
  if (format.type !== 'json_schema') return {};
  const schema = isObject(named) ? named.schema : null;
  return {
    responseMimeType: 'application/json',
    ...(isObject(schema) && { responseSchema: geminiSchema(schema, 'response_format.json_schema.schema') }),
  };
}

/** Sound comes as bare samples only. Throws NotConvertible. */
function spoken({ audio }: ChatRequest): JsonObject {
  const { voice, format } = isObject(audio) ? audio : {};
  if (textIn(format) !== null && format !== 'pcm16')
    throw new NotConvertible('caller', 'audio.format: this provider answers in pcm16 only');
  const voiceName = textIn(isObject(voice) ? voice.id : voice);
  return voiceName === null ? {} : { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } } };
}

/** Throws NotConvertible. */
function modalities(body: ChatRequest, drawsImages: boolean): JsonObject {
  const asked = body.modalities ?? [];
  if (asked.includes('audio')) return { responseModalities: ['AUDIO'], ...spoken(body) };
  return drawsImages || asked.includes('image') ? { responseModalities: ['TEXT', 'IMAGE'] } : {};
}

interface GenerationRules extends ThinkingRules {
  readonly drawsImages: boolean;
}

/** Throws NotConvertible. */
export function generationConfig(body: ChatRequest, rules: GenerationRules): JsonObject {
  const { limit, drawsImages } = rules;
  const { n } = body;
  return {
    temperature: givenNumber(body.temperature),
    topP: givenNumber(body.top_p),
    topK: countIn(body.top_k) ?? undefined,
    maxOutputTokens: limit ?? undefined,
    seed: givenNumber(body.seed),
    candidateCount: typeof n === 'number' && n > 1 ? n : undefined,
    stopSequences: stopsIn(body.stop),
    presencePenalty: givenNumber(body.presence_penalty),
    frequencyPenalty: givenNumber(body.frequency_penalty),
    ...(body.logprobs === true && { responseLogprobs: true, logprobs: countIn(body.top_logprobs) ?? undefined }),
    ...formatted(body),
    ...modalities(body, drawsImages),
    thinkingConfig: thinkingConfig(body, rules) ?? undefined,
  };
}
