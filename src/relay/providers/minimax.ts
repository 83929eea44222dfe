import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { countIn, isObject, objectsIn, textIn } from '../json/json.js';
import { openAi } from '../protocols/openai/openai.js';
import { urlAt } from '../protocols/openai/request.js';
import type { OpenAiVariant } from '../protocols/openai/variant.js';

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

/** A stream ends with the whole answer over again: its finish reason and usage are news, its text is not. */
const translate: OpenAiVariant['translate'] = (body, { streamed, finished }) => {
  if (!streamed || body.object !== 'chat.completion') return body;
  const choices = finished
    ? []
    : objectsIn(body.choices).map(({ index, finish_reason }) => ({ index, delta: {}, finish_reason }));
  return { ...body, object: 'chat.completion.chunk', choices };
};

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
  protocol: openAi({ url: urlAt({ chat: '/v1/text/chatcompletion_v2' }), failure, translate }),
};
