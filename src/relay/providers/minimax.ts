import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import { maxChoices, type Provider } from '../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, objectsIn, textIn } from '../json/json.js';
import { openAi } from '../protocols/openai/openai.js';
import type { Edit, OpenAiVariant, Target } from '../protocols/openai/variant.js';
import { notServed } from '../protocols/request-builder.js';

/** The service's numbers for failures it sends under status 200; any other number is its own trouble. */
const statuses = new Map([
  [1001, 504],
  [1002, 429],
  [1004, 401],
  [1008, 402],
  [1026, 400],
  [1027, 400],
  [1039, 429],
  [1041, 429],
  [2013, 400],
  [2049, 401],
]);

const failure: OpenAiVariant['failure'] = ({ base_resp: outcome }) => {
  const code = isObject(outcome) ? countIn(outcome.status_code) : null;
  if (!isObject(outcome) || code === null || code === 0) return null;
  return { status: statuses.get(code) ?? 502, code: String(code), message: textIn(outcome.status_msg) };
};

/** Thinking that comes apart from the answer: in pieces, or each time from its beginning. Of one choice. */
class SplitThinking {
  private soFar = '';
  private inPieces = false;

  /** What of it is new. */
  piece(text: string): string {
    if (this.inPieces || text === '') return text;
    if (!text.startsWith(this.soFar)) {
      this.inPieces = true;
      this.soFar = '';
      return text;
    }
    const more = text.slice(this.soFar.length);
    this.soFar = text;
    return more;
  }
}

const detailsText = ({ reasoning_details: details }: JsonObject): string =>
  objectsIn(details)
    .map(({ text }) => textIn(text) ?? '')
    .join('');

/** Under the name that clients look for. */
const named = (holder: JsonObject, thought: string): JsonObject =>
  textIn(holder.reasoning_content) === null ? { reasoning_content: thought } : {};

function withThinking(holder: JsonObject, thought: string): JsonObject {
  const { reasoning_details: details, ...rest } = holder;
  const [first = {}] = objectsIn(details);
  if (thought === '') return rest;
  // Clients put the pieces together: each holds what is new in it alone.
  return { ...rest, reasoning_details: [{ ...first, text: thought }], ...named(rest, thought) };
}

/** `splits`: of the choices of a stream; null: the answer is whole. */
function tellThinking(body: JsonObject, splits: Map<number, SplitThinking> | null): JsonObject {
  const choices = objectsIn(body.choices);
  const holders = choices.map(({ delta, message }) => (isObject(delta) ? delta : isObject(message) ? message : {}));
  if (!holders.some((holder) => detailsText(holder) !== '')) return body;
  return {
    ...body,
    choices: choices.map((choice, at) => {
      const holder = holders[at] ?? {};
      const text = detailsText(holder);
      if (text === '') return choice;
      if (splits === null) return { ...choice, message: { ...holder, ...named(holder, text) } };
      return { ...choice, delta: withThinking(holder, splitOf(splits, choice, at).piece(text)) };
    }),
  };
}

function splitOf(splits: Map<number, SplitThinking>, { index }: JsonObject, at: number): SplitThinking {
  const place = countIn(index) ?? at;
  let split = splits.get(place);
  if (split === undefined) {
    split = new SplitThinking();
    if (splits.size < maxChoices) splits.set(place, split);
  }
  return split;
}

/** A stream ends with the whole answer over again: its finish reason and usage are news, its text is not. */
const translator: OpenAiVariant['translator'] = () => {
  const splits = new Map<number, SplitThinking>();
  return (body, { streamed, finished }) => {
    if (!streamed) return tellThinking(body, null);
    return body.object === 'chat.completion' ? endOf(body, finished) : tellThinking(body, splits);
  };
};

function endOf(body: JsonObject, finished: boolean): JsonObject {
  const choices = finished
    ? []
    : objectsIn(body.choices).map(({ index, finish_reason }) => ({ index, delta: {}, finish_reason }));
  return { ...body, object: 'chat.completion.chunk', choices };
}

/** Models from before there was an interface in OpenAI's form. */
const isEarlier = (model: string): boolean => /^(abab|MiniMax-(Text|VL)-)/i.test(model);

const url = ({ base, caller, model }: Target): string => {
  if (caller.mode !== 'chat') throw notServed(caller.mode);
  return base + (isEarlier(model) ? '/v1/text/chatcompletion_v2' : '/v1/chat/completions');
};

/** Without it thinking stands among the words of the answer. */
const splitThinking: Edit = (body, { model }) =>
  isEarlier(model) || body.reasoning_split !== undefined ? body : { ...body, reasoning_split: true };

/** What was thought goes back with its message, in the words it came in. */
const earlierThinking: Edit = (body) => ({
  ...body,
  messages: objectsIn(body.messages).map((message) => {
    const { reasoning_content: thought, ...rest } = message;
    if (message.role !== 'assistant' || textIn(thought) === null) return message;
    const details = [{ type: 'reasoning.text', id: 'reasoning-text-1', index: 0, text: thought }];
    return { ...rest, reasoning_details: isList(message.reasoning_details) ? message.reasoning_details : details };
  }),
});

export const minimax: Provider = {
  ...usual,
  type: 35,
  name: 'MiniMax',
  defaultBaseUrl: 'https://api.minimax.chat',
  defaultModels: modelList(`
    MiniMax-M3 MiniMax-M2.7 MiniMax-M2.7-highspeed MiniMax-M2.5 MiniMax-M2.5-highspeed MiniMax-M2.1 MiniMax-M2
    MiniMax-Text-01 MiniMax-VL-01 abab6.5-chat abab6.5s-chat abab6-chat abab5.5-chat abab5.5s-chat
  `),
  colour: 'green',
  keyHint: 'API key',
  modes: ['chat'],
  // https://platform.minimax.io/docs/api-reference/text-openai-api
  protocol: openAi({
    url,
    edits: [splitThinking, earlierThinking],
    usageOnRequest: ({ model }) => !isEarlier(model),
    replaysReasoning: true,
    minThinking: (model) => (/^MiniMax-M[3-9]/i.test(model) ? { thinking: { type: 'disabled' } } : {}),
    failure,
    translator,
  }),
};
