import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { Recorded } from '../../src/domain/events/events.js';
import type { OptionChanged } from '../../src/domain/options/option.js';
import { type Projection, projection } from '../../src/projections/engine/projection.js';

/* A read model small enough to watch: how often each option was changed. Twice delivered would be twice counted. */

export interface CountingOptions {
  readonly name?: string;
  readonly version?: number;
  readonly purpose?: Projection['purpose'];
  /** Called in the transaction, after the rows are written. */
  readonly afterRows?: (batch: readonly Recorded<OptionChanged>[]) => Promise<void> | void;
}

export const counting = ({
  name = 'counting',
  version = 1,
  purpose = 'deciding',
  afterRows,
}: CountingOptions = {}): Projection =>
  projection<OptionChanged>({
    name,
    version,
    purpose,
    tables: 'create table change_count (key text primary key, count integer not null)',
    interestedIn: { OptionChanged: true },
    async project(tx, batch) {
      for (const { event } of batch)
        await sql`
          insert into change_count values (${event.key}, 1)
          on conflict (key) do update set count = change_count.count + 1
        `.execute(tx);
      await afterRows?.(batch);
    },
  });

/** Option → how often it was changed. */
export async function counts(pool: Pool, schema = 'counting_v1'): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ key: string; count: number }>(`select * from ${schema}.change_count`);
  return Object.fromEntries(rows.map(({ key, count }) => [key, count]));
}
