import type { IncomingHttpHeaders } from 'node:http';
import type { Credential } from '../../contracts/caller-dialect.js';

/* Where a caller's key stands in a request. */

const header = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? (value[0] ?? '') : (value ?? '');

/** Takes the key from where each dialect's clients put it: the dialect's own header wins over Authorization. */
function credentialText(path: string, headers: IncomingHttpHeaders, query: URLSearchParams): string {
  if (path.startsWith('/v1/messages') || path.startsWith('/v1/models')) {
    const key = header(headers['x-api-key']);
    if (key !== '') return key;
  }
  if (path.startsWith('/v1beta') || path.startsWith('/v1/models')) {
    const key = header(headers['x-goog-api-key']) || (query.get('key') ?? '');
    if (key !== '') return key;
  }
  const authorization = header(headers.authorization);
  const proxySecret = header(headers['mj-api-secret']);
  if (proxySecret !== '' && (authorization === '' || authorization === 'midjourney-proxy')) return proxySecret;
  return authorization;
}

export function readCredential(path: string, headers: IncomingHttpHeaders, query: URLSearchParams): Credential | null {
  const text = credentialText(path, headers, query)
    .trim()
    .replace(/^Bearer\s+/i, '')
    .replace(/^Bearer$/i, '')
    .replace(/^sk-/, '');
  if (text === '') return null;
  const [key = '', pinnedChannel] = text.split('-');
  return { key, pinnedChannel: pinnedChannel === undefined || pinnedChannel === '' ? null : pinnedChannel };
}
