import type { Endpoint } from '../../../contracts/endpoint.js';
import { invalidModeration } from '../../../contracts/moderation-request.js';
import { isObject, type JsonObject, objectsIn, textIn } from '../../../json/json.js';
import { PromptTally } from '../../../metering/prompt-tally.js';
import { openAiCaller } from '../dialect.js';
import { inputTexts, tallyInput } from '../input.js';

/* Texts and pictures that are judged: nothing is put out that is counted, and there is no stream. */

function invalid({ model, input, stream }: JsonObject) {
  const code = 'invalid_moderation_request';
  if ((model ?? null) !== null && typeof model !== 'string')
    return { code, param: 'model', message: 'model must be a text' };
  if ((stream ?? null) !== null && stream !== false)
    return { code, param: 'stream', message: 'stream must be false: a judgement has no stream' };
  const fault = invalidModeration(input);
  return fault === null ? null : { code, ...fault };
}

const partsIn = ({ input }: JsonObject): JsonObject[] => objectsIn(input);

export const moderations: Endpoint = {
  path: '/v1/moderations',
  dialect: openAiCaller,
  body: 'json',
  mode: 'moderation',
  usualModel: 'omni-moderation-latest',
  answersAudio: false,
  thinking: null,
  toNeutral: null,
  invalid,
  promptTexts: (body) => [...inputTexts(body.input), ...partsIn(body).flatMap(({ text }) => textIn(text) ?? [])],
  asksForAudio: () => false,
  asksForStream: () => false,
  asksForUsage: () => false,
  demand({ body, bytes, model, names }) {
    const tally = new PromptTally(model, names);
    const parts = partsIn(body);
    if (parts.length === 0) tallyInput(tally, body.input);
    for (const part of parts) {
      if (isObject(part.image_url)) tally.part(part);
      else tally.text(part.text);
    }
    return { prompt: tally.total(bytes), answers: 0, asked: null, readApart: true };
  },
};
