import type { Endpoint } from '../../../contracts/endpoint.js';
import type { JsonObject } from '../../../json/json.js';
import { objectIn } from '../../../protocols/gemini/names.js';
import { neutralContent } from '../to-neutral.js';
import { generateContent } from './generate-content.js';

/** The request that is to be counted: contents alone, or all of one. */
const countedIn = (body: JsonObject): JsonObject => objectIn(body, 'generateContentRequest') ?? body;

/** Whoever serves the model can be estimated for. */
export const geminiCountTokens: Endpoint = {
  ...generateContent,
  path: '/v1beta/models/{model}:countTokens',
  thinking: null,
  toNeutral: (body) => neutralContent(countedIn(body), false),
  invalid: (body, upload) => generateContent.invalid(countedIn(body), upload),
  promptTexts: (body) => generateContent.promptTexts(countedIn(body)),
  asksForAudio: () => false,
  demand: (asked) => generateContent.demand({ ...asked, body: countedIn(asked.body) }),
};
