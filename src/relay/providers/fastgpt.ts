import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { countIn, textIn } from '../json/json.js';
import { openAi } from '../protocols/openai/openai.js';
import type { OpenAiVariant } from '../protocols/openai/variant.js';

/** Failures are an envelope with a code of the service's own, often under status 200. */
const failure: OpenAiVariant['failure'] = (body) => {
  const code = countIn(body.code);
  if (code === null || code < 400 || body.choices !== undefined) return null;
  const message = textIn(body.message) ?? textIn(body.statusText);
  return { status: code <= 599 ? code : 502, code: String(code), message };
};

export const fastgpt: Provider = {
  ...usual,
  type: 22,
  name: 'FastGPT',
  defaultBaseUrl: 'https://fastgpt.run/api/openapi',
  defaultModels: modelList('gpt-3.5-turbo gpt-4o-mini gpt-4o'),
  colour: 'blue',
  keyHint: 'API key of one app, or key-appId',
  modes: ['chat', 'completions'],
  // Parameters of a request have no effect: https://doc.fastgpt.io/docs/introduction/development/openapi/chat
  hasNoLimit: () => true,
  bringsPrompt: () => true,
  protocol: openAi({ failure }),
};
