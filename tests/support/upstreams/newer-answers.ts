import type { JsonObject } from '../../../src/relay/json/json.js';
import { openAiForm } from './bedrock-answers.js';
import { eventsOf, lastEventOf, messageItem, reportedUsage, responseOf } from './responses-answers.js';
import { serviceAccountDocument } from './vertex-upstream.js';
import { saidByAll, type WireAnswers } from './wire-answers.js';

/* The newer interfaces of Azure and Vertex, and Perplexity's, for the journey over all wires. */

const token = 'ya29.wire-token';
export const grantedToken = JSON.stringify({ access_token: token, expires_in: 3599, token_type: 'Bearer' });

const response = responseOf([messageItem(saidByAll)], { usage: reportedUsage(1_000, 50, { cached: 100 }) });
const refusal = (message: string): JsonObject => ({ error: { message, type: 'some_error' } });

/** A chat that is put by Responses. */
const byResponses = {
  whole: response,
  stream: [...eventsOf(response), lastEventOf(response)],
  // Words stand in the events before them too, and an item that is whole says all of them again.
  endFrames: 4,
  refusal,
  cached: 100,
};

const azureKey = 'azure-key-0123456789';
const azure = { type: 3, key: azureKey, basePath: '/openai/v1', shownIn: ['api-key', azureKey] } as const;
const location = '/v1/projects/proj-test-1/locations/us-central1';
const vertex = {
  ...{ type: 41, key: token, other: 'us-central1' },
  keyAt: (upstreamUrl: string) => serviceAccountDocument(`${upstreamUrl}/token`),
};
const google = (message: string): JsonObject => ({ error: { code: 400, message, status: 'SOME_ERROR' } });

export const newerAnswers: readonly WireAnswers[] = [
  { ...openAiForm, ...azure, model: 'azure-wire', path: '/openai/v1/chat/completions' },
  {
    ...byResponses,
    ...azure,
    ...{ model: 'azure-wire-by-responses', setting: '{"responses_only":true}', path: '/openai/v1/responses' },
  },
  {
    ...openAiForm,
    ...vertex,
    model: 'maker/wire-maas',
    path: `${location}/endpoints/openapi/chat/completions`,
    refusal: google,
  },
  {
    ...byResponses,
    ...vertex,
    ...{ model: 'gpt-5-wire', completion: 8, path: `${location}/publishers/openai/v1/responses`, refusal: google },
  },
  {
    ...byResponses,
    ...{ type: 27, key: 'pplx-0123456789abcdef', model: 'perplexity-wire', basePath: '/v1/agent' },
    path: '/v1/agent',
  },
];
