import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { streamCallers } from '../../support/callers/stream-callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* An upstream whose account is empty, or whose key is dead, says so when its stream has begun. */

type Wire = 'openai' | 'anthropic' | 'gemini';
const wires: readonly Wire[] = ['openai', 'anthropic', 'gemini'];
const typeOf: Readonly<Record<Wire, number>> = { openai: 1, anthropic: 14, gemini: 24 };

const sse = (value: JsonObject): string => `data: ${JSON.stringify(value)}\n\n`;
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null };
const words: Readonly<Record<Wire, readonly string[]>> = {
  openai: [
    sse({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'A ledger is' } }] }),
  ],
  anthropic: [
    sse({ type: 'message_start', message: { ...message, usage: { input_tokens: 9, output_tokens: 1 } } }),
    sse({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'A ledger is' } }),
  ],
  gemini: [sse({ candidates: [{ content: { role: 'model', parts: [{ text: 'A ledger is' }] }, index: 0 }] })],
};

const said = 'the account holds $0.271828';
type Fault = 'empty' | 'dead';
const faults: Readonly<Record<Wire, Readonly<Record<Fault, JsonObject>>>> = {
  openai: {
    empty: { error: { message: said, type: 'insufficient_quota', code: 'insufficient_quota' } },
    dead: { error: { message: said, code: 401 } },
  },
  anthropic: {
    empty: { type: 'error', error: { type: 'billing_error', message: said } },
    dead: { type: 'error', error: { type: 'authentication_error', message: said } },
  },
  gemini: {
    empty: { error: { code: 402, message: said, status: 'PAYMENT_REQUIRED' } },
    dead: { error: { code: 401, message: said, status: 'UNAUTHENTICATED' } },
  },
};
/** What a prompt could have put there. */
const quoted = 'refused to go on after: your API key is invalid, insufficient balance';

let gateway: TestGateway;
let callers: Callers;
let upstream: Upstream;
let user: TestUser;
let caller: Caller;
/** Frames that end the streams, and a wait between what was said and these. */
let ending = '';
let goOn: () => void = () => {};
let waited: Promise<void> = Promise.resolve();
let asked = 0;
let models = 0;

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstream = await startUpstream(async ({ url }, response) => {
    asked++;
    const wire = url.includes('/messages') ? 'anthropic' : url.includes('/v1beta/') ? 'gemini' : 'openai';
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const frame of words[wire]) response.write(frame);
    await waited;
    response.end(ending);
  });
  await gateway.setOption('SelfUseModeEnabled', 'true');
  await gateway.setOption('RetryTimes', '3');
  await gateway.setOption('AutomaticDisableChannelEnabled', 'true');
  user = await gateway.addUser(100_000_000);
  caller = callers.with(await gateway.addApiKey(user));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});

const newModel = (): string => `gemini-model-${++models}`;
const add = (wire: Wire, model: string, autoBan = true): Promise<ChannelId> =>
  gateway.addChannel({ type: typeOf[wire], models: [model], baseUrl: upstream.url, autoBan });

/** Every dialect hears the words first, and then what ends them. */
async function heard(model: string, fault: JsonObject) {
  ending = sse(fault);
  waited = new Promise((resolve) => {
    goOn = resolve;
  });
  let waiting = streamCallers.length;
  const onHeaders = (): void => {
    if (--waiting === 0) goOn();
  };
  return Promise.all(
    streamCallers.map(async ({ dialect, stream }) => [dialect, await stream(caller, model, onHeaders)] as const),
  );
}

const statusOf = async (id: ChannelId) => {
  const { status, status_reason } = await gateway.application.queries.channel(gateway.root, id);
  return { status, status_reason };
};
const off = (id: ChannelId) =>
  until(async () => {
    const found = await statusOf(id);
    return found.status === 'auto-disabled' ? found : null;
  });

describe.each(wires)('a channel of %s', (wire) => {
  test.each(['empty', 'dead'] as const)(
    'whose account is %s in the middle of a stream is disabled, and no other upstream is tried',
    async (fault) => {
      const model = newModel();
      const id = await add(wire, model);
      const spare = await add(wire, model);
      asked = 0;
      const answers = await heard(model, faults[wire][fault]);
      expect(asked).toBe(streamCallers.length);
      for (const [dialect, received] of answers) {
        expect([received.status, received.words, received.finish], dialect).toEqual([200, 'A ledger is', null]);
        expect(received.error?.message, dialect).toContain('the upstream does not serve the gateway at present');
        expect(received.text, dialect).not.toContain('271828');
        expect(await lineOf(gateway, user, received), dialect).toMatchObject({ outcome: 'upstream-broke' });
      }
      // Either of the two may have been asked by all of them.
      const { status_reason } = await Promise.any([off(id), off(spare)]);
      expect(status_reason).not.toContain('271828');
    },
  );
});

test('error texts alone disable no channel during a stream, nor a channel whose operator forbids it', async () => {
  const model = newModel();
  const id = await add('openai', model);
  await heard(model, { error: { message: quoted } });
  const kept = newModel();
  const other = await add('openai', kept, false);
  await heard(kept, faults.openai.empty);
  // Another one is switched off after them: what came before has been dealt with.
  const later = newModel();
  const dead = await add('openai', later);
  await heard(later, faults.openai.empty);
  await off(dead);
  expect([(await statusOf(id)).status, (await statusOf(other)).status]).toEqual(['enabled', 'enabled']);
});
