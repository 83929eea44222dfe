import type { UpstreamBody } from '../upstream/upstream.js';
import { WholeJson } from '../upstream/whole-json.js';
import type { AnswerToRead } from './answer-reading.js';

/* The bytes of an answer: how it begins, and all of one that is JSON. */

/** So long it is waited for what may follow a whole JSON value. */
export const settledMs = 2_000;

export const nothing = Buffer.alloc(0);

const lineFeed = 10;
const carriageReturn = 13;
const blank = new Set([0x20, 0x09, lineFeed, carriageReturn, 0xef, 0xbb, 0xbf]);
const opensJson = new Set([0x7b, 0x5b]);

/** Blanks before an answer; more of them are no answer. */
const maxBlanks = 64 * 1024;

/** The first of a body, and whether it begins as JSON does, which no stream can. */
export async function beginningOf(body: UpstreamBody): Promise<{ bytes: Buffer; json: boolean }> {
  let bytes: Buffer = Buffer.alloc(0);
  for (;;) {
    const next = await body.next();
    if (!next.done) bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value]);
    const first = bytes.find((byte) => !blank.has(byte));
    if (first !== undefined) return { bytes, json: opensJson.has(first) };
    if (next.done || bytes.length > maxBlanks) return { bytes, json: false };
  }
}

/** All of an answer that is to be JSON. Who asked for a stream does not wait for half of a value as long as others. */
export async function restOfJson(
  { maxBytes, slot, patience: { idleMs, unseenMs }, caller }: AnswerToRead,
  body: UpstreamBody,
  begun: Buffer,
): Promise<Buffer> {
  const json = new WholeJson({ settledMs, idleMs: caller.stream ? idleMs : Math.max(idleMs, unseenMs) });
  json.begin(begun);
  const rest = await body.whole(maxBytes - begun.length, slot, json);
  return json.valueOf(begun.length === 0 ? rest : Buffer.concat([begun, rest]));
}
