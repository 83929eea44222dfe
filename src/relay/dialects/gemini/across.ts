import { NotConvertible } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, scalarText } from '../../json/json.js';
import { camelOf, memberIn } from '../../protocols/gemini/names.js';

/*
 * Members of a request in Gemini's words at an upstream of another wire. Those that are carried, and those that are only
 * hints and stay behind, are listed, spelled `likeThis`; every other one is refused by its name.
 */

/** `carried`: has a place in neutral words. `hints`: the answer means the same without it. Separated by blanks. */
const listed = (carried: string, hints = ''): ReadonlySet<string> => new Set(`${carried} ${hints}`.trim().split(/\s+/));

export const carriedMembers = {
  request: listed(
    'model contents systemInstruction tools toolConfig generationConfig',
    'safetySettings labels store serviceTier',
  ),
  embedding: listed('model content outputDimensionality taskType title'),
  content: listed('role parts'),
  part: listed(
    `text inlineData fileData functionCall functionResponse thought thoughtSignature executableCode codeExecutionResult
     mediaResolution`,
    'partMetadata',
  ),
  media: listed('mimeType data fileUri', 'displayName'),
  mediaResolution: listed('level'),
  functionCall: listed('id name args'),
  functionResponse: listed('id name response parts', 'scheduling willContinue'),
  declaration: listed('name description parameters parametersJsonSchema', 'response responseJsonSchema'),
  toolConfig: listed('functionCallingConfig', 'includeServerSideToolInvocations'),
  calling: listed('mode allowedFunctionNames', 'streamFunctionCallArguments'),
  config: listed(
    `temperature topP topK candidateCount maxOutputTokens stopSequences responseLogprobs logprobs presencePenalty
     frequencyPenalty seed responseMimeType responseSchema responseJsonSchema responseModalities speechConfig
     thinkingConfig mediaResolution`,
    'enableEnhancedCivicAnswers',
  ),
  thinking: listed('thinkingBudget thinkingLevel', 'includeThoughts'),
  speech: listed('voiceConfig', 'languageCode'),
  voice: listed('prebuiltVoiceConfig voice'),
} as const;

export const notCarried = (name: string, why = 'cannot be carried to this provider'): NotConvertible =>
  new NotConvertible('caller', `${name} ${why}`);

const saysNothing = (value: JsonValue | undefined): boolean =>
  (value ?? null) === null || (isList(value) && value.length === 0);

/** `path`: of the members, with what is before their names. Throws NotConvertible naming the first that is not listed. */
export function refuseUnlisted(holder: JsonValue | undefined, names: ReadonlySet<string>, path: string): void {
  if (!isObject(holder)) return;
  for (const [name, value] of Object.entries(holder))
    if (!names.has(camelOf(name)) && !saysNothing(value)) throw notCarried(path + name.slice(0, 100));
}

/** Something in it has a place in neutral words. */
export const isKnownPart = (part: JsonObject): boolean =>
  Object.keys(part).some((name) => carriedMembers.part.has(camelOf(name)));

const details: Readonly<Record<string, string>> = { LOW: 'low', HIGH: 'high', ULTRA_HIGH: 'high' };

/** How closely a picture is to be looked at, as other wires know it; undefined: as usual. */
export const detailOfLevel = (level: JsonValue | undefined): string | undefined =>
  details[scalarText(level).replace('MEDIA_RESOLUTION_', '')];

const plainTypes = new Set<JsonValue>(['application/json', 'text/plain']);

/** Of `generationConfig`. Throws NotConvertible. */
export function refuseUncarriedConfig(config: JsonObject): void {
  refuseUnlisted(config, carriedMembers.config, 'generationConfig.');
  const [thinking, speech] = [memberIn(config, 'thinkingConfig'), memberIn(config, 'speechConfig')];
  refuseUnlisted(thinking, carriedMembers.thinking, 'generationConfig.thinkingConfig.');
  refuseUnlisted(speech, carriedMembers.speech, 'generationConfig.speechConfig.');
  if (isObject(speech))
    refuseUnlisted(memberIn(speech, 'voiceConfig'), carriedMembers.voice, 'generationConfig.speechConfig.voiceConfig.');
  const type = memberIn(config, 'responseMimeType');
  if (type !== undefined && !plainTypes.has(type))
    throw notCarried('generationConfig.responseMimeType', 'must be application/json or text/plain for this provider');
}
