import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { newClient } from '../../src/adapters/database/postgres.js';
import type { Position, StreamName } from '../../src/domain/events/events.js';
import { Position as positionOf } from '../../src/domain/events/events.js';
import type { Sealed, UserId } from '../../src/domain/kernel/ids.js';
import type { ReadModels } from '../../src/projections/database.js';
import { newsOf } from '../../src/projections/engine/news.js';
import type { PersonalDataReader, Projection } from '../../src/projections/engine/projection.js';
import { type ProjectionRunner, type RunnerOptions, startProjections } from '../../src/projections/engine/runner.js';
import { openReadModels, readModels } from '../../src/projections/read-models.js';
import { dense, MemoryEventStore } from '../support/memory/memory-event-store.js';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres/postgres.js';
import { quietLog } from '../support/quiet-log.js';
import { EmptiedTables } from './emptied-tables.js';
import { type Fact, toRecord } from './history.js';

/** Opens what `sealed` of the history made, until the user's key is destroyed. */
class PersonalDataOfHistory implements PersonalDataReader {
  private readonly forgotten = new Set<UserId>();

  open(user: UserId, text: Sealed): Promise<string | null> {
    return Promise.resolve(this.forgotten.has(user) ? null : text.replace(/^sealed /, ''));
  }

  searchToken(term: string): string {
    return createHash('sha256').update(term).digest('hex');
  }

  forget(user: UserId): void {
    this.forgotten.add(user);
  }
}

/** A log in memory and read models in a database of their own. */
export class Projected {
  readonly store: MemoryEventStore;
  readonly personalData = new PersonalDataOfHistory();
  readonly db: ReadModels;
  private readonly runners: ProjectionRunner[] = [];
  startRunner = startProjections;

  constructor(
    readonly database: TestDatabase,
    positions: 'dense' | 'any' = 'any',
  ) {
    this.store = positions === 'dense' ? new MemoryEventStore(dense) : new MemoryEventStore();
    this.db = openReadModels(database.pool);
  }

  get pool(): Pool {
    return this.database.pool;
  }

  /** Appends in this order; resolves with the last position. */
  async record(...facts: readonly Fact[]): Promise<Position> {
    let last = positionOf(-1);
    for (const fact of facts) {
      const result = await this.store.append(fact.stream as StreamName, [toRecord(fact)], 'any');
      if (!result.ok) throw new Error('the history contradicts itself');
      last = result.position;
    }
    return last;
  }

  /** The read models once they hold these facts. */
  async given(...facts: readonly Fact[]): Promise<ReadModels> {
    const position = await this.record(...facts);
    const runner = this.runners.at(-1) ?? (await this.start());
    await hold(runner, position);
    return this.db;
  }

  async start(
    options: Partial<RunnerOptions> & { projections?: readonly Projection[] } = {},
  ): Promise<ProjectionRunner> {
    const runner = await this.startRunner({
      projections: readModels,
      feed: this.store,
      news: (signal) => newsOf(this.store, signal, { broke: () => {} }),
      pool: this.pool,
      newClient: () => newClient(this.database.connection),
      context: { personalData: this.personalData },
      log: quietLog,
      ...options,
    });
    this.runners.push(runner);
    return runner;
  }

  /** Every row of every table of a read model, as text in a fixed order. */
  async dump(schema: string): Promise<Record<string, string[]>> {
    const { rows: tables } = await this.pool.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = $1 and c.relkind in ('r', 'p') order by 1`,
      [schema],
    );
    const dumped: Record<string, string[]> = {};
    for (const { name } of tables) {
      const { rows } = await this.pool.query<{ row: string }>(
        `select t::text as row from ${schema}."${name}" t order by 1`,
      );
      dumped[name] = rows.map(({ row }) => row);
    }
    return dumped;
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.runners.splice(0).map((runner) => runner.stop()));
  }

  async close(): Promise<void> {
    await this.stopAll();
    await this.store.close();
  }
}

/** One database for the file; each test begins with an empty log and with read models that are empty, or not there yet. */
export function forEachTest(
  begin: (fresh: Projected) => void,
  before: 'emptied' | 'dropped' = 'emptied',
  positions: 'dense' | 'any' = 'any',
): void {
  let database: TestDatabase;
  let tables: EmptiedTables;
  let fresh: Projected;
  beforeAll(async () => {
    database = await createEmptyDatabase();
    tables = new EmptiedTables(database.pool);
  });
  beforeEach(async () => {
    if (before === 'emptied') await tables.renew();
    else await tables.drop();
    fresh = new Projected(database, positions);
    begin(fresh);
  });
  afterEach(() => fresh.close());
  afterAll(() => database.drop());
}

/** Waits until all read models hold the position. */
export async function hold(runner: ProjectionRunner, position: Position): Promise<void> {
  if (await runner.reached(position, 20_000)) return;
  throw new Error(`not projected up to ${position}: ${JSON.stringify(runner.status())}`);
}
