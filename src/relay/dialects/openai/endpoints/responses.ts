import type { InvalidMember } from '../../../contracts/caller-dialect.js';
import type { Endpoint } from '../../../contracts/endpoint.js';
import { countIn, isList, isObject, type JsonObject, objectsIn, textIn } from '../../../json/json.js';
import { compacts } from '../../../metering/compaction.js';
import { PromptTally } from '../../../metering/prompt-tally.js';
import { untilUser } from '../input.js';
import { choicesAsked } from '../limits.js';
import { responsesCaller } from '../responses-dialect.js';
import { responsesInChatCaller } from '../responses-in-chat/dialect.js';
import { responsesInChat } from '../responses-in-chat/to-neutral.js';
import { responsesTexts, tallyResponsesPrompt } from '../responses-input.js';
import { responsesKept } from '../responses-kept.js';
import { wrongResponsesTools } from '../responses-tools.js';
import { responsesConversation } from '../stored-responses.js';
import { asksForStream } from '../streaming.js';
import { integerFrom, invalidRequest, maxOutputTokens } from '../validate.js';

/* Items in, items out: OpenAI's Responses, for upstreams that have it and, in words of chat, for those that have not. */

function wrongInput({ input }: JsonObject): InvalidMember | null {
  if (textIn(input) !== null) return null;
  if (!isList(input) || input.length === 0)
    return { param: 'input', message: 'field input is required: a text or a list of items' };
  const wrong = input.findIndex((item) => !isObject(item));
  return wrong < 0 ? null : { param: `input[${wrong}]`, message: `input[${wrong}] must be an object` };
}

const isNone = (value: unknown): boolean => (value ?? null) === null;

/** What decides the cost is read in one shape, and sent in no other. */
function misshapen(body: JsonObject): InvalidMember | null {
  const { instructions } = body;
  if (!isNone(instructions) && typeof instructions !== 'string')
    return { param: 'instructions', message: 'instructions must be a text' };
  for (const param of ['reasoning', 'text'])
    if (!isNone(body[param]) && !isObject(body[param])) return { param, message: `${param} must be an object` };
  return null;
}

/** What is answered later must be kept until then. */
function wrongBackground({ background, store }: JsonObject): InvalidMember | null {
  if (isNone(background) || background === false) return null;
  if (background !== true) return { param: 'background', message: 'background must be true or false' };
  return store === false
    ? { param: 'background', message: 'background must be false where store is: the response is fetched later' }
    : null;
}

function wrongStore({ store }: JsonObject): InvalidMember | null {
  return isNone(store) || typeof store === 'boolean'
    ? null
    : { param: 'store', message: 'store must be true or false' };
}

const invalidBody = (body: JsonObject): InvalidMember | null =>
  wrongInput(body) ??
  misshapen(body) ??
  wrongBackground(body) ??
  wrongStore(body) ??
  integerFrom(body, 'max_output_tokens', 1, maxOutputTokens) ??
  integerFrom(body, 'max_tool_calls', 0, maxOutputTokens) ??
  wrongResponsesTools(body);

/** By an item of its input, too, a conversation may be summed up. */
const isSummedUp = (body: JsonObject): boolean =>
  compacts(body) || objectsIn(body.input).some(({ type }) => type === 'compaction_trigger');

/** In neutral words. */
const thinking = ({ reasoning }: JsonObject): JsonObject =>
  isObject(reasoning) && textIn(reasoning.effort) !== null ? { reasoning_effort: reasoning.effort } : {};

export const responses: Endpoint = {
  path: '/v1/responses',
  dialect: responsesCaller,
  body: 'json',
  mode: 'responses',
  usualModel: null,
  answersAudio: false,
  thinking,
  toNeutral: null,
  inChat: { dialect: responsesInChatCaller, toNeutral: responsesInChat },
  invalid: (body) => invalidRequest('invalid_text_request', body, invalidBody),
  promptTexts: responsesTexts,
  beginning: ({ instructions, input }) => [instructions, ...(isList(input) ? untilUser(input) : [input])],
  asksForAudio: () => false,
  asksForStream,
  asksForUsage: () => true,
  kept: responsesKept,
  conversation: responsesConversation,
  inBackground: ({ background }) => background === true,
  demand({ body, bytes, model, names }) {
    const tally = new PromptTally(model, names);
    tallyResponsesPrompt(tally, body);
    return {
      prompt: tally.total(bytes),
      answers: choicesAsked(body),
      asked: countIn(body.max_output_tokens),
      ...(isSummedUp(body) && { compacts: true }),
    };
  },
};
