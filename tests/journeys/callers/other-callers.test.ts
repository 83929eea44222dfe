import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';

/*
 * What one caller does costs another no more than a moment. A moment is measured in work of this machine at this time:
 * half a second where the unit below takes ten milliseconds.
 */

const unitBytes = 4 * 1024 * 1024;
const moment = 50;

let gateway: TestGateway;
let callers: Callers;
let victim: Caller;
let attackers: readonly [Caller, Caller];

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  await gateway.addChannel();
  victim = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000)));
  const attacker = await gateway.addUser(100_000_000);
  attackers = [callers.with(await gateway.addApiKey(attacker)), callers.with(await gateway.addApiKey(attacker))];
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});

/** Milliseconds this machine takes for a fixed piece of work just now. */
function unit(): number {
  const bytes = Buffer.alloc(unitBytes, 'x');
  const times = Array.from({ length: 5 }, () => {
    const started = performance.now();
    createHash('sha256').update(bytes).digest();
    return performance.now() - started;
  });
  return Math.max(...times);
}

const asks = 200;

/** How long the victim waits in the worst of a hundred asks, in units, while the others do as they do. */
async function waitsDuring(attack: (running: () => boolean) => Promise<void>): Promise<number> {
  let running = true;
  const attacking = attack(() => running);
  const waits: number[] = [];
  const units: number[] = [];
  for (let index = 0; index < asks; index++) {
    const started = performance.now();
    const { status } = await victim.send('/v1/models');
    waits.push(performance.now() - started);
    expect(status).toBe(200);
    if (index % 20 === 0) units.push(unit());
  }
  running = false;
  await attacking;
  waits.sort((one, other) => one - other);
  units.sort((one, other) => one - other);
  const worst = waits[Math.floor(asks * 0.99) - 1] ?? Number.POSITIVE_INFINITY;
  return worst / (units[Math.floor(units.length / 2)] ?? Number.NaN);
}

test('other callers are not delayed by a user that sends the most expensive GraphQL documents, each a new one', async () => {
  let number = 0;
  const document = (): string => {
    const fields = Array.from({ length: 9 }, (_, at) => `a${at}: status { ${'dashboard '.repeat(30)} }`).join(' ');
    return `query q${++number} { ${fields} ...f } fragment f on Query { ${fields} }`;
  };
  const attack = async (running: () => boolean): Promise<void> => {
    while (running())
      await callers.with(null).send('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-tallygate-client': 'attack' },
        body: JSON.stringify({ query: document() }),
      });
  };
  expect(
    await waitsDuring(async (running) => void (await Promise.all([attack(running), attack(running)]))),
  ).toBeLessThan(moment);
});

test('other callers are not delayed by a user that sends long Chinese prompts in a row', async () => {
  const body = JSON.stringify({
    model: 'gpt-4o-mini',
    max_tokens: 1,
    messages: [{ role: 'user', content: '账单必须可以证明。'.repeat(100_000) }],
  });
  const attack = async (caller: Caller, running: () => boolean): Promise<void> => {
    while (running())
      await caller.send('/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
  };
  const [one, other] = attackers;
  expect(
    await waitsDuring(async (running) => void (await Promise.all([attack(one, running), attack(other, running)]))),
  ).toBeLessThan(moment);
}, 120_000);
