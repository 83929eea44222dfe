import type { CallerDialect, InvalidMember } from '../../../contracts/caller-dialect.js';
import type { Demand, DemandInput, Endpoint, InvalidRequest } from '../../../contracts/endpoint.js';
import { maxChoices } from '../../../contracts/protocol.js';
import {
  countIn,
  isList,
  isObject,
  type JsonObject,
  memberNamesIn,
  objectsIn,
  scalarText,
} from '../../../json/json.js';
import { readByTool } from '../../../metering/media-tokens.js';
import { PromptTally } from '../../../metering/prompt-tally.js';
import { memberIn, objectIn, partsIn } from '../../../protocols/gemini/names.js';
import { wrongTools } from '../../../protocols/gemini/own-tools.js';
import { contentsIn, tallyContents, textsIn, wrongContents, wrongParts } from '../contents.js';
import { geminiArrayCaller, geminiCaller } from '../dialect.js';
import { neutralContent, neutralThinking } from '../to-neutral.js';

/* Contents in, an answer out: whole, as events, or as the members of an array. */

const perTools = 8;
const maxOutputTokens = 2 ** 30 - 1;

const configIn = (body: JsonObject): JsonObject => objectIn(body, 'generationConfig') ?? {};

const integerFrom = (body: JsonObject, name: string, max: number): InvalidMember | null => {
  const value = memberIn(configIn(body), name);
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return null;
  const param = `generationConfig.${name}`;
  return { param, message: `${param} must be an integer from 1 to ${max}` };
};

/** It would be as large as nobody here knows, and belong to the account of a channel. */
const cachedElsewhere = (body: JsonObject): InvalidMember | null =>
  memberIn(body, 'cachedContent') === undefined
    ? null
    : {
        param: 'cachedContent',
        message: 'cachedContent cannot be used through the gateway: send the contents themselves',
      };

/** By these a caller would choose another model, or use what belongs to the operator's account. */
const accountsOwn: readonly (readonly [member: string, why: string])[] = [
  ['modelConfig', 'the model is the one of the address'],
  ['modelArmorConfig', 'its templates belong to the account of the provider, which callers share'],
  ['outputConfig', 'the answer would be stored with the rights of the account, which callers share'],
  ['generationOutputConfig', 'the answer would be stored with the rights of the account, which callers share'],
];
const otherModels: readonly string[] = ['routingConfig', 'modelSelectionConfig', 'modelConfig'];

function ofTheAccount(body: JsonObject): InvalidMember | null {
  for (const [name, why] of accountsOwn)
    if (memberIn(body, name) !== undefined) return { param: name, message: `${name} cannot be used here: ${why}` };
  for (const name of otherModels)
    if (memberIn(configIn(body), name) !== undefined) {
      const param = `generationConfig.${name}`;
      return { param, message: `${param} cannot be used here: the model is the one of the address` };
    }
  return null;
}

/** What is read as one shape goes upstream in no other: Google takes one text for a list of texts, and lists nowhere else. */
function misshapen(body: JsonObject): InvalidMember | null {
  const config = memberIn(body, 'generationConfig') ?? null;
  if (config !== null && !isObject(config))
    return { param: 'generationConfig', message: 'generationConfig must be an object' };
  const modalities = memberIn(configIn(body), 'responseModalities') ?? null;
  const param = 'generationConfig.responseModalities';
  if (modalities !== null && !(isList(modalities) && modalities.every((one) => typeof one === 'string')))
    return { param, message: `${param} must be a list of strings` };
  // What draws takes these for its prompt.
  if ((body.instances ?? null) === null) return null;
  return { param: 'instances', message: 'instances are for predict: send contents' };
}

function invalid(body: JsonObject): InvalidRequest | null {
  const complaint =
    wrongContents(body.contents, 'contents') ??
    wrongParts(partsIn(memberIn(body, 'systemInstruction')), 'systemInstruction') ??
    cachedElsewhere(body) ??
    wrongTools(body.tools) ??
    ofTheAccount(body) ??
    misshapen(body) ??
    integerFrom(body, 'maxOutputTokens', maxOutputTokens) ??
    integerFrom(body, 'candidateCount', maxChoices);
  return complaint === null ? null : { code: 'invalid_text_request', ...complaint };
}

function contentDemand({ body, bytes, model, names }: DemandInput): Demand {
  const tally = new PromptTally(model, names);
  tallyContents(tally, contentsIn(body));
  // Every member but the declarations is a tool of the provider's own.
  for (const tool of objectsIn(body.tools))
    for (const name of memberNamesIn(tool))
      if (name !== 'functionDeclarations' && name !== 'function_declarations') tally.count(readByTool);
  // It goes on with what Google has kept of an earlier answer.
  if (memberIn(body, 'continuationToken') !== undefined) tally.count(readByTool);
  const declared = objectsIn(body.tools).flatMap((tool) => objectsIn(memberIn(tool, 'functionDeclarations')));
  if (declared.length > 0) tally.fixed += perTools;
  for (const declaration of declared) tally.text(declaration);
  const config = configIn(body);
  return {
    prompt: tally.total(bytes),
    answers: Math.max(countIn(memberIn(config, 'candidateCount')) ?? 1, 1),
    asked: countIn(memberIn(config, 'maxOutputTokens')),
  };
}

const generating = (action: string, dialect: CallerDialect, stream: boolean): Endpoint => ({
  path: `/v1beta/models/{model}:${action}`,
  dialect,
  body: 'json',
  mode: 'chat',
  usualModel: null,
  answersAudio: false,
  thinking: neutralThinking,
  toNeutral: (body) => neutralContent(body, stream),
  invalid,
  promptTexts: (body) => textsIn(contentsIn(body)),
  beginning: (body) => [
    memberIn(body, 'systemInstruction'),
    ...(isList(body.contents) ? body.contents.slice(0, 1) : [body.contents]),
  ],
  asksForAudio(body) {
    const modalities = memberIn(configIn(body), 'responseModalities');
    return isList(modalities) && modalities.some((one) => scalarText(one).toUpperCase() === 'AUDIO');
  },
  asksForStream: () => stream,
  // It stands in the last response of every stream.
  asksForUsage: () => stream,
  demand: contentDemand,
});

export const generateContent = generating('generateContent', geminiCaller, false);
export const streamOfEvents = generating('streamGenerateContent', geminiCaller, true);
export const streamOfMembers = generating('streamGenerateContent', geminiArrayCaller, true);
