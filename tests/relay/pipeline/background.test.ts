import { beforeEach, describe, expect, test } from 'vitest';
import type { BackgroundCall } from '../../../src/application/ports/background-call-ports.js';
import type { Got, StreamReading } from '../../../src/relay/answers/answer-reading.js';
import type { Generated } from '../../../src/relay/contracts/protocol.js';
import { responses } from '../../../src/relay/dialects/openai/endpoints/responses.js';
import { serveBackground } from '../../../src/relay/pipeline/background.js';
import { SeenText } from '../../../src/relay/text/seen-text.js';
import { Lost } from '../../../src/relay/upstream/upstream-response.js';
import { MemoryConnection } from '../../support/callers/memory-connection.js';
import { givenAnswered } from '../../support/given/call-contexts.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';

/** Takes what it is sent when a test says so, and announces no end of that, as Node does for few bytes. */
class SlowConnection extends MemoryConnection {
  override write(bytes: Buffer | string): boolean {
    this.pending += bytes.length;
    return super.write(bytes);
  }

  override drained(): Promise<void> {
    return new Promise(() => {});
  }
}

let begun: BackgroundCall[];
let watched: unknown[];

/** Gives its id, and breaks off. */
const brokenStream = (): Got => {
  const generated: Generated = {
    ...{ said: new SeenText(), toolCalls: 0, finishReason: null, runsOn: true },
    kept: [{ kind: 'response', id: 'resp_1' }],
  };
  const decoder = {
    ...{ generated, usage: null, unfinished: 0, progress: 1, begun: true },
    push: (bytes: Buffer) => ({ bytes, error: null, finished: false }),
    end: () => ({ bytes: null, error: null, finished: true }),
    closing: () => Buffer.from('[closing]'),
  };
  const reading = {
    ...{ decoder, first: { bytes: Buffer.from('[id]'), finished: false }, slot: { hold: () => null } },
    ...{ cancel() {}, staysOpen: false },
    chunks: {
      next: async () => {
        throw new Lost('network');
      },
    },
  } as unknown as StreamReading;
  return { kind: 'stream', reading };
};

function served(connection: MemoryConnection) {
  const ports = {
    clock: settableClock(someInstant),
    config: { callerGoneMs: 1000 },
    log: { info() {}, warn() {}, error() {} },
    stalledCallers: { watch: (one: unknown) => void watched.push(one) },
    background: { begin: async (call: BackgroundCall) => void begun.push(call) },
  } as unknown as Parameters<typeof serveBackground>[0];
  const call = givenAnswered(brokenStream(), { endpoint: responses, connection, resolution: { background: true } });
  return serveBackground(ports, call);
}

beforeEach(() => {
  begun = [];
  watched = [];
});

describe('a stream in the background that its upstream breaks off', () => {
  test('is broken off for its caller once they have taken what was written, and is watched until then', async () => {
    const connection = new SlowConnection();
    let isServed = false;
    const serving = served(connection).finally(() => {
      isServed = true;
    });
    await expect.poll(() => watched).toEqual([connection]);
    expect([connection.text, connection.brokenOff, isServed]).toEqual(['[id]', false, false]);
    connection.pending = 0;
    expect(await serving).toBe(false);
    expect([connection.text, connection.brokenOff, connection.ended]).toEqual(['[id]', true, true]);
    expect(begun).toMatchObject([{ callId: 'r1', responseId: 'resp_1' }]);
  });

  test('ends without a word where its caller reads nothing and is given up', async () => {
    const connection = new SlowConnection();
    const serving = served(connection);
    await expect.poll(() => watched).toEqual([connection]);
    connection.giveUp();
    expect(await serving).toBe(false);
    expect(connection.brokenOff).toBe(false);
  });

  test('is broken off at once for a caller that has taken all', async () => {
    const connection = new MemoryConnection();
    expect(await served(connection)).toBe(false);
    expect([connection.text, connection.brokenOff, watched.length]).toEqual(['[id]', true, 0]);
  });
});
