import { imageModes, other, usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import { NotConvertible, type Protocol, type Provider, type StreamInput } from '../contracts/protocol.js';
import { thinksByName } from '../protocols/anthropic/thinking.js';
import { openAi } from '../protocols/openai/openai.js';
import { openAiModelRules, urlAt, without } from '../protocols/openai/request.js';
import type { Edit } from '../protocols/openai/variant.js';
import { vertexClaude } from '../protocols/vertex/claude.js';
import { vertexEmbeddings } from '../protocols/vertex/embeddings.js';
import { vertexGemini } from '../protocols/vertex/gemini.js';
import { atItsLocation } from '../protocols/vertex/location.js';
import { withGoogleRefusals } from '../protocols/vertex/refusals.js';
import { byServiceAccount, serviceAccountKey } from '../protocols/vertex/service-account.js';
import { vertexVideos } from '../protocols/video/vertex-videos.js';

/* Many makers' models in one place, each asked in its maker's words. */

const isClaude = (model: string): boolean => model.startsWith('claude');

/** The maker is a part of the name. */
const named: Edit = (body, { model }) => {
  if (model.includes('/')) return body;
  return { ...body, model: `${/-e5-/.test(model) ? 'intfloat' : 'meta'}/${model}` };
};

/** Vectors are encoded here when a caller wants them so. */
const plainVectors: Edit = (body, target) =>
  target.caller.mode === 'embeddings' ? without('encoding_format', 'user')(body, target) : body;

/** Models of others that run as a service, and the older ones that are called by their names alone. */
const asService = withGoogleRefusals(
  openAi({
    // Grok has both: https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/partner-models/grok/responses
    // Vectors of the E5 family: https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/maas/use-open-models
    url: urlAt({
      chat: '/endpoints/openapi/chat/completions',
      responses: '/endpoints/openapi/responses',
      embeddings: '/endpoints/openapi/embeddings',
    }),
    edits: [plainVectors],
    authorize: () => ({}),
    reshape: named,
    copiesReasoning: true,
  }),
);

/** OpenAI's own models there, and not those with open weights: they have the Responses API alone. */
const isOpenAisOwn = (model: string): boolean => /^(openai\/)?(gpt-\d|o\d)/.test(model) && !model.endsWith('-maas');

/** https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/partner-models/openai/responses */
const openAisOwn = withGoogleRefusals(
  openAi({
    url: urlAt({ responses: '/publishers/openai/v1/responses' }),
    authorize: () => ({}),
    newerLimit: true,
    edits: openAiModelRules,
  }),
);

const embeddings: Protocol = { ...vertexGemini, ...vertexEmbeddings };

/** A name that is none stands for what is kept there: that is OpenAI's. Throws NotConvertible. */
function responsesWireOf(model: string): Protocol {
  if (model === '' || isOpenAisOwn(model)) return openAisOwn;
  if (model.includes('/')) return asService;
  throw new NotConvertible('caller', 'this provider has the Responses API for models of OpenAI and xAI only');
}

function wireOf(model: string): Protocol {
  if (isClaude(model)) return vertexClaude;
  if (isOpenAisOwn(model)) return openAisOwn;
  if (model.includes('/') || model.includes('llama') || model.endsWith('-maas')) return asService;
  // The newest of these is asked as other models are.
  if (/embedding|gecko/.test(model) && !model.startsWith('gemini-embedding-2')) return embeddings;
  return vertexGemini;
}

const placed = <Call extends Omit<StreamInput, 'info'>>(call: Call, model: string): Call => ({
  ...call,
  channel: {
    ...atItsLocation(call.channel, call.caller),
    ...(isOpenAisOwn(model) && { responsesOnly: true }),
  },
});

const wireFor = ({ caller }: Pick<StreamInput, 'caller'>, model: string): Protocol =>
  caller.mode === 'responses' ? responsesWireOf(model) : wireOf(model);

const protocol: Protocol = {
  switchedTools: (model) => wireOf(model).switchedTools?.(model) ?? new Set(),
  hostedSearch: (model) => wireOf(model).hostedSearch?.(model) ?? null,
  pictures: (asked) => wireOf(asked.model).pictures?.(asked) ?? [],
  request: (asked) => wireFor(asked, asked.model).request(placed(asked, asked.model)),
  answer: (received) => wireFor(received, received.info.model).answer(placed(received, received.info.model)),
  stream: (opened) => wireFor(opened, opened.info.model).stream(placed(opened, opened.info.model)),
};

export const googleVertex: Provider = {
  ...usual,
  type: 41,
  name: 'Vertex AI',
  defaultBaseUrl: '',
  defaultModels: modelList(`
    claude-opus-5-5 claude-fable-5-1 gemini-3.8-flash
    claude-fable-5 claude-sonnet-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-sonnet-4-6
    claude-opus-4-5@20251101 claude-sonnet-4-5@20250929 claude-opus-4-1@20250805 claude-opus-4@20250514
    claude-sonnet-4@20250514 claude-3-7-sonnet-20250219 claude-3-5-sonnet-20241022 gemini-3.7-flash gemini-3.6-flash
    gemini-3.5-flash gemini-3.5-flash-lite gemini-3.1-pro-preview gemini-3-pro-preview gemini-3-flash-preview
    gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite gemini-2.0-flash gemini-2.0-flash-001 gemini-2.0-flash-lite
    gemini-embedding-001 text-embedding-005 text-multilingual-embedding-002
    meta/llama-4-maverick-17b-128e-instruct-maas meta/llama-4-scout-17b-16e-instruct-maas openai/gpt-oss-120b-maas
    deepseek-ai/deepseek-v3.2-maas intfloat/multilingual-e5-large-instruct-maas
    intfloat/multilingual-e5-small-maas xai/grok-4.20-reasoning multimodalembedding@001 claude-3-sonnet-20240229 claude-3-opus-20240229 claude-3-haiku-20240307
    claude-3-5-sonnet-20240620 gemini-1.5-pro-latest gemini-1.5-flash-latest gemini-1.5-pro-001 gemini-1.5-flash-001
    gemini-pro gemini-pro-vision meta/llama3-405b-instruct-maas gemini-1.5-pro-002 gemini-1.5-flash-002
  `),
  colour: 'blue',
  keyHint: 'service account as JSON',
  keyForm: serviceAccountKey,
  documentKey: true,
  other: other('region, or a JSON object of regions by model with a default', { region: true }),
  // Each publisher's is at a place of its own, and none says what this account may ask for.
  listsModels: false,
  modes: ['chat', 'responses', 'embeddings', 'counting', ...imageModes, 'task'],
  responsesBySetting: true,
  protocol,
  ...vertexVideos,
  authorisation: byServiceAccount,
  overheadRule: (body, names) => thinksByName(body, new Set([...names].filter(isClaude))),
};
