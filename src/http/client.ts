import type { IncomingHttpHeaders } from 'node:http';
import { rateLimitKey } from './client-network.js';
import { languageIn } from './language.js';

/** Where a request comes from and what sent it, as far as that can be known; `address`: the client's. */
export const clientOf = (address: string, headers: IncomingHttpHeaders) => ({
  network: rateLimitKey(address),
  userAgent: headers['user-agent'] ?? '',
  language: languageIn(headers['accept-language']),
});
