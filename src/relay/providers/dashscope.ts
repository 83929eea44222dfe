import { imageModes, other, usual } from '../../domain/channel/provider.js';
import { factsOf } from '../../domain/models/model-facts.js';
import { modelList } from '../catalogue/model-list.js';
import { switchedByFlag } from '../catalogue/reasoning-overhead.js';
import type { Provider } from '../contracts/protocol.js';
import { isObject, textIn } from '../json/json.js';
import {
  embedsPictures,
  pictureEmbedding,
  pictureEmbeddingUrl,
  vectorsAnswered,
} from '../protocols/dashscope-embeddings.js';
import { dashscopeImages } from '../protocols/images/dashscope-images.js';
import { withImages } from '../protocols/images/image-wire.js';
import { modelsAt } from '../protocols/models.js';
import { openAi } from '../protocols/openai/openai.js';
import { boundedTopP, urlAt } from '../protocols/openai/request.js';
import type { Edit, OpenAiVariant, Target } from '../protocols/openai/variant.js';

const searchSuffix = '-internet';

const searching: Edit = (body) => {
  const model = textIn(body.model) ?? '';
  return model.endsWith(searchSuffix)
    ? { ...body, model: model.slice(0, -searchSuffix.length), enable_search: true }
    : body;
};

/** The open-weight qwen3 models think unless told not to, and refuse to think outside a stream. */
const thinkingOnlyInStreams: Edit = (body, { caller }) => {
  const { thinksInStreamsOnly } = factsOf(textIn(body.model) ?? '');
  if (caller.mode === 'chat' && !caller.stream && thinksInStreamsOnly) body.enable_thinking = false;
  return body;
};

/** Tokens of thinking that stand for what others say in a word. */
const efforts = new Map([
  ['low', 1280],
  ['medium', 2048],
  ['high', 4096],
]);

/**
 * `reasoning_effort` in the words these models know, unless the request says it in them already. As much as there is
 * (xhigh, max) is no budget at all. Words nobody knows stay, for the vendor to judge.
 */
const effortAsBudget: Edit = (body, { caller }) => {
  const effort = textIn(body.reasoning_effort);
  if (effort === null || caller.mode !== 'chat') return body;
  const refused = effort === 'none' || effort === 'minimal';
  const budget = efforts.get(effort);
  if (!refused && budget === undefined && effort !== 'xhigh' && effort !== 'max') return body;
  delete body.reasoning_effort;
  const said = (body.enable_thinking ?? body.thinking_budget ?? null) !== null;
  const { when, budgeted } = factsOf(textIn(body.model) ?? '').separateThinking;
  if (said || when === 'never') return body;
  // Those that always think have no switch.
  if (when !== 'always') body.enable_thinking = !refused;
  if (budget !== undefined && budgeted) body.thinking_budget = budget;
  return body;
};

const url = urlAt({
  chat: '/compatible-mode/v1/chat/completions',
  completions: '/compatible-mode/v1/completions',
  responses: '/compatible-mode/v1/responses',
  embeddings: '/compatible-mode/v1/embeddings',
});

/*
 * One model ranks at an address of the family (https://docs.qwencloud.com/api-reference/rerank/openai-rerank), the others
 * at one of the vendor's own (https://www.alibabacloud.com/help/en/model-studio/text-rerank-api).
 */
const ranksInFamily = (model: string): boolean => model.startsWith('qwen3-rerank');

const rerankUrl = ({ base, model }: Target): string =>
  ranksInFamily(model) ? `${base}/compatible-api/v1/reranks` : `${base}/api/v1/services/rerank/text-rerank/text-rerank`;

const nativeRerank: Edit = (body, { caller }) => {
  const { model, query, documents, ...parameters } = body;
  if (caller.mode !== 'rerank' || ranksInFamily(textIn(model) ?? '')) return body;
  return { model: model ?? null, input: { query: query ?? null, documents: documents ?? null }, parameters };
};

const rerankAnswered: OpenAiVariant['translate'] = (body, { mode }) => {
  const { output, request_id: id } = body;
  if (mode !== 'rerank' || !isObject(output)) return body;
  return { ...output, ...(id !== undefined && { id }), ...(body.usage !== undefined && { usage: body.usage }) };
};

function urlOf(target: Target): string {
  const { mode } = target.caller;
  if (mode === 'rerank') return rerankUrl(target);
  return mode === 'embeddings' && embedsPictures(target.model) ? pictureEmbeddingUrl(target) : url(target);
}

const family = openAi({
  minThinking: () => ({ reasoning_effort: 'none' }),
  url: urlOf,
  reshape: (body, target) => nativeRerank(pictureEmbedding(body, target), target),
  translate: (body, reading) =>
    (reading.mode === 'embeddings' ? vectorsAnswered : rerankAnswered)?.(body, reading) ?? body,
  headers: ({ channel, caller }) => ({
    ...(caller.stream && { 'x-dashscope-sse': 'enable' }),
    ...(channel.other.trim() !== '' && { 'x-dashscope-plugin': channel.other.trim().replace(/\s+/g, ' ') }),
  }),
  usageOnRequest: true,
  edits: [searching, boundedTopP(0.001, 0.999), effortAsBudget, thinkingOnlyInStreams],
});

export const dashscope: Provider = {
  ...usual,
  type: 17,
  name: 'Alibaba Tongyi Qianwen',
  defaultBaseUrl: 'https://dashscope.aliyuncs.com',
  defaultModels: modelList(`
    qwen3.7-max qwen3-max qwen3-max-preview qwen-plus qwen-plus-latest qwen-flash qwen-turbo qwen-turbo-latest
    qwen-max qwen-max-latest qwen-max-longcontext qwen3-235b-a22b qwen3-32b qwen3-30b-a3b qwen3-14b
    qwen3-next-80b-a3b-thinking qwen3-235b-a22b-thinking-2507 qwen3-30b-a3b-thinking-2507 qwq-plus qwq-plus-latest
    qwq-32b qwen-coder qwen3-coder-plus qwen3-coder-flash qwen-vl-max qwen-vl-plus text-embedding-v4 text-embedding-v3
    text-embedding-v2 text-embedding-v1 multimodal-embedding-v1 wanx-v1 wan2.5-t2i-preview wan2.6-t2i qwen-image-plus qwen-image-edit-plus qwen3-rerank gte-rerank-v2
  `),
  colour: 'orange',
  keyHint: 'API key',
  other: other('plugin settings as JSON, sent along with every call'),
  // https://help.aliyun.com/en/model-studio/compatibility-with-openai-responses-api: what it does not list it ignores.
  modes: ['chat', 'completions', 'responses', 'embeddings', 'rerank', ...imageModes],
  responsesBySetting: true,
  models: modelsAt('/compatible-mode/v1/models'),
  overheadRule: switchedByFlag,
  protocol: withImages(family, dashscopeImages),
};
