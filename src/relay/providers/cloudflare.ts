import { imageModes, isImageMode, type Mode, other, usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import {
  type CallerRequest,
  NotConvertible,
  type Protocol,
  type Provider,
  type UpstreamChannel,
} from '../contracts/protocol.js';
import { jsonText } from '../json/exact-number.js';
import { countIn, isList, isObject, type JsonObject, objectsIn, scalarText, textIn } from '../json/json.js';
import { whisperAnswer, whisperRequest } from '../protocols/cloudflare-whisper.js';
import { cloudflareImages, takesForms } from '../protocols/images/cloudflare-images.js';
import { sourceAddresses } from '../protocols/images/image-order.js';
import { imageRequest } from '../protocols/images/image-wire.js';
import { pathSegments } from '../protocols/model-address.js';
import { inPages, listedModelsIn, type ModelsWire, modesByWord } from '../protocols/models.js';
import { openAi } from '../protocols/openai/openai.js';
import type { Edit, OpenAiVariant, Target } from '../protocols/openai/variant.js';
import { NotSupported } from '../protocols/provider-queries.js';
import { baseOf } from '../protocols/request-builder.js';
import { reportedFailure, statusOf } from '../upstream/upstream-error.js';

const rootOf = (base: string, { other }: Pick<UpstreamChannel, 'other'>): string => {
  const account = other.trim();
  if (account === '') throw new NotConvertible('channel', 'this channel has no account id');
  return `${base}/client/v4/accounts/${encodeURIComponent(account)}/ai`;
};

const url = ({ base, channel, caller, model }: Target): string => {
  const root = rootOf(base, channel);
  if (caller.mode === 'chat') return `${root}/v1/chat/completions`;
  if (caller.mode === 'responses') return `${root}/v1/responses`;
  // Model names hold slashes, which belong to the path.
  return caller.mode === 'embeddings' ? `${root}/v1/embeddings` : `${root}/run/${pathSegments(model)}`;
};

/** Completions go to the model itself, which knows these members. */
const nativeCompletion: Edit = (body, { caller }) => {
  if (caller.mode !== 'completions') return body;
  const { model, prompt, max_tokens, stream, temperature, top_p, top_k, seed, frequency_penalty, presence_penalty } =
    body;
  const joined = isList(prompt) ? prompt.join('\n') : prompt;
  const sampling = { temperature, top_p, top_k, seed, frequency_penalty, presence_penalty };
  return { model, prompt: joined, max_tokens, stream, ...sampling };
};

/** The model's own answer, whole or a piece of a stream, in OpenAI's form. */
const translate: OpenAiVariant['translate'] = (body, { mode, info, streamed, said }) => {
  const answer = isObject(body.result) ? body.result : body;
  if (mode !== 'completions' || typeof answer.response !== 'string') return body;
  const { response: text, usage } = answer;
  const reported = isObject(usage) ? usage : undefined;
  // A stream reports usage in its last piece and no finish reason at all.
  const finish_reason = (!streamed || reported) && (said || text !== '') ? 'stop' : null;
  return {
    id: `cmpl-${info.callId}`,
    object: 'text_completion',
    created: info.createdAt,
    model: info.model,
    choices: [{ index: 0, text, logprobs: null, finish_reason }],
    ...(reported && { usage: reported }),
  };
};

const statuses = new Map([
  ['10000', 401],
  ['10001', 401],
  ['5007', 404],
  ['3036', 429],
  ['3040', 429],
]);

const failure: OpenAiVariant['failure'] = (body) => {
  if (body.success !== false) return null;
  const [first] = objectsIn(body.errors);
  const code = scalarText(first?.code);
  return { status: statuses.get(code) ?? statusOf(reportedFailure(body)), code, message: textIn(first?.message) };
};

/** Some models give a tool call's arguments as an object. */
const mend = (message: JsonObject): boolean => {
  let changed = false;
  for (const call of objectsIn(message.tool_calls)) {
    if (!isObject(call.function) || !isObject(call.function.arguments)) continue;
    call.function.arguments = jsonText(call.function.arguments);
    changed = true;
  }
  return changed;
};

/** The newer model takes JSON, the older ones nothing but the sound. */
const takesFields = (model: string): boolean => /whisper-large/.test(model);

const heard = ({ mode }: Pick<CallerRequest, 'mode'>): boolean => mode === 'transcription' || mode === 'translation';

const family = openAi({ url, usageOnRequest: true, reshape: nativeCompletion, translate, failure, mend });

const images = cloudflareImages(failure, url);

const protocol: Protocol = {
  ...family,
  // Pictures are sent themselves, in a form.
  pictures: ({ caller }) => (caller.mode === 'image-edit' ? sourceAddresses(caller) : []),
  request(asked) {
    const { provider, channel, caller, model } = asked;
    if (isImageMode(caller.mode)) return imageRequest(images, asked);
    if (!heard(caller)) return family.request(asked);
    const address = `${rootOf(baseOf(provider, channel), channel)}/run/${pathSegments(model)}`;
    return whisperRequest(asked, { url: address, takesFields: takesFields(model) });
  },
  answer(received) {
    if (isImageMode(received.caller.mode)) return images.answer(received);
    return heard(received.caller) ? whisperAnswer(failure, received) : family.answer(received);
  },
};

const pageSize = 100;

/** https://developers.cloudflare.com/workers-ai/models/ */
const tasks: Readonly<Record<string, readonly Mode[]>> = {
  'Text Generation': ['chat', 'completions'],
  'Text Embeddings': ['embeddings'],
  'Automatic Speech Recognition': ['transcription'],
  'Text-to-Speech': [],
  'Text-to-Image': ['image-generation'],
  'Image-to-Text': [],
  'Text Classification': [],
  'Image Classification': [],
  'Object Detection': [],
  Summarization: [],
  Translation: [],
};

/** Of pictures it does not say whether they can be changed as well. */
function modesByTask({ name, task }: JsonObject): readonly Mode[] | null {
  const modes = isObject(task) ? modesByWord(task.name, tasks) : null;
  return modes?.includes('image-generation') && takesForms(textIn(name) ?? '') ? imageModes : modes;
}

/** By account, in pages that are counted. */
const models: ModelsWire = ({ base, other: account, json }) => {
  if (account === '') throw new NotSupported('other', 'this channel has no account id');
  const search = `${base}/client/v4/accounts/${encodeURIComponent(account)}/ai/models/search`;
  return inPages(1, async (page) => {
    const reported = await json(`${search}?per_page=${pageSize}&page=${page}`);
    const total = isObject(reported.result_info) ? (countIn(reported.result_info.total_count) ?? 0) : 0;
    const models = listedModelsIn(reported, { list: 'result', name: 'name', modes: modesByTask });
    return { models, next: models.length > 0 && page * pageSize < total ? page + 1 : null };
  });
};

export const cloudflare: Provider = {
  ...usual,
  type: 39,
  name: 'Cloudflare Workers AI',
  defaultBaseUrl: 'https://api.cloudflare.com',
  defaultModels: modelList(`
    @cf/meta/llama-3.3-70b-instruct-fp8-fast @cf/meta/llama-4-scout-17b-16e-instruct @cf/openai/gpt-oss-120b
    @cf/openai/gpt-oss-20b @cf/qwen/qwen3-30b-a3b-fp8 @cf/baai/bge-m3 @cf/baai/bge-base-en-v1.5 @cf/openai/whisper
    @cf/openai/whisper-large-v3-turbo @cf/black-forest-labs/flux-1-schnell
    @cf/black-forest-labs/flux-2-klein-4b @cf/black-forest-labs/flux-2-klein-9b @cf/black-forest-labs/flux-2-dev @cf/leonardo/lucid-origin
    @cf/meta/llama-3.1-8b-instruct @cf/meta/llama-2-7b-chat-fp16 @cf/meta/llama-2-7b-chat-int8
    @cf/mistral/mistral-7b-instruct-v0.1 @hf/thebloke/deepseek-coder-6.7b-base-awq
    @hf/thebloke/deepseek-coder-6.7b-instruct-awq @cf/deepseek-ai/deepseek-math-7b-base
    @cf/deepseek-ai/deepseek-math-7b-instruct @cf/thebloke/discolm-german-7b-v1-awq @cf/tiiuae/falcon-7b-instruct
    @cf/google/gemma-2b-it-lora @hf/google/gemma-7b-it @cf/google/gemma-7b-it-lora
    @hf/nousresearch/hermes-2-pro-mistral-7b @hf/thebloke/llama-2-13b-chat-awq @cf/meta-llama/llama-2-7b-chat-hf-lora
    @cf/meta/llama-3-8b-instruct @hf/thebloke/llamaguard-7b-awq @hf/thebloke/mistral-7b-instruct-v0.1-awq
    @hf/mistralai/mistral-7b-instruct-v0.2 @cf/mistral/mistral-7b-instruct-v0.2-lora
    @hf/thebloke/neural-chat-7b-v3-1-awq @cf/openchat/openchat-3.5-0106 @hf/thebloke/openhermes-2.5-mistral-7b-awq
    @cf/microsoft/phi-2 @cf/qwen/qwen1.5-0.5b-chat @cf/qwen/qwen1.5-1.8b-chat @cf/qwen/qwen1.5-14b-chat-awq
    @cf/qwen/qwen1.5-7b-chat-awq @cf/defog/sqlcoder-7b-2 @hf/nexusflow/starling-lm-7b-beta
    @cf/tinyllama/tinyllama-1.1b-chat-v1.0 @hf/thebloke/zephyr-7b-beta-awq
  `),
  colour: 'grey',
  keyHint: 'API token',
  other: other('account id'),
  modes: ['chat', 'completions', 'responses', 'embeddings', 'transcription', 'translation', ...imageModes],
  models,
  protocol,
};
