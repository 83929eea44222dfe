import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Answer, type Callers, openCallers } from '../../support/callers/callers.js';
import { expectLedgersToAgree, ledgerAtRest, ownedBy } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import {
  type AnthropicUpstream,
  messageOf,
  startAnthropicUpstream,
} from '../../support/upstreams/anthropic-upstream.js';

/*
 * Calls that turn out dearer than what was granted to them, while others hold the rest of what their payer has. One quota
 * per token in and out.
 */

let gateway: TestGateway;
let callers: Callers;
let upstream: AnthropicUpstream;
/** Of calls that are held up, until they are refused. */
const waiting: ServerResponse[] = [];
let reported: JsonObject = {};

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstream = await startAnthropicUpstream();
  upstream.respondWith(({ json }, response) => {
    if (json.model === 'slow') {
      waiting.push(response);
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(messageOf([{ type: 'text', text: 'Read.' }], reported)));
  });
  await gateway.addChannel({ type: 14, models: ['slow', 'fetching'], baseUrl: upstream.url });
  for (const option of ['ModelRatio', 'CompletionRatio', 'CacheRatio', 'CreateCacheRatio'])
    await gateway.setOption(option, '{"slow":1,"fetching":1}');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(() => {
  reported = { input_tokens: 300_000, output_tokens: 5 };
});

const messages = [{ role: 'user', content: 'Read https://example.com/long' }];
const fetching = {
  model: 'fetching',
  max_tokens: 5,
  messages,
  tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }],
};

type Caller = ReturnType<Callers['with']>;
const send = (caller: Caller, body: JsonObject): Promise<Answer> =>
  caller.send('/v1/messages', { method: 'POST', body });

/** A call that holds so much and is refused by its upstream once `end` is called. */
async function holding(caller: Caller, quota: number): Promise<{ end(): Promise<Answer> }> {
  const answer = send(caller, { model: 'slow', max_tokens: quota, messages });
  const response = await until(async () => waiting.shift() ?? null);
  return {
    end() {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end('{"type":"error","error":{"type":"invalid_request_error","message":"no"}}');
      return answer;
    },
  };
}

interface Sums {
  readonly charged: number;
  readonly cost: number;
  readonly owned: number;
}

const sums = (user: TestUser): Promise<Sums> =>
  withDatabase(gateway.config, quietLog, async (database) => {
    const read = await ledgerAtRest(database);
    await expectLedgersToAgree(database, read);
    const settled = [...read.calls.values()].flatMap((story) => story.settled);
    const own = settled.filter(({ facts }) => facts.userId === user.actor.id);
    const charged = own.reduce((sum, event) => sum + event.charged, 0);
    const cost = own.reduce((sum, event) => sum + event.charged + event.uncovered, 0);
    return { charged, cost, owned: ownedBy(read, user.actor.id) };
  });

describe('a fetched page beside a call that reserves nearly the whole balance', () => {
  test('is charged in full in each of eight rounds, from the reservation of the other call', async () => {
    const balance = 3_000_050;
    const user = await gateway.addUser(balance);
    const caller = callers.with(await gateway.addApiKey(user));
    for (let round = 0; round < 8; round++) {
      const slow = await holding(caller, (await gateway.available(user)) - 60_000);
      expect((await send(caller, fetching)).status).toBe(200);
      expect(await gateway.available(user)).toBe(0);
      expect((await slow.end()).status).toBe(400);
    }
    const used = 8 * 300_005;
    expect(await sums(user)).toEqual({ charged: used, cost: used, owned: balance - used });
  });

  test('is refused where the balance does not cover a typical page', async () => {
    const user = await gateway.addUser(10_000);
    const caller = callers.with(await gateway.addApiKey(user));
    expect((await send(caller, fetching)).status).toBe(402);
    const { tools: _, ...plain } = fetching;
    reported = { input_tokens: 20, output_tokens: 5 };
    expect((await send(caller, plain)).status).toBe(200);
  });

  test.each([
    ['the allowance of its key', { quota: 3_000_050 }],
    ['the budget of its key', { budget: { quota: 3_000_050, period: 'daily' as const } }],
  ])('is refused where %s does not cover the largest page: an owner can raise that', async (_what, terms) => {
    const user = await gateway.addUser(50_000_000);
    const caller = callers.with(await gateway.addApiKey(user, terms));
    const before = upstream.calls.length;
    const slow = await holding(caller, 2_900_000);
    expect((await send(caller, fetching)).status).toBe(402);
    expect(upstream.calls.length - before).toBe(1);
    await slow.end();
    expect(await sums(user)).toMatchObject({ charged: 0, cost: 0 });
  });
});

describe('a prompt that its upstream counts higher than its reservation', () => {
  const body = { model: 'fetching', max_tokens: 5, messages: [{ role: 'user', content: 'word '.repeat(200) }] };

  test('reduces the balance to zero at most with 40 concurrent calls, and charges the last unit', async () => {
    reported = { input_tokens: 900, output_tokens: 5 };
    const user = await gateway.addUser(900);
    const caller = callers.with(await gateway.addApiKey(user));
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(caller, body)));
    const passed = answers.filter(({ status }) => status === 200).length;
    expect(passed).toBeGreaterThan(0);
    expect(await sums(user)).toEqual({ charged: 900, cost: passed * 905, owned: 0 });
    expect(await gateway.available(user)).toBe(0);
  });

  test.each([
    ['allowance', { quota: 900 }],
    ['budget', { budget: { quota: 900, period: 'daily' as const } }],
  ])('reduces the %s of a key to zero at most; the rest stays uncovered', async (_what, terms) => {
    reported = { input_tokens: 900, output_tokens: 5 };
    const user = await gateway.addUser(1_000_000);
    const caller = callers.with(await gateway.addApiKey(user, terms));
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(caller, body)));
    const passed = answers.filter(({ status }) => status === 200).length;
    expect(passed).toBeGreaterThan(0);
    expect(await sums(user)).toEqual({ charged: 900, cost: passed * 905, owned: 1_000_000 - 900 });
  });
});
