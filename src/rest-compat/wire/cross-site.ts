import type { FastifyRequest } from 'fastify';

/* Browsers let a page of any site send forms here, in the types a form can have, or in none. */

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);
const json = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i;

const form = /^application\/x-www-form-urlencoded *(?:;|$)/i;

/** Whether the request is one that may change something. */
export const isOrder = ({ method }: Pick<FastifyRequest, 'method'>): boolean => !safe.has(method);

/** Whether its body is declared as what a page of another site would have to ask permission for; or there is none. */
export function isJsonOrNone({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  return isEmpty || json.test(headers['content-type'] ?? '');
}

/** Whether its body is declared as a form. */
export const isForm = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  form.test(headers['content-type'] ?? '');
