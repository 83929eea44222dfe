import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Failure } from '../../domain/kernel/failure.js';
import { maxListLength, type Steps } from '../../domain/pricing/sources/list-json.js';
import type { Outbound, OutboundFailure } from '../ports/outbound-ports.js';

/* Gets the text of a price list, and does long work on it in slices, so that calls go on beside it. */

const timeoutMs = 60_000;
/** Each hop is looked at by the guard. */
const redirects = 3;

const reasons: Readonly<Record<OutboundFailure, string>> = {
  'address-invalid': 'the address is not valid, or holds credentials',
  'http-refused': 'the address must begin with https://',
  blocked: 'the address is not public, and not among the allowed networks',
  unreachable: 'the address cannot be reached',
  'timed-out': 'there was no whole answer in time',
  'too-large': 'the answer is too large',
  'redirect-refused': 'it redirects too often, or to where it must not',
  unreadable: 'the answer cannot be decompressed',
};

const failed = (reason: string): Failure => new Failure('price-source-failed', { reason });

/** Throws `price-source-failed` with a `reason` that repeats nothing of the answer. */
export async function fetchPriceList(outbound: Outbound, url: string): Promise<string> {
  const headers = { accept: 'application/json', 'accept-encoding': 'gzip' };
  const answer = await outbound.fetch({ url, headers, timeoutMs, maxBytes: maxListLength, redirects });
  if (!answer.ok) throw failed(reasons[answer.reason]);
  if (answer.status !== 200) throw failed(`status ${answer.status}`);
  return answer.body.toString();
}

const unzip = promisify(gunzip);

/** Of a file that was sent as base64 of gzip. Throws `price-list-unreadable`. */
export async function unzippedText(base64: string): Promise<string> {
  try {
    return (await unzip(Buffer.from(base64, 'base64'), { maxOutputLength: maxListLength })).toString();
  } catch {
    throw new Failure('price-list-unreadable', { reason: `it is no gzip of at most ${maxListLength} bytes` });
  }
}

/** Milliseconds of work between two pauses. */
const sliceMs = 10;
const pause = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** The result of the steps, with room for everything else between them. */
export async function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  let began = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (performance.now() - began < sliceMs) continue;
    await pause();
    began = performance.now();
  }
}
