import type { ServerResponse } from 'node:http';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newClient } from '../../../src/adapters/database/postgres.js';
import { withDatabase } from '../../../src/cli/database.js';
import { type Caller, type Callers, framesIn, isWholeStream, openCallers } from '../../support/callers/callers.js';
import { expectLedgersToAgree, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/*
 * The order of things: first the log, then the world. Here the log can be made to wait, and what happens meanwhile is
 * looked at.
 */

let gateway: TestGateway;
let callers: Callers;
let caller: Caller;
let locker: pg.Client;

const model = 'gpt-4o-mini';
const finished = { index: 0, finish_reason: 'stop' };
const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const wholeAnswer = JSON.stringify({ id: 'x', choices: [{ ...finished, message: { content: 'one two' } }], usage });
const streamed = [
  ...['one', ' two'].map((content) => JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content } }] })),
  JSON.stringify({ id: 'x', choices: [{ ...finished, delta: {} }] }),
  '[DONE]',
];

let upstream: Upstream;
/** Calls that wait for the upstream's answer. */
const held: ServerResponse[] = [];
const heldCall = (): Promise<ServerResponse> => until(async () => held.shift() ?? null);
const answerWith = (type: string, response: ServerResponse, body: string): unknown =>
  response.writeHead(200, { 'content-type': type }).end(body);

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstream = await startUpstream((_, response) => held.push(response));
  await gateway.addChannel({ models: [model], baseUrl: upstream.url });
  await gateway.addChannel({ name: 'simulated', models: ['gpt-4o'] });
  const { url } = gateway.config.database;
  if (url === null) throw new Error('a test gateway has a database of its own');
  locker = newClient({ url });
  await locker.connect();
});
afterAll(async () => {
  await locker?.end();
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  caller = callers.with(await gateway.addApiKey(await gateway.addUser(10_000_000)));
});
// A test that fails must not stop the log for the next one.
afterEach(() => locker.query('rollback'));

/** Nothing can be appended until `continue` is called; `blocked` resolves once somebody tries. */
async function stopTheLog() {
  await locker.query('begin; lock table events in share mode');
  return {
    blocked: () =>
      until(async () => {
        const { rows } = await locker.query<{ waiting: number }>(
          `select count(*) as waiting from pg_locks where not granted and relation = 'events'::regclass`,
        );
        return (rows[0]?.waiting ?? 0) > 0 ? true : null;
      }),
    continue: () => locker.query('commit'),
  };
}

describe('an event that is not durable yet', () => {
  test('delays the upstream request: first the reservation, then the call', async () => {
    const log = await stopTheLog();
    const call = caller.chat({ model });
    await log.blocked();
    expect(held).toHaveLength(0);
    await log.continue();
    answerWith('application/json', await heldCall(), wholeAnswer);
    expect((await call).status).toBe(200);
  });

  test('delays the answer: first the settlement, then the answer', async () => {
    let answered = false;
    const call = caller.chat({ model }).finally(() => {
      answered = true;
    });
    const waiting = await heldCall();
    const log = await stopTheLog();
    answerWith('application/json', waiting, wholeAnswer);
    await log.blocked();
    expect(answered).toBe(false);
    await log.continue();
    expect((await call).status).toBe(200);
  });

  test('does not delay a stream: the text arrives as it is generated, the end mark after the settlement', async () => {
    let soFar = '';
    const enough = (text: string): boolean => {
      soFar = text;
      return false;
    };
    const call = caller.chat({ model, stream: true }, { enough });
    const waiting = await heldCall();
    const log = await stopTheLog();
    answerWith('text/event-stream', waiting, `${streamed.map((frame) => `data: ${frame}\n\n`).join('')}`);
    await log.blocked();
    // All the words are here; that all is well nobody has said.
    await until(async () => (framesIn({ text: soFar }).length === streamed.length - 1 ? true : null));
    expect(soFar).not.toContain('[DONE]');
    await log.continue();
    expect(isWholeStream(await call)).toBe(true);
  });
});

test('a database that drops every connection in the middle of calls causes no wrong charge', async () => {
  const { rows } = await locker.query<{ ended: boolean }>(
    'select pg_terminate_backend(pid) as ended from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  expect(rows.length).toBeGreaterThan(3);
  const statuses = new Set<number>();
  await until(async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => caller.chat({ model: 'gpt-4o' })));
    for (const { status } of answers) statuses.add(status);
    return answers.every(({ status }) => status === 200) ? true : null;
  });
  // Served, or refused because nothing can be written; nothing in between.
  for (const status of statuses) expect([200, 503]).toContain(status);
  await withDatabase(gateway.config, quietLog, async (database) =>
    expectLedgersToAgree(database, await ledgerAtRest(database)),
  );
});
