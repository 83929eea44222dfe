import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Answer, type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import type { Upstream } from '../../support/upstreams/upstream.js';
import { type Reported, startUsageUpstream } from '../../support/upstreams/usage-upstream.js';
import { type Dialect, type RealBill, realBills } from './real-bills.js';

/* Bills worked out by hand, and what the gateway charges for the same usage: in every dialect, whole and streamed. */

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let caller: Caller;
const upstreams: Upstream[] = [];

/** Every prompt names its bill, so that calls may run side by side. */
const billIn = (body: string): Reported => {
  const bill = realBills[Number(/Bill (\d+)\./.exec(body)?.[1])];
  if (bill === undefined) throw new Error('a request about no bill');
  return bill;
};

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  // Prompts here are short, whatever upstream reports: it may have added so much.
  await gateway.setOption('UpstreamPromptTokens', '1000000');
  for (const type of new Set(realBills.map((bill) => bill.type))) {
    const bills = realBills.filter((bill) => bill.type === type);
    const upstream = await startUsageUpstream(bills[0]?.wire ?? 'openai', billIn);
    upstreams.push(upstream);
    await gateway.addChannel({ type, models: [...new Set(bills.map(({ model }) => model))], baseUrl: upstream.url });
  }
  user = await gateway.addUser(1_000_000_000_000);
  caller = callers.with(await gateway.addApiKey(user));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  for (const upstream of upstreams) await upstream.stop();
});

const post = (path: string, body: JsonObject): Promise<Answer> =>
  caller.send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

const ask: Readonly<
  Record<Dialect, (model: string, text: string, stream: boolean, more: JsonObject) => Promise<Answer>>
> = {
  openai: (model, text, stream, more) =>
    post('/v1/chat/completions', {
      ...{ model, stream, ...more },
      messages: [
        { role: 'system', content: text },
        ...((more.messages as JsonObject[]) ?? [{ role: 'user', content: 'Go.' }]),
      ],
    }),
  anthropic: (model, text, stream, more) =>
    post('/v1/messages', { model, stream, max_tokens: 4_096, messages: [{ role: 'user', content: text }], ...more }),
  gemini: (model, text, stream, more) =>
    post(`/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, {
      contents: [{ role: 'user', parts: [{ text: 'Go.' }] }],
      ...more,
      systemInstruction: { parts: [{ text }] },
    }),
};

const dialects = Object.keys(ask) as Dialect[];
const ways = ({ asks }: RealBill) =>
  dialects
    .filter((dialect) => asks === undefined || asks[dialect] !== undefined)
    .flatMap((dialect) => [false, true].map((stream) => ({ dialect, stream, more: asks?.[dialect] ?? {} })));

/** In ten-thousandths of a millionth of a USD: whole numbers, so that nothing is rounded here. */
const exactly = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(4, '0'));
};

describe('a bill that was computed by hand', () => {
  test('of forty and more calls has the right total', () => {
    expect(realBills.length).toBeGreaterThanOrEqual(40);
    for (const { sum, charge } of realBills) {
      const [terms = '', total = ''] = sum.split(' = ');
      const parts = terms.split(' + ').map((term) => {
        const [count = '', price = ''] = term.split(' × ');
        return BigInt(count) * exactly(price);
      });
      expect(
        parts.reduce((one, other) => one + other),
        sum,
      ).toBe(exactly(total));
      // Half of it, halves upwards, and at least 1.
      const rounded = (exactly(total) + 10_000n) / 20_000n;
      expect(rounded > 0n ? rounded : 1n, sum).toBe(BigInt(charge));
    }
  });

  test.each(realBills.map((bill, index) => ({ ...bill, index })))(
    'of $model for $of equals the charge: $charge',
    async ({ index, ...bill }) => {
      const text = `Bill ${index}. What is a ledger?`;
      const answers = await Promise.all(
        ways(bill).map(async ({ dialect, stream, more }) => {
          const answer = await ask[dialect](bill.model, text, stream, more);
          return { dialect, stream, answer };
        }),
      );
      for (const { dialect, stream, answer } of answers) {
        const way = `${dialect}${stream ? ', streamed' : ''}: ${answer.text.slice(0, 300)}`;
        expect(answer.status, way).toBe(200);
        const { quota, usage_source, usage } = await lineOf(gateway, user, answer);
        expect({ quota, usage_source }, `${way} ${JSON.stringify(usage)}`).toEqual({
          quota: bill.charge,
          usage_source: 'upstream',
        });
      }
    },
  );
});
