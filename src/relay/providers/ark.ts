import { imageModes, usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import { switchedByType } from '../catalogue/reasoning-overhead.js';
import type { EmbeddingRequest } from '../contracts/neutral-request.js';
import { NotConvertible, type Provider } from '../contracts/protocol.js';
import { countIn, isObject, objectsIn } from '../json/json.js';
import { isPictureInput, textsToEmbed } from '../protocols/embeddings.js';
import { arkImages } from '../protocols/images/ark-images.js';
import { withImages } from '../protocols/images/image-wire.js';
import { modelsAt } from '../protocols/models.js';
import { openAi } from '../protocols/openai/openai.js';
import type { Edit, OpenAiVariant, Target } from '../protocols/openai/variant.js';

/** Models of pictures and texts have an interface of their own: https://www.volcengine.com/docs/82379/1523520 */
const takesPictures = (model: string): boolean => /embedding-vision/i.test(model);

const url = ({ base, caller, model }: Target): string => {
  const root = `${base}/api/v3`;
  if (caller.mode === 'embeddings') return `${root}/embeddings${takesPictures(model) ? '/multimodal' : ''}`;
  if (caller.mode === 'responses') return `${root}/responses`;
  if (caller.mode === 'completions') return `${root}/completions`;
  return `${root}${model.startsWith('bot') ? '/bots' : ''}/chat/completions`;
};

/** All parts of a request become one vector there, so there is one. */
const multimodal: Edit = (body, { caller, model }) => {
  if (caller.mode !== 'embeddings' || !takesPictures(model)) return body;
  const [input = '', ...others] = textsToEmbed(body as EmbeddingRequest);
  if (others.length > 0) throw new NotConvertible('caller', 'input: this model makes one vector of each request');
  const part = isPictureInput(input) ? { type: 'image_url', image_url: { url: input } } : { type: 'text', text: input };
  // What it does not know it refuses; vectors are written as the caller wants them on their way back.
  const { encoding_format: _, ...rest } = body;
  return { ...rest, input: [part] };
};

/** A bot calls several models and may report what each of them used, but not the sum. */
const translate: OpenAiVariant['translate'] = (body, { mode }) => {
  if (mode === 'embeddings') return isObject(body.data) ? { ...body, data: [{ index: 0, ...body.data }] } : body;
  if (isObject(body.usage) || !isObject(body.bot_usage)) return body;
  const models = objectsIn(body.bot_usage.model_usage);
  if (models.length === 0) return body;
  const sum = (name: string): number => models.reduce((total, model) => total + (countIn(model[name]) ?? 0), 0);
  const prompt = sum('prompt_tokens');
  const completion = sum('completion_tokens');
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  return { ...body, usage };
};

export const ark: Provider = {
  ...usual,
  type: 45,
  name: 'Volcano Ark (Doubao)',
  defaultBaseUrl: 'https://ark.cn-beijing.volces.com',
  defaultModels: modelList(`
    doubao-seed-1-8-251228 doubao-seed-1-6-251015 doubao-seed-1-6-flash-250828 doubao-seed-1-6-thinking-250715
    doubao-1-5-pro-32k-250115 doubao-1-5-lite-32k-250115 doubao-seedream-4-0-250828 doubao-seedream-4-5-251128 doubao-embedding-large-text-250515
    doubao-embedding-vision-250615
    deepseek-v3-1-terminus deepseek-r1-250528 Doubao-pro-128k Doubao-pro-32k Doubao-pro-4k Doubao-lite-128k
    Doubao-lite-32k Doubao-lite-4k Doubao-embedding
  `),
  colour: 'blue',
  keyHint: 'API key',
  // https://www.volcengine.com/docs/82379/1585128: functions are the only tools of its caller's.
  modes: ['chat', 'completions', 'responses', 'embeddings', ...imageModes],
  responsesBySetting: true,
  bringsPrompt: (model) => model.startsWith('bot'),
  models: modelsAt('/api/v3/models'),
  overheadRule: switchedByType,
  protocol: withImages(
    openAi({
      newerLimit: true,
      url,
      usageOnRequest: true,
      knowsThinking: true,
      reshape: multimodal,
      translate,
    }),
    arkImages,
  ),
};
