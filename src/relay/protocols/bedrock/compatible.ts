import type { AnswerInput, Protocol, UpstreamChannel } from '../../contracts/protocol.js';
import { isObject, textIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { anthropicIn } from '../anthropic/anthropic.js';
import { messagesHeaders } from '../anthropic/headers.js';
import { pictureAddressesOf, withPictures } from '../anthropic/pictures.js';
import { openAi } from '../openai/openai.js';
import { openAiModelRules, urlAt } from '../openai/request.js';
import type { Edit } from '../openai/variant.js';
import type { InvokedAs } from './bedrock.js';
import { bedrockRefusal } from './failure.js';
import { confidentialIn, credentialsIn, isMantle, placed } from './key.js';
import { withoutProfile } from './makers.js';

/*
 * The interfaces of other houses that Amazon has beside its own: OpenAI's, below `/openai/v1` or, of its second engine,
 * `/v1`; and Anthropic's below `/anthropic`. The base URL of a channel names them.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/endpoints.html
 */

/** Which interface a base URL leads to; `runtime`: Amazon's own. */
export function interfaceAt(baseUrl: string): 'openai' | 'messages' | 'runtime' {
  const base = baseUrl.trim().replace(/\/+$/, '');
  if (/\/anthropic(\/v1)?$/.test(base)) return 'messages';
  return /\/v1$/.test(base) ? 'openai' : 'runtime';
}

/** Refusals are worded by Amazon or, behind it, by the interface. */
function refusalOfAmazon({ provider, channel, status, headers, body }: AnswerInput) {
  if (status >= 200 && status < 300) return null;
  const reported = upstreamJson(body);
  const named = headers['x-amzn-errortype'] !== undefined;
  const worded = isObject(reported) && reported.error === undefined && textIn(reported.message ?? reported.Message);
  return named || worded ? bedrockRefusal(status, headers, body, confidentialIn(provider, channel)) : null;
}

/** The same with the region taken off what is secret of its key, and at the place that its key names. */
const keyed = (channel: UpstreamChannel): UpstreamChannel => {
  const { region, ...secrets } = credentialsIn(channel);
  return { ...channel, key: Object.values(secrets).join('|') };
};

const signedFor = (wire: Protocol): Protocol => ({
  ...wire,
  request: (asked) => wire.request({ ...asked, channel: placed(asked.provider, asked.channel) }),
  answer(received) {
    const error = refusalOfAmazon(received);
    return error === null ? wire.answer({ ...received, channel: keyed(received.channel) }) : { ok: false, error };
  },
  stream: (opened) => wire.stream({ ...opened, channel: keyed(opened.channel) }),
});

/** A name has its maker before it, and may have a group of regions before that. */
const makerIn = (model: string): string => /^(?:[a-z-]{1,16}\.)?openai\./.exec(model)?.[0] ?? '';

/** What OpenAI's own models want goes by their bare names. */
const rulesOfOpenAi: readonly Edit[] = [
  (body, { model }) => ({ ...body, model: (textIn(body.model) ?? '').slice(makerIn(model).length) }),
  ...openAiModelRules,
  (body, { model }) => ({ ...body, model: makerIn(model) + (textIn(body.model) ?? '') }),
];

export const openAiAtBedrock: Protocol = signedFor(
  openAi({
    url: urlAt({ chat: '/chat/completions', responses: '/responses' }),
    authorize: () => ({}),
    newerLimit: true,
    usageOnRequest: true,
    copiesReasoning: true,
    edits: rulesOfOpenAi,
  }),
);

export function messagesAtBedrock(invokedAs: InvokedAs): Protocol {
  const idOf = (model: string, channel: UpstreamChannel): string => {
    const id = invokedAs(model, credentialsIn(channel).region);
    // Its second engine knows no groups of regions.
    return isMantle(channel.baseUrl) ? withoutProfile(id) : id;
  };
  const wire = anthropicIn({
    withoutSearch: true,
    url: ({ base, counts }) => `${base.replace(/\/v1$/, '')}/v1/messages${counts ? '/count_tokens' : ''}`,
    headers: ({ caller, asModel, betas, options }) => messagesHeaders(caller, asModel, betas, options),
    reshape: (body, { model, channel, options }) => ({
      ...withPictures(body, options.pictures),
      model: idOf(model, channel),
    }),
  });
  return { ...signedFor(wire), pictures: pictureAddressesOf };
}

/** What may be wrong with a base URL at which nothing is found; null: nothing is known. */
export const bedrockBaseHint = (baseUrl: string): string | null =>
  isMantle(baseUrl) && interfaceAt(baseUrl) === 'runtime'
    ? 'a base URL at bedrock-mantle ends in /v1, /openai/v1 or /anthropic'
    : null;
