import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../../src/relay/contracts/endpoint.js';
import {
  type Answered,
  type AnsweringPorts,
  type Asker,
  openAnswering,
} from '../../../src/relay/delivery/answering.js';
import { noHeartbeat } from '../../../src/relay/delivery/heartbeats.js';
import { chat } from '../../../src/relay/dialects/openai/endpoints/chat.js';
import type { LargeWork } from '../../../src/relay/text/large-work.js';
import { SeenText } from '../../../src/relay/text/seen-text.js';

test('a large answer that must tell another usage is rewritten in turn, as other large work is', async () => {
  const inTurn: number[] = [];
  const largeWork: Pick<LargeWork, 'run'> = {
    run: (bytes, work) => {
      inTurn.push(bytes);
      return work();
    },
  };
  const { answer } = openAnswering({ largeWork } as unknown as AnsweringPorts);
  const received = Buffer.alloc(2_000_000, ' ');
  const got = {
    kind: 'answer',
    bytes: received,
    textType: undefined,
    usage: null,
    generated: { said: new SeenText('Yes.'), toolCalls: 0, finishReason: 'stop' },
  } as const;
  const endpoint: Endpoint = { ...chat, dialect: { ...chat.dialect, telling: () => Buffer.from('told') } };
  const response = Object.assign(new PassThrough(), { writeHead: () => {} });
  await answer(
    { requestId: 'r', response, head: [], endpoint } as unknown as Asker,
    {
      order: { endpoint, model: 'm', requestedModel: 'm', estimate: { promptTokens: 3, recording: null } },
      reservation: { bound: { input: 9, output: 9 }, settleOrWithdraw: async () => 1 },
      last: { ok: true, upstreamModel: 'm', reasoningEffort: null, got, headers: null },
      course: { tried: [1], unknownAttempts: 0, presence: { gone: false }, elapsed: () => 1 },
      heartbeat: noHeartbeat,
    } as unknown as Answered,
  );
  expect(String(response.read())).toBe('told');
  expect(inTurn).toEqual([received.length]);
});
