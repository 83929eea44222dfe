import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { isObject, textIn } from '../json/json.js';
import { withImages } from '../protocols/images/image-wire.js';
import { zhipuImages } from '../protocols/images/zhipu-images.js';
import { modelsAt } from '../protocols/models.js';
import { openAi } from '../protocols/openai/openai.js';
import { boundedTopP, urlAt } from '../protocols/openai/request.js';
import type { Edit, OpenAiVariant, Target } from '../protocols/openai/variant.js';
import { zhipuStatus, zhipuToken } from '../protocols/zhipu-account.js';

const paths = {
  chat: '/chat/completions',
  embeddings: '/embeddings',
  speech: '/audio/speech',
  transcription: '/audio/transcriptions',
  rerank: '/rerank',
  'image-generation': '/images/generations',
};

/** The international host and the coding plan have the version in their base URL. */
const versioned = (base: string): string => (base.endsWith('/v4') ? base : `${base}/api/paas/v4`);

const url = (target: Target): string => urlAt(paths)({ ...target, base: versioned(target.base) });

const credentials = (key: string, now: number): Record<string, string> => ({
  authorization: zhipuToken(key, now) ?? `Bearer ${key}`,
});

const authorize = ({ channel, options }: Target) => credentials(channel.key.trim(), options.now);

const models = modelsAt('/models', { headers: ({ key, now }) => credentials(key, now) });

const sampling: Edit = (body) => {
  if (body.temperature === 0) {
    delete body.temperature;
    body.do_sample = false;
  }
  if (typeof body.stop === 'string') body.stop = [body.stop];
  return body;
};

/** Tools can only be left to the model's choice, or be kept from it. */
const automaticTools: Edit = (body) => {
  if ((body.tool_choice ?? 'auto') === 'auto') return body;
  if (body.tool_choice === 'none') {
    delete body.tools;
    delete body.tool_choice;
  } else body.tool_choice = 'auto';
  return body;
};

/** Failures in a stream bear a number of the service's own. */
const failure: OpenAiVariant['failure'] = ({ error }) => {
  const code = isObject(error) ? textIn(error.code) : null;
  const status = code === null ? undefined : zhipuStatus(code);
  if (!isObject(error) || code === null || status === undefined) return null;
  return { status, code, message: textIn(error.message) };
};

const family = openAi({
  url,
  authorize,
  edits: [boundedTopP(0.01, 0.99), sampling, automaticTools],
  knowsThinking: true,
  finishReasons: new Map([
    ['sensitive', 'content_filter'],
    ['model_context_window_exceeded', 'length'],
  ]),
  failure,
});

export const zhipu: Provider = {
  ...usual,
  type: 26,
  name: 'Zhipu GLM',
  defaultBaseUrl: 'https://open.bigmodel.cn',
  defaultModels: modelList(`
    glm-5.3 glm-5.2 glm-5.1 glm-5 glm-5-turbo glm-5v-turbo glm-4.7 glm-4.7-flash glm-4.7-flashx glm-4.6 glm-4.5
    glm-4.5-air glm-4.5v glm-4 glm-4v glm-3-turbo glm-4-alltools glm-4-plus glm-4-0520 glm-4-air glm-4-airx glm-4-long
    glm-4-flash glm-4v-plus glm-4-flashx glm-4v-flash embedding-2 embedding-3 cogview-3-flash cogview-4 glm-image rerank
  `),
  colour: 'purple',
  keyHint: 'id.secret, or an API key',
  // Rankings: https://docs.bigmodel.cn/api-reference, at most 128 documents.
  modes: ['chat', 'embeddings', 'speech', 'transcription', 'rerank', 'image-generation'],
  models: (queries) => models({ ...queries, base: versioned(queries.base) }),
  protocol: withImages(family, zhipuImages({ authorize, failure }, url)),
};
