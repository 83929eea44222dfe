import { describe, expect, test } from 'vitest';
import { generateContent } from '../../../src/relay/dialects/gemini/endpoints/generate-content.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { keptUpstream } from '../../../src/relay/pipeline/kept/kept-upstream.js';
import { neutralOf } from '../../../src/relay/protocols/neutral-of.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../providers/golden.js';

/*
 * Every member of the request types of `@google/genai` 3.3.0, as they are sent: to Gemini it is carried, or refused by
 * its name; to another wire it is translated, refused by its name, or one of the hints that docs/request-members.md lists.
 */

type There = 'translated' | 'hint' | 'refused';
type Row = readonly [member: string, example: JsonObject[string], here: 'carried' | 'refused', there: There];

const text = { text: 'What is a ledger?' };
const base: JsonObject = { contents: [{ role: 'user', parts: [text] }] };
const schema = { type: 'OBJECT', properties: { a: { type: 'STRING' } } };
const declaration: JsonObject = { name: 'given', description: 'd', parameters: schema };

/** What `GenerateContentConfig` puts beside the contents, for either of Google's interfaces. */
const ofRequest: readonly Row[] = [
  ['contents', [{ role: 'user', parts: [{ text: 'other words' }] }], 'carried', 'translated'],
  ['systemInstruction', { parts: [{ text: 'be brief' }] }, 'carried', 'translated'],
  ['systemInstruction', { parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] }, 'carried', 'refused'],
  ['tools', [{ functionDeclarations: [declaration] }], 'carried', 'translated'],
  ['generationConfig', { temperature: 0.5 }, 'carried', 'translated'],
  ['safetySettings', [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }], 'carried', 'hint'],
  ['labels', { team: 'a' }, 'carried', 'hint'],
  ['store', true, 'carried', 'hint'],
  ['serviceTier', 'standard', 'carried', 'hint'],
  ['serviceTier', 'unspecified', 'carried', 'hint'],
  ['cachedContent', 'cachedContents/a', 'refused', 'refused'],
  ['continuationToken', 'AAAA', 'carried', 'refused'],
  ['automaticContinuation', true, 'carried', 'refused'],
  ['modelConfig', { featureSelectionPreference: 'PRIORITIZE_QUALITY' }, 'refused', 'refused'],
  ['modelArmorConfig', { promptTemplateName: 'p' }, 'refused', 'refused'],
  ['outputConfig', { gcsDestination: { outputUriPrefix: 'gs://b' } }, 'refused', 'refused'],
  ['generationOutputConfig', { outputUriPrefix: 'gs://b' }, 'refused', 'refused'],
  ['ofTomorrow', true, 'carried', 'refused'],
];

const ofConfig: readonly Row[] = [
  ['temperature', 0.5, 'carried', 'translated'],
  ['topP', 0.5, 'carried', 'translated'],
  ['topK', 5, 'carried', 'translated'],
  ['candidateCount', 2, 'carried', 'translated'],
  ['maxOutputTokens', 5, 'carried', 'translated'],
  ['stopSequences', ['x'], 'carried', 'translated'],
  ['responseLogprobs', true, 'carried', 'translated'],
  ['logprobs', 2, 'carried', 'hint'],
  ['presencePenalty', 0.5, 'carried', 'translated'],
  ['frequencyPenalty', 0.5, 'carried', 'translated'],
  ['seed', 7, 'carried', 'translated'],
  ['responseMimeType', 'application/json', 'carried', 'translated'],
  ['responseMimeType', 'text/plain', 'carried', 'hint'],
  ['responseMimeType', 'text/x.enum', 'carried', 'refused'],
  ['responseModalities', ['TEXT', 'AUDIO'], 'carried', 'translated'],
  ['mediaResolution', 'MEDIA_RESOLUTION_MEDIUM', 'carried', 'hint'],
  ['thinkingConfig', { thinkingBudget: 0 }, 'carried', 'translated'],
  ['thinkingConfig', { thinkingBudget: 2_000 }, 'carried', 'translated'],
  ...['MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'XHIGH'].map(
    (thinkingLevel): Row => ['thinkingConfig', { thinkingLevel }, 'carried', 'translated'],
  ),
  ['thinkingConfig', { thinkingLevel: 'THINKING_LEVEL_UNSPECIFIED' }, 'carried', 'hint'],
  ['thinkingConfig', { includeThoughts: true }, 'carried', 'hint'],
  ['thinkingConfig', { ofTomorrow: true }, 'carried', 'refused'],
  ['speechConfig', { languageCode: 'is-IS' }, 'carried', 'hint'],
  ['speechConfig', { multiSpeakerVoiceConfig: {} }, 'carried', 'refused'],
  ['speechConfig', { voiceConfig: { replicatedVoiceConfig: {} } }, 'carried', 'refused'],
  ['enableEnhancedCivicAnswers', true, 'carried', 'hint'],
  ['audioTimestamp', true, 'carried', 'refused'],
  ['audioTranscriptionConfig', {}, 'carried', 'refused'],
  ['enableAffectiveDialog', true, 'carried', 'refused'],
  ['imageConfig', { aspectRatio: '1:1' }, 'carried', 'refused'],
  ['responseFormat', [{ text: {} }], 'carried', 'refused'],
  ['translationConfig', {}, 'carried', 'refused'],
  ['routingConfig', { manualMode: { modelName: 'dearer' } }, 'refused', 'refused'],
  ['modelSelectionConfig', {}, 'refused', 'refused'],
  ['ofTomorrow', 1, 'carried', 'refused'],
];

const inJson: readonly Row[] = [
  ['responseSchema', schema, 'carried', 'translated'],
  ['responseJsonSchema', { type: 'object' }, 'carried', 'translated'],
];

const spoken: readonly Row[] = [
  ['speechConfig', { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } }, 'carried', 'translated'],
  ['speechConfig', { voiceConfig: { voice: 'Kore' } }, 'carried', 'translated'],
];

const ofCalling: readonly Row[] = [
  ['functionCallingConfig', { mode: 'ANY' }, 'carried', 'translated'],
  ['functionCallingConfig', { mode: 'ANY', allowedFunctionNames: ['given'] }, 'carried', 'translated'],
  ['functionCallingConfig', { mode: 'NONE' }, 'carried', 'translated'],
  ['functionCallingConfig', { mode: 'VALIDATED' }, 'carried', 'translated'],
  ['functionCallingConfig', { streamFunctionCallArguments: true }, 'carried', 'hint'],
  ['includeServerSideToolInvocations', true, 'carried', 'hint'],
  ['retrievalConfig', { languageCode: 'is' }, 'carried', 'refused'],
  ['ofTomorrow', true, 'carried', 'refused'],
];

const ofDeclaration: readonly Row[] = [
  ['name', 'other', 'carried', 'translated'],
  ['description', 'other', 'carried', 'translated'],
  ['parameters', { type: 'OBJECT' }, 'carried', 'translated'],
  ['parametersJsonSchema', { type: 'object' }, 'carried', 'translated'],
  ['response', schema, 'carried', 'hint'],
  ['responseJsonSchema', {}, 'carried', 'hint'],
  ['behavior', 'BLOCKING', 'carried', 'hint'],
  ['behavior', 'NON_BLOCKING', 'carried', 'refused'],
  ['ofTomorrow', true, 'carried', 'refused'],
];

/** Beside one that the caller's functions are in. */
const ofTools: readonly Row[] = [
  ...['googleSearch', 'googleSearchRetrieval', 'googleMaps', 'urlContext', 'codeExecution', 'computerUse'].map(
    (name): Row => [name, {}, 'carried', 'refused'],
  ),
  ...[
    'retrieval',
    'mcpServers',
    'enterpriseWebSearch',
    'exaAiSearch',
    'parallelAiSearch',
    'fileSearch',
    'ofTomorrow',
  ].map((name): Row => [name, {}, 'refused', 'refused']),
];

const png = { mimeType: 'image/png', data: 'iVBORw0KGgo=' };
const levels = (level: string) => ({ level: `MEDIA_RESOLUTION_${level}` });

const ofPicture: readonly Row[] = [
  ['mediaResolution', levels('LOW'), 'carried', 'translated'],
  ['mediaResolution', levels('MEDIUM'), 'carried', 'hint'],
  ['mediaResolution', levels('HIGH'), 'carried', 'translated'],
  ['mediaResolution', levels('ULTRA_HIGH'), 'carried', 'translated'],
  ['mediaResolution', { numTokens: 900 }, 'carried', 'refused'],
  ['inlineData', { ...png, displayName: 'a' }, 'carried', 'hint'],
  ['inlineData', { ...png, ofTomorrow: 'a' }, 'carried', 'refused'],
  ['partMetadata', { a: 1 }, 'carried', 'hint'],
  ['videoMetadata', { startOffset: '1s' }, 'carried', 'refused'],
  ['mediaProcessing', 'AGENTIC', 'carried', 'refused'],
  ['audioTranscription', {}, 'carried', 'refused'],
  ['speechMetadata', {}, 'carried', 'refused'],
  ['ofTomorrow', 1, 'carried', 'refused'],
];

/** Each alone in a turn of the user's. */
const ofPart: readonly Row[] = [
  ['text', 'words', 'carried', 'translated'],
  ['inlineData', png, 'carried', 'translated'],
  ['fileData', { mimeType: 'image/png', fileUri: 'https://files.example/a.png' }, 'carried', 'translated'],
  ['fileData', { fileUri: 'gs://bucket/a' }, 'refused', 'refused'],
  ['executableCode', { language: 'PYTHON', code: 'x' }, 'carried', 'translated'],
  ['codeExecutionResult', { outcome: 'OUTCOME_OK', output: 'x' }, 'carried', 'translated'],
  ['toolCall', { id: 'a', toolType: 'GOOGLE_SEARCH_WEB' }, 'carried', 'refused'],
  ['toolResponse', { id: 'a', toolType: 'GOOGLE_SEARCH_WEB' }, 'carried', 'refused'],
];

const call = { id: 'c', name: 'given', args: { a: 'b' } };
const ofCall: readonly Row[] = [
  ['args', { a: 'c' }, 'carried', 'translated'],
  ['partialArgs', [{ jsonPath: '$.a' }], 'carried', 'refused'],
  ['ofTomorrow', 1, 'carried', 'refused'],
];
const ofResponse: readonly Row[] = [
  ['response', { a: 1 }, 'carried', 'translated'],
  ['parts', [{ inlineData: png }], 'carried', 'translated'],
  ['scheduling', 'SILENT', 'carried', 'hint'],
  ['willContinue', false, 'carried', 'hint'],
  ['ofTomorrow', 1, 'carried', 'refused'],
];

interface Case {
  readonly name: string;
  readonly before: JsonObject;
  readonly body: JsonObject;
  readonly member: string;
  readonly here: 'carried' | 'refused';
  readonly there: There;
}

const cases = (where: string, rows: readonly Row[], made: (member: JsonObject) => JsonObject): Case[] =>
  rows.map(([member, example, here, there]) => ({
    name: `${where}.${member}: ${JSON.stringify(example).slice(0, 60)}`,
    before: made({}),
    body: made({ [member]: example }),
    member,
    here,
    there,
  }));

const parts = (...more: JsonObject[]): JsonObject => ({ contents: [{ role: 'user', parts: [text, ...more] }] });
const tools = [{ functionDeclarations: [declaration] }];
const called = (asked: JsonObject, answered: JsonObject): JsonObject => ({
  contents: [
    { role: 'user', parts: [text] },
    { role: 'model', parts: [{ functionCall: { ...call, ...asked } }] },
    { role: 'user', parts: [{ functionResponse: { id: 'c', name: 'given', response: {}, ...answered } }] },
  ],
});

const all: readonly Case[] = [
  ...cases('request', ofRequest, (member) => ({ ...base, ...member })),
  ...cases('generationConfig', ofConfig, (generationConfig) => ({ ...base, generationConfig })),
  ...cases('generationConfig', inJson, (member) => ({
    ...base,
    generationConfig: { responseMimeType: 'application/json', ...member },
  })),
  ...cases('generationConfig', spoken, (member) => ({
    ...base,
    generationConfig: { responseModalities: ['AUDIO'], ...member },
  })),
  ...cases('toolConfig', ofCalling, (toolConfig) => ({ ...base, tools, toolConfig })),
  ...cases('functionDeclarations', ofDeclaration, (member) => ({
    ...base,
    tools: [{ functionDeclarations: [{ ...declaration, ...member }] }],
  })),
  ...cases('tools', ofTools, (member) => ({ ...base, tools: [...tools, member] })),
  ...cases('picture', ofPicture, (member) => parts({ inlineData: png, ...member })),
  ...cases('part', ofPart, (member) => (Object.keys(member).length === 0 ? parts() : parts(member))),
  ...cases('functionCall', ofCall, (member) => called(member, {})),
  ...cases('functionResponse', ofResponse, (member) => called({}, member)),
];

function requestTo(type: number, body: JsonObject): JsonObject {
  const provider = providerOfType(type);
  const named = { ...body, model: 'gemini-3-pro' };
  const caller = {
    ...callerOf('chat', named),
    neutral: neutralOf({ mode: 'chat', toNeutral: generateContent.toNeutral }, named),
    dialect: generateContent.dialect,
    maxOutput: 64_000,
  };
  const asked = { provider, channel: plainChannel, caller, model: 'gemini-3-pro', options: usualOptions };
  return JSON.parse(wordsOf(provider.protocol.request(asked).content)) as JsonObject;
}

/** What is refused, by the request's checks or on its way; null: nothing is. */
function refusal(type: number, body: JsonObject): string | null {
  const wrong = generateContent.invalid(body, null) ?? keptUpstream(body);
  if (wrong !== null) return wrong.message;
  try {
    requestTo(type, body);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const neutral = (body: JsonObject): string => JSON.stringify(generateContent.toNeutral?.(body));

describe.each(all)('$name', ({ before, body, member, here, there }) => {
  test(`is ${here} to Gemini`, () => {
    const refused = refusal(24, body);
    if (here === 'refused') expect(refused).toMatch(/^[\w.[\]]+ /);
    else expect([refused, requestTo(24, body)]).toEqual([null, body]);
  });

  test(`is ${there === 'hint' ? 'omitted as a hint' : there} across`, () => {
    const refused = refusal(1, body);
    if (there === 'refused') {
      const names = `${member} ${JSON.stringify(body)}`;
      const [path = '', last = ''] = /^[\w.[\]]+?(\w+)(?:\[\d+\])?(?= |:)/.exec(refused ?? '') ?? [];
      expect([path !== '', names.includes(last)], refused ?? 'not refused').toEqual([true, true]);
      return;
    }
    expect(refused).toBeNull();
    expect(neutral(body) !== neutral(before)).toBe(there === 'translated');
  });
});

test('tokens that a caller names for a picture are reserved', () => {
  const most = (numTokens: JsonObject[string]) => {
    const body = parts({ inlineData: png, mediaResolution: { numTokens } });
    const { prompt } = generateContent.demand({ body, bytes: 300, model: 'm', names: new Set(['m']) } as never);
    return prompt.max.input;
  };
  expect(most(90_000) - most(0)).toBe(90_000);
  expect(most('many')).toBeGreaterThan(1_000_000);
});
