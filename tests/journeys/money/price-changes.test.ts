import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Instant } from '../../../src/domain/kernel/instant.js';
import type { ModelPrice } from '../../../src/domain/pricing/records/model-price.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Answer, type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';
import { startUsageUpstream } from '../../support/upstreams/usage-upstream.js';

/* The price of a call is that of its reservation, whatever becomes of prices while it runs. */

const day = 86_400_000;
const midnight = Math.ceil((Date.now() + 3_600_000) / day) * day;
const dayThatBegins = new Date(midnight).toISOString().slice(0, 10);

/** null: it runs from a minute before midnight in UTC. */
let stopped: number | null = null;
const offset = midnight - 60_000 - Date.now();
const clock = { now: () => Instant(stopped ?? Date.now() + offset) };

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let caller: Caller;
const upstreams: Upstream[] = [];

/** Requests that upstream has and does not answer yet. */
const held: (() => void)[] = [];
let holds = false;
/** What is done before the first channel fails. */
let beforeFailure: () => Promise<unknown> = () => Promise.resolve();

/** 15 tokens. */
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

const start = async (upstream: Promise<Upstream>): Promise<string> => {
  upstreams.push(await upstream);
  return (await upstream).url;
};

beforeAll(async () => {
  gateway = await startTestGateway({}, { workers: 1, clock });
  callers = openCallers(gateway.url);
  const answering = await start(
    startUsageUpstream(
      'openai',
      () => ({ usage }),
      () => (holds ? new Promise<void>((resolve) => held.push(resolve)) : Promise.resolve()),
    ),
  );
  const failing = await start(
    startUpstream((_call, response) => {
      void beforeFailure().then(() => response.writeHead(500, { 'content-type': 'application/json' }).end('{}'));
    }),
  );
  await gateway.setOption('RetryTimes', '1');
  await gateway.addChannel({ models: ['running', 'dated', 'retried'], baseUrl: answering });
  await gateway.addChannel({ models: ['retried'], baseUrl: failing, priority: 10 });
  user = await gateway.addUser(100_000_000);
  caller = callers.with(await gateway.addApiKey(user));
});
afterAll(async () => {
  for (const release of held) release();
  await callers?.close();
  await gateway?.stop();
  for (const upstream of upstreams) await upstream.stop();
});

const setRatio = (model: string, ratio: number): Promise<void> =>
  gateway.setOption('ModelRatio', JSON.stringify({ running: 1, dated: 1, retried: 1, [model]: ratio }));

const chargeOfCall = async (answer: Answer): Promise<number> => {
  expect(answer.status, answer.text).toBe(200);
  return (await lineOf(gateway, user, answer)).quota;
};
const charged = async (body: JsonObject): Promise<number> => chargeOfCall(await caller.chat(body));

/** A whole and a streamed call, both with upstream; ends them. */
async function running(model: string): Promise<() => Promise<number[]>> {
  holds = true;
  const calls = [caller.chat({ model }), caller.chat({ model, stream: true })];
  await until(async () => (held.length === 2 ? true : null));
  holds = false;
  return async () => {
    for (const release of held.splice(0)) release();
    return Promise.all(calls.map(async (call) => chargeOfCall(await call)));
  };
}

describe('a call during which its price changes', () => {
  test('is charged by the price of its reservation, whole and streamed; the next one by the new price', async () => {
    await setRatio('running', 1);
    const end = await running('running');
    await setRatio('running', 100);
    expect(await charged({ model: 'running' })).toBe(1_500);
    expect(await end()).toEqual([15, 15]);
  });

  test('and that another channel serves after a failure is charged by the price of its reservation', async () => {
    for (const stream of [false, true]) {
      await setRatio('retried', 1);
      let asked = 0;
      beforeFailure = () => (asked++ === 0 ? setRatio('retried', 100) : Promise.resolve());
      expect(await charged({ model: 'retried', stream })).toBe(15);
      expect(asked).toBe(1);
      expect(await charged({ model: 'retried', stream })).toBe(1_500);
    }
  });
});

describe('a price that begins at midnight in UTC', () => {
  const perMillion = (usd: string): ModelPrice => ({ tokens: { input: { usd }, output: { usd } } });

  test('holds from 00:00:00.000; a call of 23:59:59.999 has the price before, also where it ends after midnight', async () => {
    const periods = [
      { ...perMillion('2'), until: dayThatBegins },
      { ...perMillion('4'), from: dayThatBegins },
    ];
    await gateway.setPrice('dated', periods);
    stopped = midnight - 1;
    const end = await running('dated');
    expect(await charged({ model: 'dated' })).toBe(15);
    stopped = midnight;
    const first = await until(async () => {
      const charge = await charged({ model: 'dated' });
      return charge === 15 ? null : charge;
    }, 20_000);
    expect(first).toBe(30);
    expect(await end()).toEqual([15, 15]);
    expect(await charged({ model: 'dated', stream: true })).toBe(30);
  });
});
