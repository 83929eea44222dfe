import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import type { AnswerStream } from '../../../src/relay/contracts/protocol.js';
import { HttpCaller } from '../../../src/relay/delivery/http-caller.js';
import { pump } from '../../../src/relay/delivery/pump.js';
import type { StalledCallers } from '../../../src/relay/delivery/stalled-callers.js';
import { openAiCaller } from '../../../src/relay/dialects/openai/dialect.js';
import { SeenText } from '../../../src/relay/text/seen-text.js';

/** What is let go of is gone after one or two, as soon as its bytes have left. */
const maxCollections = 50;

/** Hands on what it is pushed. */
const asItComes = {
  generated: { said: new SeenText(), toolCalls: 0, finishReason: 'stop' },
  unfinished: 0,
  push: (bytes: Buffer) => ({ bytes, error: null, finished: false }),
  end: () => ({ bytes: null, error: null, finished: true }),
} as unknown as AnswerStream;

/** Three pieces, then nothing until `end`. `kept`: how many of those that came somebody still refers to. */
class Upstream {
  private readonly came: WeakRef<Buffer>[] = [];
  private readonly texts = ['first ', 'second ', 'third '];
  readonly idle: Promise<void>;
  private rest: () => void = () => undefined;
  end: () => void = () => undefined;
  private readonly ended: Promise<void>;

  constructor() {
    this.idle = new Promise((resolve) => {
      this.rest = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  piece(): Buffer {
    const bytes = Buffer.from(this.texts.shift() ?? '');
    this.came.push(new WeakRef(bytes));
    return bytes;
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    if (this.texts.length > 0) return { done: false, value: this.piece() };
    this.rest();
    await this.ended;
    return { done: true, value: undefined };
  }

  get kept(): number {
    return this.came.filter((bytes) => bytes.deref() !== undefined).length;
  }
}

const pumped = (response: ServerResponse, upstream: Upstream) =>
  pump(
    new HttpCaller({ requestId: 'request', response, head: [] }, openAiCaller),
    {
      decoder: asItComes,
      chunks: upstream,
      first: { bytes: upstream.piece(), finished: false },
      slot: { hold: () => null },
      cancel: () => undefined,
      staysOpen: false,
    },
    {
      stalledCallers: { watch: () => undefined } as unknown as StalledCallers,
      growth: { covers: () => true },
      heartbeat: { wrote: () => undefined },
      callerGoneMs: 1000,
      costsUnseen: false,
      silence: null,
      faulted: () => undefined,
    },
  );

test('an open stream buffers nothing that it has sent', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const upstream = new Upstream();
  const server = createServer(async (_request, response) => {
    const { outcome } = await pumped(response, upstream);
    response.end(outcome);
  });
  onTestFinished(() => {
    upstream.end();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await upstream.idle;
  for (let tries = 0; upstream.kept > 0 && tries < maxCollections; tries++) {
    await turn();
    collect();
  }
  expect(upstream.kept).toBe(0);
  upstream.end();
  expect(await answer.text()).toBe('first second third completed');
});
