import type { Endpoint, InvalidRequest } from '../../../contracts/endpoint.js';
import { NotConvertible } from '../../../contracts/protocol.js';
import { isList, type JsonObject, objectsIn, textIn } from '../../../json/json.js';
import { PromptTally } from '../../../metering/prompt-tally.js';
import { geminiCaller } from '../dialect.js';

/* A prompt in, a picture out, from models that do nothing but draw. */

const promptsIn = ({ instances }: JsonObject): string[] =>
  objectsIn(instances).flatMap(({ prompt }) => textIn(prompt) ?? []);

function invalid(body: JsonObject): InvalidRequest | null {
  const { instances } = body;
  return isList(instances) && instances.length === 1 && promptsIn(body).length === 1
    ? null
    : {
        code: 'invalid_text_request',
        param: 'instances',
        message: 'instances must be a list of one object with a prompt',
      };
}

export const predict: Endpoint = {
  path: '/v1beta/models/{model}:predict',
  dialect: geminiCaller,
  body: 'json',
  mode: 'chat',
  usualModel: null,
  answersAudio: false,
  thinking: null,
  toNeutral() {
    throw new NotConvertible('caller', 'instances: this upstream is not asked for predictions');
  },
  invalid,
  promptTexts: promptsIn,
  asksForAudio: () => false,
  asksForStream: () => false,
  asksForUsage: () => false,
  demand({ body, bytes, model, names }) {
    const tally = new PromptTally(model, names);
    for (const prompt of promptsIn(body)) tally.text(prompt);
    return { prompt: tally.total(bytes), answers: 1, asked: null };
  },
};
