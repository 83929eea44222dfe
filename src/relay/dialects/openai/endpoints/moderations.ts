import type { Endpoint } from '../../../contracts/endpoint.js';
import { conversationsIn, invalidModeration, textsOfMessage } from '../../../contracts/moderation-request.js';
import { isList, isObject, type JsonObject, objectsIn, textIn } from '../../../json/json.js';
import { PromptTally } from '../../../metering/prompt-tally.js';
import { openAiCaller } from '../dialect.js';
import { inputTexts, tallyInput } from '../input.js';

/* Texts, pictures and conversations that are judged: nothing is put out that is counted, and there is no stream. */

function invalid({ model, input, stream }: JsonObject) {
  const code = 'invalid_moderation_request';
  if ((model ?? null) !== null && typeof model !== 'string')
    return { code, param: 'model', message: 'model must be a text' };
  if ((stream ?? null) !== null && stream !== false)
    return { code, param: 'stream', message: 'stream must be false: a judgement has no stream' };
  const fault = invalidModeration(input);
  return fault === null ? null : { code, ...fault };
}

/** Of all conversations; null: there are none. */
const messagesIn = ({ input }: JsonObject): JsonObject[] | null =>
  conversationsIn(input)?.flatMap((conversation) => (isList(conversation) ? objectsIn(conversation) : [])) ?? null;

const partsIn = ({ input }: JsonObject): JsonObject[] => objectsIn(input);

/** What a message has beside its words. */
const perMessage = 8;

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
  promptTexts: (body) =>
    messagesIn(body)?.flatMap((message) => textsOfMessage(message) ?? []) ?? [
      ...inputTexts(body.input),
      ...partsIn(body).flatMap(({ text }) => textIn(text) ?? []),
    ],
  asksForAudio: () => false,
  asksForStream: () => false,
  asksForUsage: () => false,
  demand({ body, bytes, model, names }) {
    const tally = new PromptTally(model, names);
    const messages = messagesIn(body);
    for (const message of messages ?? []) {
      tally.fixed += perMessage;
      for (const text of textsOfMessage(message) ?? []) tally.text(text);
    }
    if (messages !== null) return { prompt: tally.total(bytes), answers: 0, asked: null, readApart: true };
    const parts = partsIn(body);
    if (parts.length === 0) tallyInput(tally, body.input);
    for (const part of parts) {
      if (isObject(part.image_url)) tally.part(part);
      else tally.text(part.text);
    }
    return { prompt: tally.total(bytes), answers: 0, asked: null, readApart: true };
  },
};

/** Mistral's own address for conversations: https://docs.mistral.ai/api/endpoint/classifiers. */
export const chatModerations: Endpoint = {
  ...moderations,
  path: '/v1/chat/moderations',
  usualModel: 'mistral-moderation-latest',
  invalid: (body) =>
    conversationsIn(body.input) === null
      ? { code: 'invalid_moderation_request', param: 'input', message: 'input must be a list of messages' }
      : invalid(body),
};
