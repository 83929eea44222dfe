import type { Endpoint } from '../../../contracts/endpoint.js';
import { responses } from './responses.js';

const { inChat: _, inBackground: __, ...own } = responses;

/** How many tokens the input of a response has. A response may be counted that is not asked for. */
export const responsesInputTokens: Endpoint = {
  ...own,
  path: '/v1/responses/input_tokens',
  below: 'input_tokens',
  asksForStream: () => false,
};
