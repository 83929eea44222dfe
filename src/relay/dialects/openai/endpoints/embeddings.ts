import type { Endpoint } from '../../../contracts/endpoint.js';
import { isList } from '../../../json/json.js';
import { PromptTally } from '../../../metering/prompt-tally.js';
import { openAiCaller } from '../dialect.js';
import { inputTexts, tallyInput } from '../input.js';
import { invalidRequest, required } from '../validate.js';

/* Texts as vectors: nothing is put out that is counted, and there is no stream. */

export const embeddings: Endpoint = {
  path: '/v1/embeddings',
  dialect: openAiCaller,
  body: 'json',
  mode: 'embeddings',
  usualModel: null,
  answersAudio: false,
  thinking: null,
  toNeutral: null,
  invalid: (body) => invalidRequest('invalid_embedding_request', body, required('input')),
  promptTexts: (body) => inputTexts(body.input),
  asksForAudio: () => false,
  asksForStream: () => false,
  asksForUsage: () => false,
  demand({ body, bytes, model, names }) {
    const tally = new PromptTally(model, names);
    tallyInput(tally, body.input);
    return { prompt: tally.total(bytes), answers: 0, asked: null, readApart: isList(body.input) };
  },
};
