import type pg from 'pg';

/* What the database takes up on disk: tables with their indexes and what is stored beside them. */

/** Bytes by table, in which partitions are one with the table they belong to. */
export type Sizes = Readonly<Record<string, number>>;

export async function sizesOf(pool: pg.Pool): Promise<Sizes> {
  const { rows } = await pool.query<{ name: string; bytes: number }>(`
    select coalesce(whole.relname, part.relname) as name, sum(pg_total_relation_size(part.oid)) as bytes
    from pg_class part
    join pg_namespace place on place.oid = part.relnamespace
    left join pg_inherits on inhrelid = part.oid
    left join pg_class whole on whole.oid = inhparent
    where part.relkind in ('r', 'm') and place.nspname !~ '^(pg_|information_schema)'
    group by 1
  `);
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes]));
}

export const bytesOf = (sizes: Sizes): number => Object.values(sizes).reduce((total, bytes) => total + bytes, 0);

export interface Growth {
  /** Of everything, per call. */
  readonly perCall: number;
  /** The same by table, largest first; tables that did not grow are left out. */
  readonly byTable: readonly (readonly [name: string, bytesPerCall: number])[];
}

export function growthPerCall(before: Sizes, after: Sizes, calls: number): Growth {
  const grown = Object.entries(after)
    .map(([name, bytes]) => [name, Math.round((bytes - (before[name] ?? 0)) / calls)] as const)
    .filter(([, bytes]) => bytes > 0)
    .sort(([, one], [, other]) => other - one);
  return { perCall: Math.round((bytesOf(after) - bytesOf(before)) / calls), byTable: grown };
}
