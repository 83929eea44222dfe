import type { IncomingHttpHeaders } from 'node:http';

/* Headers of an upstream's answer that the caller gets too: those its dialect lists, and nothing that is not made like them. */

export interface PassedHeader {
  readonly from: string;
  /** Under which name the caller gets it: the gateway has some of these itself. */
  readonly to: string;
}

/** A count, a duration, a time or an id; a cookie, an address or a page is made otherwise. */
const plain = /^[\w.:+-]{1,128}$/;

/** Names and values in turn; null: there are none. `key`: of the channel, which no upstream is to repeat to callers. */
export function passedHeaders(
  listed: readonly PassedHeader[],
  headers: IncomingHttpHeaders,
  key: string,
): readonly string[] | null {
  let passed: string[] | null = null;
  for (const { from, to } of listed) {
    const value = headers[from];
    if (typeof value !== 'string' || !plain.test(value) || value.includes(key)) continue;
    passed ??= [];
    passed.push(to, value);
  }
  return passed;
}
