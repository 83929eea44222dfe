import cluster from 'node:cluster';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startGateway } from '../../../src/bootstrap/gateway.js';
import { withDatabase } from '../../../src/cli/database.js';
import { type Answer, type Callers, errorIn, isWholeStream, openCallers } from '../../support/callers/callers.js';
import { expectLedgersToAgree, ledgerAtRest, ownedBy } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { rawUpgrade } from '../../support/raw-upgrade.js';
import { until } from '../../support/until.js';
import { type PausedUpstream, startPausedUpstream } from '../../support/upstreams/paused-upstream.js';

/* Calls served by processes of their own: what is counted, admitted and decided once is the same as with one. */

const workers = 3;
const usage = { prompt: 10, completion: 5 };
/** One quota per token. */
const cost = 15;

let gateway: TestGateway;
let held: PausedUpstream;
let callers: Callers;

const pids = (): number[] => Object.values(cluster.workers ?? {}).map((worker) => worker?.process.pid ?? 0);

beforeAll(async () => {
  gateway = await startTestGateway({}, { workers });
  held = await startPausedUpstream();
  callers = openCallers(gateway.url);
  const ones = JSON.stringify(Object.fromEntries(['held', 'gpt-4o-mini'].map((model) => [model, 1])));
  await gateway.setOption('ModelRatio', ones);
  await gateway.setOption('CompletionRatio', ones);
  await gateway.addChannel({ models: ['gpt-4o-mini'] });
  await gateway.addChannel({ name: 'held', models: ['held'], baseUrl: held.url });
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await held?.stop();
});

const statuses = (answers: readonly Answer[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** So many calls at once, each on a connection of its own, of which so many come to be answered by the upstream. */
async function atOnce(count: number, reaching: number, apiKey: string, model = 'held'): Promise<Answer[]> {
  const caller = callers.with(apiKey);
  const open = Array.from({ length: count }, () => caller.chat({ model, max_tokens: 5 }));
  let answered = 0;
  for (const call of open) void call.then(() => answered++);
  await until(async () => (held.waiting() + answered === count ? true : null));
  expect(held.waiting()).toBe(reaching);
  held.answer(usage);
  return Promise.all(open);
}

test('the configured number of workers runs, and all of them answer', async () => {
  expect(pids()).toHaveLength(workers);
  const key = await gateway.addApiKey(await gateway.addUser(1_000_000_000));
  const caller = callers.with(key);
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, call) => caller.chat({ model: 'gpt-4o-mini', stream: call % 2 === 0 })),
  );
  expect(statuses(answers)).toEqual({ 200: 24 });
  expect(answers.filter(isWholeStream)).toHaveLength(12);
});

test('the reservations of a user in all workers never exceed the balance', async () => {
  const user = await gateway.addUser(1_000_000);
  const key = await gateway.addApiKey(user);
  const before = await gateway.available(user);
  const probing = callers.with(key).chat({ model: 'held', max_tokens: 5 });
  await until(async () => (held.waiting() === 1 ? true : null));
  const hold = before - (await gateway.available(user));
  held.answer(usage);
  await probing;

  const poor = await gateway.addUser(hold * 7);
  const answers = await atOnce(40, 7, await gateway.addApiKey(poor));
  expect(statuses(answers)).toEqual({ 200: 7, 403: 33 });
  expect(await gateway.available(poor)).toBe(hold * 7 - 7 * cost);
});

test('an allowance of a key is shared by all workers', async () => {
  const user = await gateway.addUser(1_000_000);
  const key = await gateway.addApiKey(user, { quota: 1 });
  const answers = await atOnce(6, 0, key);
  expect(statuses(answers)).toEqual({ 403: 6 });
});

test('a spent key is known to all workers', async () => {
  // 0.00002 USD × 500000
  await gateway.setOption('ModelPrice', '{"per-call":0.00002}');
  await gateway.addChannel({ name: 'per call', models: ['per-call'] });
  const key = await gateway.addApiKey(await gateway.addUser(1_000_000), { quota: 24 * 10 });
  const ask = () => Promise.all(Array.from({ length: 24 }, () => callers.with(key).chat({ model: 'per-call' })));
  expect(statuses(await ask())).toEqual({ 200: 24 });
  // Until then those who have not received it are answered that it is not sufficient.
  const refused = await until(async () => {
    const answers = await ask();
    return statuses(answers)[401] === answers.length ? answers : null;
  });
  expect(errorIn(refused[0] as Answer)).toMatchObject({ code: 'token_exhausted' });
});

test('concurrent calls of a key, and requests of a user within a window, are counted over all workers', async () => {
  const key = await gateway.addApiKey(await gateway.addUser(1_000_000));
  await gateway.setOption('general_setting.api_key_concurrency', '4');
  expect(statuses(await atOnce(12, 4, key))).toEqual({ 200: 4, 429: 8 });
  expect(statuses(await atOnce(4, 4, key))).toEqual({ 200: 4 });
  await gateway.setOption('general_setting.api_key_concurrency', '0');

  const other = await gateway.addApiKey(await gateway.addUser(1_000_000));
  await gateway.setOption('ModelRequestRateLimitCount', '5');
  await gateway.setOption('ModelRequestRateLimitEnabled', 'true');
  const answers = await atOnce(12, 5, other);
  await gateway.setOption('ModelRequestRateLimitEnabled', 'false');
  expect(statuses(answers)).toEqual({ 200: 5, 429: 7 });
  const refused = answers.find(({ status }) => status === 429);
  expect(errorIn(refused as Answer)).toMatchObject({ code: 'rate_limit_exceeded', type: 'gateway_error' });
  expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
});

test('concurrent calls of a channel are counted over all workers', async () => {
  const id = await gateway.addChannel({
    name: 'narrow',
    models: ['narrow'],
    modelMapping: '{"narrow":"held"}',
    baseUrl: held.url,
    setting: '{"max_concurrency":3}',
  });
  const key = await gateway.addApiKey(await gateway.addUser(1_000_000));
  await gateway.setOption('ModelRatio', '{"narrow":1,"held":1,"gpt-4o-mini":1}');
  expect([id > 0, statuses(await atOnce(10, 3, key, 'narrow'))]).toEqual([true, { 200: 3, 429: 7 }]);
});

test('a change by an administrator is in effect in all workers when the command returns', async () => {
  const user = await gateway.addUser(1_000_000);
  const key = await gateway.addApiKey(user);
  const ask = () => Promise.all(Array.from({ length: 9 }, () => callers.with(key).chat({ model: 'gpt-4o-mini' })));
  expect(statuses(await ask())).toEqual({ 200: 9 });
  const { application, root } = gateway;
  await application.visible(await application.users.manage(root, user.actor.id as never, 'disable'));
  expect(statuses(await ask())).toEqual({ 403: 9 });
});

describe('a request outside the relay', () => {
  test('is answered through any worker as by the primary', async () => {
    const answers = await Promise.all(Array.from({ length: 9 }, () => callers.with(null).send('/api/status')));
    expect(statuses(answers)).toEqual({ 200: 9 });
    expect(answers[0]?.headers['x-content-type-options']).toBe('nosniff');
    const missing = await callers.with(null).send('/api/nothing-there');
    expect(missing.status).toBe(404);
  });

  test('may open a WebSocket', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    const heard: string[] = [];
    socket.on('message', (data) => heard.push(String(data)));
    socket.on('open', () => socket.send('{"type":"ping"}'));
    await until(async () => (heard.length > 0 ? true : null));
    expect(JSON.parse(heard[0] ?? '')).toMatchObject({ type: 'pong' });
    socket.close();
  });

  test('for a WebSocket on an unknown path is refused', async () => {
    const answer = await rawUpgrade(Number(new URL(gateway.url).port), '/v1/nowhere').answer();
    expect(answer).toMatch(/^HTTP\/1.1 404 Not Found\r\n/);
    expect(answer).toContain('Invalid URL (GET /v1/nowhere)');
  });
});

test('a worker that dies loses its own calls only, and is replaced', async () => {
  const user = await gateway.addUser(1_000_000);
  const key = await gateway.addApiKey(user);
  const caller = callers.with(key);
  const open = Array.from({ length: 12 }, () => caller.chat({ model: 'held', max_tokens: 5 }).catch(() => null));
  await until(async () => (held.waiting() === 12 ? true : null));
  const [victim = 0, ...others] = pids();
  process.kill(victim, 'SIGKILL');
  await until(async () => {
    const now = pids();
    return now.length === workers && !now.includes(victim) && others.every((pid) => now.includes(pid)) ? true : null;
  });
  held.answer(usage);
  const answers = await Promise.all(open);
  const lost = answers.filter((answer) => answer === null).length;
  expect(lost).toBeGreaterThan(0);
  expect(statuses(answers.filter((answer) => answer !== null))).toEqual({ 200: 12 - lost });
  expect(gateway.logged.some((line) => line.includes('a worker has ended unasked'))).toBe(true);
  // What it held for them is theirs again at once, and not when somebody next looks around.
  await until(async () => ((await gateway.available(user)) === 1_000_000 - (12 - lost) * cost ? true : null));
  await until(async () => {
    const after = await Promise.all(Array.from({ length: 12 }, () => caller.chat({ model: 'gpt-4o-mini' })));
    return after.every(({ status }) => status === 200) ? true : null;
  });
});

test('workers that are stopped complete in-flight calls, and the next process finds the ledger balanced', async () => {
  const user = await gateway.addUser(1_000_000);
  const key = await gateway.addApiKey(user);
  // Until the stop is known everywhere, some of these are served: they are another's to pay.
  const lateKey = await gateway.addApiKey(await gateway.addUser(1_000_000));
  const open = Array.from({ length: 6 }, () => callers.with(key).chat({ model: 'held', max_tokens: 5 }));
  await until(async () => (held.waiting() === 6 ? true : null));
  const left = gateway.stopKeepingData();
  const late = await until(async () => {
    const answer = await callers
      .with(lateKey)
      .chat({ model: 'gpt-4o-mini' })
      .catch(() => null);
    return answer === null || answer.status === 503 ? { status: answer?.status ?? 503 } : null;
  });
  expect(late.status).toBe(503);
  held.answer(usage);
  expect(statuses(await Promise.all(open))).toEqual({ 200: 6 });
  await left;
  await until(async () => (pids().length === 0 ? true : null));

  const successor = await startGateway(gateway.config, quietLog);
  await withDatabase(gateway.config, quietLog, async (database) => {
    const books = await ledgerAtRest(database);
    await expectLedgersToAgree(database, books);
    expect(ownedBy(books, user.actor.id as never)).toBe(1_000_000 - 6 * cost);
    const recovered = [...books.calls.values()].filter(({ released }) => released[0]?.reason === 'recovered');
    expect(recovered.length).toBeGreaterThan(0);
  });
  await successor.stop();
});

test('a port in use is reported at the start, and no process is left', async () => {
  const taken = Number(new URL(gateway.url).port);
  const blocking = createServer().listen(taken, '127.0.0.1');
  await new Promise((resolve) => blocking.once('listening', resolve));
  const config = { ...gateway.config, server: { ...gateway.config.server, port: taken } };
  await expect(startGateway(config, quietLog, { workerCount: 2 })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await until(async () => (pids().length === 0 ? true : null));
  blocking.close();
});
