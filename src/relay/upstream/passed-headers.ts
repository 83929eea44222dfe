import type { IncomingHttpHeaders } from 'node:http';
import type { Confidential } from './confidential.js';

/* Headers of an upstream's answer that the caller gets too: those its dialect lists, and nothing that is not made like them. */

export interface PassedHeader {
  readonly from: string;
  /** Under which name the caller gets it: the gateway has some of these itself. */
  readonly to: string;
}

/** Ids by which an upstream's operator finds a request, whoever serves it. The first that is well-formed is passed. */
export const upstreamRequestIds: readonly PassedHeader[] = [
  ...['x-request-id', 'request-id', 'apim-request-id', 'x-amzn-requestid'].map((from) => ({
    from,
    to: 'x-upstream-request-id',
  })),
];

/** An id or a count; a duration such as `1m30.951s`; a time. A cookie, an address, a host or a page is made otherwise. */
const plain =
  /^(?:[\w-]{1,128}|\d[\da-z]{0,20}\.\d{1,12}[a-z]{0,2}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,12})?(?:Z|[+-]\d\d:\d\d))$/;

/** A run of so many characters that a value shares with a secret is no chance. */
const minShared = 8;
/** What is shorter is in many a number. */
const minSecret = 4;

function shares(value: string, secret: string): boolean {
  if (secret.length < minShared) return secret.length >= minSecret && value.includes(secret);
  for (let at = 0; at + minShared <= value.length; at++)
    if (secret.includes(value.slice(at, at + minShared))) return true;
  return false;
}

/** In small letters, for values are compared without regard to case. */
function secretsOf({ key, baseUrl, other, organization, proxy }: Confidential): readonly string[] {
  return [key, baseUrl, other, organization ?? '', proxy ?? ''].map((secret) => secret.toLowerCase());
}

/** Names and values in turn; null: there are none. */
export function passedHeaders(
  listed: readonly PassedHeader[],
  headers: IncomingHttpHeaders,
  channel: Confidential,
): readonly string[] | null {
  let passed: string[] | null = null;
  let secrets: readonly string[] | null = null;
  for (const { from, to } of listed) {
    const value = headers[from];
    if (typeof value !== 'string' || !plain.test(value) || passed?.includes(to)) continue;
    const lower = value.toLowerCase();
    secrets ??= secretsOf(channel);
    if (secrets.some((secret) => shares(lower, secret))) continue;
    passed ??= [];
    passed.push(to, value);
  }
  return passed;
}
