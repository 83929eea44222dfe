import type { IncomingHttpHeaders } from 'node:http';
import type { UpstreamChannel } from '../protocols/protocol.js';

/* Headers of an upstream's answer that the caller gets too: those its dialect lists, and nothing that is not made like them. */

export interface PassedHeader {
  readonly from: string;
  /** Under which name the caller gets it: the gateway has some of these itself. */
  readonly to: string;
}

/** What a channel is reached by, and paid for with. */
export type Confidential = Pick<UpstreamChannel, 'key' | 'baseUrl' | 'other' | 'organization' | 'proxy'>;

/** An id or a count; a duration such as `1m30.951s`; a time. A cookie, an address, a host or a page is made otherwise. */
const plain =
  /^(?:[\w-]{1,128}|\d[\da-z]{0,20}\.\d{1,12}[a-z]{0,2}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,12})?(?:Z|[+-]\d\d:\d\d))$/;

/** A run of so many characters that a value shares with a secret is no chance. */
const telling = 8;
/** What is shorter is in many a number. */
const leastSecret = 4;

function shares(value: string, secret: string): boolean {
  if (secret.length < telling) return secret.length >= leastSecret && value.includes(secret);
  for (let at = 0; at + telling <= value.length; at++) if (secret.includes(value.slice(at, at + telling))) return true;
  return false;
}

function tells(value: string, { key, baseUrl, other, organization, proxy }: Confidential): boolean {
  const lower = value.toLowerCase();
  for (const secret of [key, baseUrl, other, organization, proxy])
    if (secret !== null && shares(lower, secret.toLowerCase())) return true;
  return false;
}

/** Names and values in turn; null: there are none. */
export function passedHeaders(
  listed: readonly PassedHeader[],
  headers: IncomingHttpHeaders,
  channel: Confidential,
): readonly string[] | null {
  let passed: string[] | null = null;
  for (const { from, to } of listed) {
    const value = headers[from];
    if (typeof value !== 'string' || !plain.test(value) || tells(value, channel)) continue;
    passed ??= [];
    passed.push(to, value);
  }
  return passed;
}
