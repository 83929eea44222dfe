import { type Mode, other, soundModes, usual } from '../../domain/channel/provider.js';
import { openAiModels } from '../catalogue/openai-models.js';
import { NotConvertible, type Provider, type UpstreamChannel } from '../contracts/protocol.js';
import { pathSegment } from '../protocols/model-address.js';
import { modelsAt } from '../protocols/models.js';
import { openAi } from '../protocols/openai/openai.js';
import { cloudflareGateway, openAiModelRules } from '../protocols/openai/request.js';
import type { Target } from '../protocols/openai/variant.js';
import { notServed } from '../protocols/request-builder.js';
import { openAiVideos } from '../protocols/video/openai-videos.js';

const tasks: Readonly<Record<Mode, string | null>> = {
  chat: 'chat/completions',
  completions: 'completions',
  responses: null,
  embeddings: 'embeddings',
  speech: 'audio/speech',
  transcription: 'audio/transcriptions',
  translation: 'audio/translations',
  counting: null,
  task: null,
};

const apiVersion = ({ caller, channel, options }: Target): string =>
  caller.query.get('api-version') || channel.other.trim() || options.azureDefaultApiVersion;

/** Deployments cannot be called gpt-3.5; later names with a dot are allowed and must keep it. */
const deployment = (model: string): string => model.replace(/^gpt-3\.5/, 'gpt-35');

/** The first version of the interface with Responses that was no version 1 of it. */
const firstDated = '2025-03-01';

/** Version 1 of the interface, which needs no date; the dated one for who names it. The body names the deployment. */
function responsesUrl({ base, caller, channel }: Target): string {
  // The gateway's address is that of a deployment.
  if (base.startsWith(cloudflareGateway)) throw notServed(caller.mode);
  const named = caller.query.get('api-version') || channel.other.trim();
  const query = `?api-version=${encodeURIComponent(named)}`;
  if (/^\d/.test(named)) return named < firstDated ? `${base}/openai/v1/responses` : `${base}/openai/responses${query}`;
  return `${base}/openai/v1/responses${named === '' ? '' : query}`;
}

const url = (target: Target): string => {
  const { base, model, caller } = target;
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
  const named = other.trim();
  const query = named === '' || /^\d/.test(named) ? '' : `?api-version=${encodeURIComponent(named)}`;
  return `${baseUrl.replace(/\/+$/, '')}/openai/v1/videos${query}`;
}

/** What can be called are deployments; only this version of the interface lists them with the key of a resource. */
const models = modelsAt('/openai/deployments?api-version=2023-03-15-preview', {
  headers: ({ key }) => ({ 'api-key': key }),
});

export const azure: Provider = {
  ...usual,
  type: 3,
  name: 'Azure OpenAI',
  defaultBaseUrl: '',
  defaultModels: openAiModels,
  colour: 'teal',
  keyHint: 'API key of the resource',
  other: other('API version when the caller names none, e.g. 2024-12-01-preview'),
  modes: ['chat', 'completions', 'responses', 'embeddings', ...soundModes, 'task'],
  models,
  protocol: openAi({
    newerLimit: true,
    url,
    authorize: ({ channel }) => ({ 'api-key': channel.key.trim() }),
    // Versions are dates; those before this one refuse the option.
    usageOnRequest: (target) => apiVersion(target) >= '2024-09-01',
    edits: openAiModelRules,
  }),
  ...openAiVideos({ collection: videosUrl, headers: ({ key }) => ({ 'api-key': key.trim() }) }),
};
