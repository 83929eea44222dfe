import type { FastifyRequest } from 'fastify';

/* Browsers let a page of any site send forms here. Sign-in and set-up need no header of ours, so they need this. */

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

const hostIn = (origin: string): string => (URL.canParse(origin) ? new URL(origin).host : '');

/** A browser's order on behalf of a page that is not ours. Programs that bring their own credential are not meant. */
export function isForeignOrder({ method, headers, host }: FastifyRequest): boolean {
  if (safe.has(method) || headers.authorization !== undefined) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'cross-site';
  // Browsers that do not say, or do not trust plain http enough to say. A JSON body they would have asked about first.
  const { origin } = headers;
  const isJson = headers['content-type']?.toLowerCase().startsWith('application/json') ?? false;
  return origin !== undefined && !isJson && hostIn(origin) !== host;
}
