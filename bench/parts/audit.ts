import { systemClock } from '../../src/adapters/clock.js';
import { openPostgresEventStore } from '../../src/adapters/event-log/postgres-event-store.js';
import { postgresSettledCalls } from '../../src/adapters/event-log/settled-calls.js';
import { postgresEventLines } from '../../src/adapters/seals/event-lines.js';
import { postgresSealKeyStore } from '../../src/adapters/seals/seal-key-store.js';
import { postgresSealStore } from '../../src/adapters/seals/seal-store.js';
import { verifyLog } from '../../src/application/audit/verify-log.js';
import { whatIf, worked } from '../../src/application/audit/what-if.js';
import { sealNewEvents } from '../../src/application/seals/sealer.js';
import { verifyPortsOf } from '../../src/cli/audit/verify.js';
import { randomFrom } from '../../src/demo/random.js';
import { beginning } from '../../src/domain/events/events.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { verifyLedger } from '../../src/projections/models/ledger/verify-ledger.js';
import { openReadModels } from '../../src/projections/read-models.js';
import { count } from '../arguments.js';
import { costing, microsecondsEach, ownMeter } from '../cpu.js';
import { dataSet, dataSetOptions } from '../data-set.js';
import { openDatabase, quietLog } from '../database.js';
import { timeBalances, writeHistory } from '../history-reading.js';
import { type Outcome, part } from '../part.js';
import { comparedIn, inRounds, medianOf, oneRound, share } from '../rounds.js';
import { decimal, table, whole } from '../table.js';

/*
 * How fast a log is verified: seals, streams and ledger in one reading, beside the reading that has the ledger alone. What
 * it costs to write a history of quota, and to look a balance up.
 */

interface Verified {
  readonly perSecond: number;
  /** CPU microseconds an event; NaN where the system does not say. */
  readonly ownUs: number;
  readonly postgresUs: number;
}

const routes = ['audit verify', 'verify'] as const;

export const audit = part({
  name: 'audit',
  says: 'verification of seals, streams and ledger in events per second, beside that of the ledger alone; exports of quota history, balances as of an instant, and what calls would have cost by another ratio',
  options: {
    rows: count(100_000, 'calls in the generated log; each is two events'),
    rounds: count(3, 'how often it is verified', 1000),
    movements: count(1_000_000, 'movements of the exported history'),
    balances: count(2_000, 'balances that are looked up'),
    ...dataSetOptions,
  },
  async run({ rows, rounds, movements, balances, ...place }, surroundings): Promise<Outcome> {
    const { dataDir, callers, from, to } = await dataSet(rows, place, surroundings);
    const database = await openDatabase(dataDir);
    const { pool, vault } = database;
    const store = await openPostgresEventStore({ connection: database.connection, log: quietLog });
    const differences: string[] = [];
    const measure: Record<(typeof routes)[number], () => Promise<{ events: number; found: number }>> = {
      'audit verify': () => verifyLog(verifyPortsOf({ ...database, store }), { full: true, given: null }),
      verify: async () => {
        const { events, differences } = await verifyLedger(openReadModels(pool), store);
        return { events, found: differences.length };
      },
    };
    try {
      // First: what a process has once taken it gives back late, and growth would not be seen.
      surroundings.progress('writing a history of quota');
      const read = { db: openReadModels(pool), store };
      const written = await writeHistory(read, movements, surroundings.signal);
      const asked = { userIds: callers.map(({ userId }) => userId), from, to, times: balances };
      const balanceMs = await timeBalances(read, asked, randomFrom(balances));
      surroundings.progress('working out what calls would have cost');
      const others = { records: new Map(), groupRatio: new Map([['default', '0.8']]), quotaPerUnit: '500000' };
      const period = { from: Instant(from * 1000), to: Instant((to + 86_400) * 1000) };
      const beganWorking = performance.now();
      const part = { after: beginning, upTo: await store.head() };
      const { calls } = await worked(whatIf({ calls: postgresSettledCalls(pool), store }, part, period, others));
      const tried = { calls, perSecond: Math.round((calls / (performance.now() - beganWorking)) * 1000) };
      surroundings.progress('sealing the log');
      await sealNewEvents({
        ...{ vault, clock: systemClock, lines: postgresEventLines(pool) },
        ...{ seals: postgresSealStore(pool), keys: postgresSealKeyStore(pool) },
      });
      const meter = await ownMeter();
      const measured = await inRounds(rounds, surroundings, (number) =>
        oneRound(routes, number, async (route): Promise<Verified> => {
          const began = performance.now();
          const { value, cpu } = await costing(meter, measure[route as (typeof routes)[number]]);
          if (value.found > 0) differences.push(`${route} found ${value.found} differences`);
          return {
            perSecond: (value.events / (performance.now() - began)) * 1000,
            ownUs: microsecondsEach(cpu, 'own', value.events),
            postgresUs: microsecondsEach(cpu, 'postgres', value.events),
          };
        }),
      );
      const figures = Object.fromEntries(
        routes.map((route) => [
          route,
          {
            eventsPerSecond: Math.round(medianOf(measured, route, ({ perSecond }) => perSecond)),
            ownUsPerEvent: medianOf(measured, route, ({ ownUs }) => ownUs),
            postgresUsPerEvent: medianOf(measured, route, ({ postgresUs }) => postgresUs),
          },
        ]),
      );
      const ratio = comparedIn(measured, routes, ({ perSecond }) => perSecond, share);
      return {
        figures: { ...figures, ratio, history: written, balanceMs, whatIf: tried },
        lines: [
          ...table(
            ['verification', 'events/s', 'own µs/event', 'Postgres µs/event'],
            Object.entries(figures).map(([route, { eventsPerSecond, ownUsPerEvent, postgresUsPerEvent }]) => [
              ...[route, whole(eventsPerSecond), decimal(ownUsPerEvent, 1), decimal(postgresUsPerEvent, 1)],
            ]),
          ),
          '',
          `audit verify is ${decimal(ratio, 2)} times as fast as verify`,
          `${whole(written.movements)} movements written at ${whole(written.perSecond)}/s, memory grew by ${decimal(written.takenMb, 1)} MB, of them ${decimal(written.grownMb, 1)} after the first 50,000`,
          `what ${whole(tried.calls)} calls would have cost by another ratio: ${whole(tried.perSecond)} calls/s`,
          `balance as of an instant: p50 ${decimal(balanceMs.p50)} ms, p95 ${decimal(balanceMs.p95)} ms`,
        ],
        differences,
      };
    } finally {
      await store.close();
      await database.close();
    }
  },
});
