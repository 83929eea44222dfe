import { gzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { describe, expect, test } from 'vitest';
import { UpstreamResponse } from '../../../src/relay/upstream/upstream-response.js';

/** The client's side of a request that it has finished: nothing can be aborted any more. */
const finished = { paused: false, pause() {}, resume() {}, abort() {} } as unknown as Dispatcher.DispatchController;

describe('an answer that is no longer wanted', () => {
  test.each([
    ['plain', {}, (text: string) => Buffer.from(text)],
    ['packed', { 'content-encoding': 'gzip' }, gzipSync],
  ] as const)('releases its reader also when it has arrived whole, %s', async (_how, headers, pack) => {
    const exchange = new UpstreamResponse(
      () => {},
      () => {},
    );
    exchange.onRequestStart(finished);
    exchange.onResponseStart(finished, 200, headers);
    exchange.onResponseData(finished, pack('data: 1\n\n'));
    exchange.onResponseEnd();
    exchange.cancel();
    const pieces: string[] = [];
    await (async () => {
      for (let next = await exchange.next(); next.done !== true; next = await exchange.next())
        pieces.push(next.value.toString());
    })().catch((error: Error) => pieces.push(error.message));
    expect(pieces.length).toBeGreaterThan(0);
  });
});
