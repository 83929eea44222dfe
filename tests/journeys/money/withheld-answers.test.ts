import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { newClient } from '../../../src/adapters/database/postgres.js';
import { withDatabase } from '../../../src/cli/database.js';
import { type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { expectLedgersToAgree, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { CutOff } from '../../support/postgres/cut-off.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import { type PausedUpstream, startPausedUpstream } from '../../support/upstreams/paused-upstream.js';

/*
 * The log falls silent just as an answer is to be booked. The caller gets 503, and an SDK will ask again: so the call
 * must cost nothing, whether or not its settlement had got into the log.
 */

const given = 1_000_000;
/** Longer than the gateway waits for its log. */
const patience = 90_000;

let gateway: TestGateway;
let callers: Callers;
let upstream: PausedUpstream;
let between: CutOff;
let locker: pg.Client;
let user: TestUser;

beforeAll(async () => {
  gateway = await startTestGateway(
    {},
    {
      reach: async (connection) => {
        between = await CutOff.before(connection);
        locker = newClient(connection);
        await locker.connect();
        return between.connection;
      },
    },
  );
  callers = openCallers(gateway.url);
  upstream = await startPausedUpstream();
  await gateway.addChannel({ models: ['gpt-4o-mini'], baseUrl: upstream.url });
  user = await gateway.addUser(given);
});
afterAll(async () => {
  await locker?.end();
  await callers?.close();
  await gateway?.stop();
  await between?.cut();
  await upstream?.stop();
});
afterEach(() => locker.query('select pg_advisory_unlock_all()'));

/** Writers of the log take turns by this lock. */
const stopTheLog = () => locker.query('select pg_advisory_lock(812470915374)');
/** Whatever waits for its turn will never have it. */
const dropWaiting = () =>
  locker.query(
    `select pg_terminate_backend(pid) from pg_locks
     where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`,
  );
const continueTheLog = () => locker.query('select pg_advisory_unlock_all()');

test.each([
  ['never written', 'CallReleased'],
  ['written, and the news of it lost', 'CallRefunded'],
] as const)(
  'an answer that cannot be settled is withheld and costs nothing: its settlement was %s',
  async (settlement, lastEvent) => {
    const caller = callers.with(await gateway.addApiKey(user));
    const call = caller.chat({ model: 'gpt-4o-mini' });
    await until(async () => (upstream.waiting() === 1 ? true : null));
    const lost = settlement === 'never written' ? null : between.loseAnswerTo('CallSettled').then(() => between.cut());
    if (lost === null) await stopTheLog();
    upstream.answer({ prompt: 5_000, completion: 13 });
    if (lost !== null) {
      await lost;
      await stopTheLog();
      await between.restore();
    }

    const answer = await call;
    expect(answer.status).toBe(503);
    expect(errorIn(answer)).toMatchObject({ code: 'store_unavailable' });
    expect(errorIn(answer).message).toContain('nothing is charged');
    if (settlement === 'never written') await dropWaiting();
    await continueTheLog();

    await withDatabase(gateway.config, quietLog, async (database) => {
      const books = await until(async () => {
        const found = await ledgerAtRest(database);
        return found.events.at(-1)?.event.type === lastEvent ? found : null;
      }, patience);
      await expectLedgersToAgree(database, books);
    });
    expect(await gateway.available(user)).toBe(given);
    // The same question again is a call of its own, and served.
    const again = caller.chat({ model: 'gpt-4o-mini' });
    await until(async () => (upstream.waiting() === 1 ? true : null));
    upstream.answer({ prompt: 1, completion: 0 });
    expect((await again).status).toBe(200);
    await gateway.application.users.adjustQuota(gateway.root, user.actor.id, {
      delta: given - (await gateway.available(user)),
    });
  },
  2 * patience,
);
