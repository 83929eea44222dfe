import { completionTokens, noUsage, promptTokens, type Usage, used } from '../../../domain/call/usage.js';
import { usualTier } from '../../../domain/pricing/service-tiers.js';
import { reportedTier } from '../../contracts/service-tier.js';
import { countIn, isCountOrAbsent, isObject, type JsonObject, type JsonValue, objectsIn } from '../../json/json.js';

/*
 * Usage as Gemini reports it: `usageMetadata`, cumulative over a stream. What tools have put into the prompt is
 * reported beside it, and so is what was thought; what came from a cache is part of the prompt.
 */

const countOf = (metadata: JsonObject, name: string): number => countIn(metadata[name]) ?? 0;

/** Of the details by modality. */
function tokensOf(details: JsonValue | undefined, modality: string): number {
  let tokens = 0;
  for (const detail of objectsIn(details)) if (detail.modality === modality) tokens += countIn(detail.tokenCount) ?? 0;
  return tokens;
}

/** Of Google's clouds, for traffic at a tier. */
const tierOfTraffic: Readonly<Record<string, string>> = {
  on_demand: usualTier,
  on_demand_priority: 'priority',
  on_demand_flex: 'flex',
};

/** The tier of service that is reported; undefined: none. */
export function reportedGeminiTier(metadata: JsonValue | undefined): string | undefined {
  if (!isObject(metadata)) return undefined;
  const reported = reportedTier(metadata.serviceTier);
  if (reported !== undefined) return reported;
  const traffic = reportedTier(metadata.trafficType) ?? '';
  return Object.hasOwn(tierOfTraffic, traffic) ? tierOfTraffic[traffic] : undefined;
}

/** `searches`: that the answer reports. null: nothing usable, which is not the same as nothing used. */
export function geminiUsage(metadata: JsonValue | undefined, searches: Usage = noUsage): Usage | null {
  if (!isObject(metadata)) return null;
  const prompted = countOf(metadata, 'promptTokenCount');
  const toolPrompt = countOf(metadata, 'toolUsePromptTokenCount');
  const prompt = prompted + toolPrompt;
  const reasoning = countOf(metadata, 'thoughtsTokenCount');
  const total = countIn(metadata.totalTokenCount);
  const candidates =
    countIn(metadata.candidatesTokenCount) ?? (total === null ? 0 : Math.max(total - prompt - reasoning, 0));
  if (prompt + candidates + reasoning === 0) return null;

  const { promptTokensDetails, toolUsePromptTokensDetails, cacheTokensDetails, candidatesTokensDetails } = metadata;
  const cached = Math.min(countOf(metadata, 'cachedContentTokenCount'), prompted);
  /** What is not from the cache. */
  const fresh = (modality: string): number =>
    Math.max(
      tokensOf(promptTokensDetails, modality) +
        tokensOf(toolUsePromptTokensDetails, modality) -
        tokensOf(cacheTokensDetails, modality),
      0,
    );
  // What costs more goes first where parts overlap.
  const audioInput = Math.min(fresh('AUDIO'), prompt - cached);
  const imageInput = Math.min(fresh('IMAGE'), prompt - cached - audioInput);
  const audioOutput = Math.min(tokensOf(candidatesTokensDetails, 'AUDIO'), candidates);
  const imageOutput = Math.min(tokensOf(candidatesTokensDetails, 'IMAGE'), candidates - audioOutput);
  const input = prompt - cached - audioInput - imageInput;
  const output = candidates - audioOutput - imageOutput;
  return used({
    input,
    cachedInput: cached,
    imageInput,
    audioInput,
    output,
    reasoning,
    imageOutput,
    audioOutput,
    ...searches,
  });
}

/** By modality, where there is more than text; null: there is not. */
function details(total: number, parts: readonly (readonly [string, number | undefined])[]): JsonObject[] | null {
  const other = parts.flatMap(([modality, tokenCount = 0]) => (tokenCount > 0 ? [{ modality, tokenCount }] : []));
  if (other.length === 0) return null;
  const text = other.reduce((left, { tokenCount }) => left - tokenCount, total);
  return text > 0 ? [{ modality: 'TEXT', tokenCount: text }, ...other] : other;
}

const countNames = [
  'promptTokenCount',
  'candidatesTokenCount',
  'totalTokenCount',
  'thoughtsTokenCount',
  'toolUsePromptTokenCount',
  'cachedContentTokenCount',
];
/** With the sum that each is of. */
const detailNames = [
  ['promptTokensDetails', 'promptTokenCount'],
  ['toolUsePromptTokensDetails', 'toolUsePromptTokenCount'],
  ['cacheTokensDetails', 'cachedContentTokenCount'],
  ['candidatesTokensDetails', 'candidatesTokenCount'],
] as const;

/** Whether these words say what is read from them: counts that add up, and no part larger than its whole. */
export function isConsistentGeminiUsage(metadata: JsonObject): boolean {
  if (!countNames.every((name) => isCountOrAbsent(metadata[name]))) return false;
  const prompted = countOf(metadata, 'promptTokenCount');
  const rest = countOf(metadata, 'toolUsePromptTokenCount') + countOf(metadata, 'thoughtsTokenCount');
  const { totalTokenCount: total, candidatesTokenCount: candidates } = metadata;
  const sum = prompted + rest + countOf(metadata, 'candidatesTokenCount');
  return (
    (total === undefined || (candidates === undefined ? Number(total) >= sum : total === sum)) &&
    countOf(metadata, 'cachedContentTokenCount') <= prompted &&
    detailNames.every(([name, whole]) =>
      objectsIn(metadata[name]).every(
        ({ tokenCount }) => isCountOrAbsent(tokenCount) && Number(tokenCount ?? 0) <= countOf(metadata, whole),
      ),
    )
  );
}

/** Upstream's own words, made to say what is charged. */
export function correctedGeminiUsage(metadata: JsonValue | undefined, usage: Usage): JsonObject {
  const words: JsonObject = isObject(metadata) ? { ...metadata } : {};
  for (const name of countNames) delete words[name];
  for (const [name] of detailNames) delete words[name];
  return { ...words, ...usageMetadata(usage) };
}

/** Usage in Gemini's words. */
export function usageMetadata(usage: Usage): JsonObject {
  const { cachedInput = 0, reasoning = 0, imageInput, audioInput, imageOutput, audioOutput } = usage;
  const prompt = promptTokens(usage);
  const completion = completionTokens(usage);
  const candidates = completion - reasoning;
  const prompted = details(prompt, [
    ['IMAGE', imageInput],
    ['AUDIO', audioInput],
  ]);
  const answered = details(candidates, [
    ['IMAGE', imageOutput],
    ['AUDIO', audioOutput],
  ]);
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    totalTokenCount: prompt + completion,
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    ...(cachedInput > 0 && { cachedContentTokenCount: cachedInput }),
    ...(prompted !== null && { promptTokensDetails: prompted }),
    ...(answered !== null && { candidatesTokensDetails: answered }),
  };
}
