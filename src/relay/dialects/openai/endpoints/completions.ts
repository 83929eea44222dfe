import type { Endpoint } from '../../../contracts/endpoint.js';
import { countIn, isList, type JsonObject } from '../../../json/json.js';
import { PromptTally } from '../../../metering/prompt-tally.js';
import { openAiCaller } from '../dialect.js';
import { inputTexts, tallyInput } from '../input.js';
import { choicesAsked, outputAllowed } from '../limits.js';
import { wrongOwnTools } from '../own-tools.js';
import { asksForStream, asksForUsage } from '../streaming.js';
import { invalidRequest, required } from '../validate.js';

/* Texts to be gone on with. */

/** Each choice of each prompt; of the best of many, all are made. */
function answersAsked(body: JsonObject): number {
  const { prompt } = body;
  const prompts = isList(prompt) && prompt.some((part) => typeof part !== 'number') ? prompt.length : 1;
  return Math.max(choicesAsked(body), countIn(body.best_of) ?? 1) * prompts;
}

export const completions: Endpoint = {
  path: '/v1/completions',
  dialect: openAiCaller,
  body: 'json',
  mode: 'completions',
  usualModel: null,
  answersAudio: false,
  thinking: null,
  toNeutral: null,
  invalid: (body) =>
    invalidRequest('invalid_text_request', body, (body) => required('prompt')(body) ?? wrongOwnTools(body)),
  promptTexts: ({ prompt, suffix }) => [...inputTexts(prompt), ...inputTexts(suffix)],
  asksForAudio: () => false,
  asksForStream,
  asksForUsage,
  demand({ body, bytes, model, names }) {
    const tally = new PromptTally(model, names);
    tallyInput(tally, body.prompt);
    tally.text(body.suffix);
    const prompt = tally.total(bytes);
    return { prompt, answers: answersAsked(body), asked: outputAllowed(body), readApart: isList(body.prompt) };
  },
};
