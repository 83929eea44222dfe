import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import { NotConvertible, type Provider } from '../contracts/protocol.js';
import { isList, type JsonObject } from '../json/json.js';
import { alternating } from '../protocols/openai/alternating.js';
import { openAi } from '../protocols/openai/openai.js';
import { perplexityCost } from '../protocols/openai/reported-cost.js';
import { boundedTopP, cloudflareGateway, urlAt } from '../protocols/openai/request.js';
import type { Edit } from '../protocols/openai/variant.js';
import { asAgentRun, withoutSonarMembers } from '../protocols/perplexity-agent.js';

/** What it understands besides the members that begin with one of these words. */
const known = new Set(
  ['model', 'messages', 'stream', 'temperature', 'top_p', 'top_k', 'max_tokens', 'response_format'].concat([
    'presence_penalty',
    'frequency_penalty',
    'reasoning_effort',
    'language_preference',
    'stream_mode',
  ]),
);
const families = /^(search|web_search|return|image|last_updated|disable|enable|media)_/;

const knownMembers: Edit = (body) => {
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(body)) if (known.has(name) || families.test(name)) kept[name] = value;
  return kept;
};

/** Throws NotConvertible: what is left out would change what is answered. */
const withoutTools: Edit = (body) => {
  for (const name of ['tools', 'functions'])
    if (isList(body[name]) && body[name].length > 0)
      throw new NotConvertible('caller', `${name}: this provider calls no tools`);
  return body;
};

/** An address of the Agent API itself, by either of its names. */
const isAgents = /\/(agent|responses)$/;

const path = urlAt({ chat: '/chat/completions', responses: '/v1/responses' });

/**
 * The vendor has its Agent API alone. Resellers, and whoever else has such models behind an address of their own, go on with
 * the chat that Sonar had.
 */
const isVendors = (baseUrl: string): boolean =>
  baseUrl === '' ||
  isAgents.test(baseUrl) ||
  baseUrl.startsWith(cloudflareGateway) ||
  /^https:\/\/api\.perplexity\.ai(\/|$)/i.test(baseUrl);

/** Edits of Sonar's chat, or of one that is put to the Agent API. */
const sonarOr =
  (agent: Edit, ...sonar: readonly Edit[]): Edit =>
  (body, target) => {
    if (target.channel.responsesOnly === true) return agent(body, target);
    return sonar.reduce((edited, edit) => edit(edited, target), body);
  };

export const perplexity: Provider = {
  ...usual,
  type: 27,
  name: 'Perplexity',
  defaultBaseUrl: 'https://api.perplexity.ai',
  defaultModels: modelList(`
    sonar sonar-pro sonar-reasoning sonar-reasoning-pro sonar-deep-research llama-3-sonar-small-32k-chat
    llama-3-sonar-small-32k-online llama-3-sonar-large-32k-chat llama-3-sonar-large-32k-online llama-3-8b-instruct
    llama-3-70b-instruct mixtral-8x7b-instruct
  `),
  colour: 'blue',
  keyHint: 'API key',
  modes: ['chat'],
  responsesAlone: isVendors,
  protocol: openAi({
    // https://docs.perplexity.ai/docs/grounded-llm/openai-compatibility
    url: (target) => (isAgents.test(target.base) ? target.base : path(target)),
    edits: [sonarOr(withoutSonarMembers, withoutTools, knownMembers, alternating, boundedTopP(0, 0.99))],
    reshapeResponses: asAgentRun,
    cost: perplexityCost,
  }),
};
