import type { Endpoint } from '../../../contracts/endpoint.js';
import { messages } from './messages.js';

/** How many tokens a request has. Any channel that could answer it may be asked. */
export const anthropicCountTokens: Endpoint = { ...messages, path: '/v1/messages/count_tokens' };
