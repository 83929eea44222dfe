import { imageModes, type Mode, other, soundModes, usual } from '../../domain/channel/provider.js';
import { openAiModels } from '../catalogue/openai-models.js';
import { NotConvertible, type Provider, type UpstreamChannel } from '../contracts/protocol.js';
import { textIn } from '../json/json.js';
import { pathSegment, wholeSegment } from '../protocols/model-address.js';
import { type ModelsWire, modelsAt } from '../protocols/models.js';
import { openAi } from '../protocols/openai/openai.js';
import { speaksBeta, withModelNamed } from '../protocols/openai/realtime-request.js';
import { cloudflareGateway, openAiModelRules } from '../protocols/openai/request.js';
import type { Edit, Target } from '../protocols/openai/variant.js';
import { notServed } from '../protocols/request-builder.js';
import { openAiVideos } from '../protocols/video/openai-videos.js';

/*
 * https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle: version 1 of the interface lies below
 * `/openai/v1`, of a resource of Azure OpenAI's or of Foundry's, and needs no dated version. A channel whose base URL ends
 * with this is asked there, in every mode; others by deployments.
 */
const isVersion1 = (base: string): boolean => /\/openai\/v1\/*$/.test(base);

const tasks: Readonly<Record<Mode, string | null>> = {
  chat: 'chat/completions',
  completions: 'completions',
  responses: null,
  embeddings: 'embeddings',
  speech: 'audio/speech',
  transcription: 'audio/transcriptions',
  translation: 'audio/translations',
  rerank: null,
  moderation: null,
  'image-generation': 'images/generations',
  'image-edit': 'images/edits',
  realtime: null,
  counting: null,
  task: null,
};

const apiVersion = ({ caller, channel, options }: Target): string =>
  caller.query.get('api-version') || channel.other.trim() || options.azureDefaultApiVersion;

/** Deployments cannot be called gpt-3.5; later names with a dot are allowed and must keep it. */
const deployment = (model: string): string => model.replace(/^gpt-3\.5/, 'gpt-35');

/** In version 1 the body names the deployment. */
const namedDeployment: Edit = (body, { base }) =>
  isVersion1(base) ? { ...body, model: deployment(textIn(body.model) ?? '') } : body;

/** Of version 1, where a dated one would be refused: only another word, such as `preview`. */
const queryOfVersion1 = (named: string): string =>
  named === '' || /^\d/.test(named) ? '' : `?api-version=${encodeURIComponent(named)}`;

const namedVersion = ({ caller, channel }: Target): string => caller.query.get('api-version') || channel.other.trim();

function urlOfVersion1(target: Target): string {
  const { base, caller } = target;
  const path = caller.mode === 'responses' ? 'responses' : tasks[caller.mode];
  if (path === null) throw notServed(caller.mode);
  return `${base}/${path}${queryOfVersion1(namedVersion(target))}`;
}

/** The first version of the interface with Responses that was no version 1 of it. */
const firstDated = '2025-03-01';

/** Version 1 of the interface, which needs no date; the dated one for who names it. The body names the deployment. */
function responsesUrl(target: Target): string {
  const { base, caller } = target;
  // The gateway's address is that of a deployment.
  if (base.startsWith(cloudflareGateway)) throw notServed(caller.mode);
  const named = namedVersion(target);
  if (/^\d/.test(named) && named >= firstDated)
    return `${base}/openai/responses?api-version=${encodeURIComponent(named)}`;
  return `${base}/openai/v1/responses${queryOfVersion1(named)}`;
}

/**
 * https://learn.microsoft.com/azure/foundry/openai/how-to/realtime-audio-websockets: version 1 names the deployment as the
 * model; a dated version serves the words of the beta.
 */
function realtimeUrl(target: Target): string {
  const { base, model, caller } = target;
  // The gateway's address is that of a deployment.
  if (base.startsWith(cloudflareGateway)) throw notServed(caller.mode);
  const named = namedVersion(target);
  if (!isVersion1(base) && (/^\d/.test(named) || (named === '' && speaksBeta(caller.headers)))) {
    const version = encodeURIComponent(apiVersion(target));
    return `${base}/openai/realtime?api-version=${version}&deployment=${wholeSegment(deployment(model))}`;
  }
  const root = isVersion1(base) ? base : `${base}/openai/v1`;
  return withModelNamed(`${root}/realtime${queryOfVersion1(named)}`, deployment(model));
}

const url = (target: Target): string => {
  const { base, model, caller } = target;
  if (caller.mode === 'realtime') return realtimeUrl(target);
  if (isVersion1(base)) return urlOfVersion1(target);
  if (caller.mode === 'responses') return responsesUrl(target);
  const task = tasks[caller.mode];
  if (task === null) throw notServed(caller.mode);
  const root = base.startsWith(cloudflareGateway) ? base : `${base}/openai/deployments`;
  const version = encodeURIComponent(apiVersion(target));
  return `${root}/${pathSegment(deployment(model))}/${task}?api-version=${version}`;
};

/** Version 1 of the interface has them, and no dated one. */
function videosUrl({ baseUrl, other }: UpstreamChannel): string {
  if (baseUrl.startsWith(cloudflareGateway)) throw notServed('task');
  if (baseUrl === '') throw new NotConvertible('channel', 'this channel has no base URL');
  const base = baseUrl.replace(/\/+$/, '');
  return `${isVersion1(base) ? base : `${base}/openai/v1`}/videos${queryOfVersion1(other.trim())}`;
}

/** A token of Entra's is a signed JWT; a key of a resource has no dots. */
const authorization = ({ key }: Pick<UpstreamChannel, 'key'>): Record<string, string> => {
  const shown = key.trim();
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(shown) ? { authorization: `Bearer ${shown}` } : { 'api-key': shown };
};

/** What can be called are deployments; only this version of the interface lists them with the key of a resource. */
const deployments = modelsAt('/openai/deployments?api-version=2023-03-15-preview', { headers: authorization });

const models: ModelsWire = (queries) => deployments({ ...queries, base: queries.base.replace(/\/openai\/v1\/*$/, '') });

export const azure: Provider = {
  ...usual,
  type: 3,
  name: 'Azure OpenAI',
  defaultBaseUrl: '',
  defaultModels: openAiModels,
  colour: 'teal',
  keyHint: 'API key of the resource, or a token of Entra ID',
  other: other('API version when the caller names none, e.g. 2024-12-01-preview'),
  modes: ['chat', 'completions', 'responses', 'embeddings', ...soundModes, ...imageModes, 'realtime', 'task'],
  models,
  protocol: openAi({
    newerLimit: true,
    url,
    authorize: ({ channel }) => authorization(channel),
    // Versions are dates; those before this one refuse the option.
    usageOnRequest: (target) => isVersion1(target.base) || apiVersion(target) >= '2024-09-01',
    edits: openAiModelRules,
    reshape: namedDeployment,
  }),
  ...openAiVideos({ collection: videosUrl, headers: authorization }),
};
