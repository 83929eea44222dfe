import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../src/bootstrap/gateway.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* A gateway fetches a source of prices once a day: when it fails, when it moves, after a restart and after many days. */

const model = 'gpt-4o';
const day = 86_400_000;
const pricesPauseMs = 50;

let now = Date.now();
const clock = { now: () => Instant(now) };
let gateway: TestGateway;
let successor: Gateway | undefined;
let source: Upstream;
/** USD of a million tokens of input; null: it fails. */
let price: number | null = null;
let fetched = 0;

type Running = Pick<Gateway, 'application'>;

const listed = (usd: number) => ({
  [model]: {
    ...{ litellm_provider: 'openai', mode: 'chat', input_cost_per_token: usd / 1e6 },
    ...{ output_cost_per_token: (usd * 4) / 1e6, cache_read_input_token_cost: usd / 2e6 },
  },
});

beforeAll(async () => {
  source = await startUpstream((_call, response) => {
    fetched++;
    if (price === null) response.writeHead(503).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(listed(price)));
  });
  gateway = await startTestGateway({}, { workers: 1, clock, pricesPauseMs });
  const setting = { name: 'list', url: `${source.url}/prices.json`, daily: true, apply: 'within-bounds', bound: 1.5 };
  await gateway.setOption('PriceSources', JSON.stringify([setting]));
});
afterAll(async () => {
  await successor?.stop();
  await gateway?.stop();
  await source?.stop();
});

const stateOf = ({ application }: Running) => application.priceUpdates.priceSources(gateway.root)[0]?.state;
const inputOf = ({ application }: Running): string | null => {
  const input = application.directory.changedPrices().get(model)?.periods?.[0]?.tokens?.input;
  return input !== undefined && 'usd' in input ? input.usd : null;
};
const triedSince = (running: Running, since: number): Promise<true> =>
  until(async () => {
    const state = stateOf(running);
    return state !== undefined && !state.isReading && (state.triedAt ?? 0) >= since ? true : null;
  }, 20_000);
const priced = (running: Running, usd: string): Promise<true> =>
  until(async () => (inputOf(running) === usd ? true : null), 20_000);

test('a source that fails changes nothing, says so, and is fetched again the next day only', async () => {
  await triedSince(gateway, now);
  expect(stateOf(gateway)).toMatchObject({ failure: expect.anything(), reading: null });
  expect([fetched, inputOf(gateway)]).toEqual([1, null]);
  expect(gateway.logged.some((line) => line.includes('a source of prices cannot be read now'))).toBe(true);
  price = 2.75;
  now += day - 1;
  const early = now;
  expect(stateOf(gateway)?.triedAt).toBeLessThan(early);
  now += 1;
  await priced(gateway, '2.75');
  expect([fetched, stateOf(gateway)?.triedAt]).toEqual([2, early + 1]);
});

test('after many days it is fetched once, and its price stays within the bound of what a person has picked', async () => {
  price = 3.5;
  now += 10 * day;
  await priced(gateway, '3.5');
  price = 4.5;
  now += day;
  await triedSince(gateway, now);
  // 4.5 is within 1.5 times 3.5, and not of the 2.5 that is built in.
  expect([fetched, inputOf(gateway)]).toEqual([4, '3.5']);
});

test('after a restart it is fetched again, once, and prices are those that were applied', async () => {
  price = 3.25;
  await gateway.stopKeepingData();
  now += 30 * day;
  successor = await startGateway(gateway.config, quietLog, { clock, pricesPauseMs });
  expect(inputOf(successor)).toBe('3.5');
  await priced(successor, '3.25');
  await triedSince(successor, now);
  expect(fetched).toBe(5);
});
