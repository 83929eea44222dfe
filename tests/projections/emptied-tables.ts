import type { Pool } from 'pg';
import { prepareReadModels } from '../../src/projections/engine/checkpoints.js';
import { readModels } from '../../src/projections/read-models.js';

/*
 * The tables of all read models, made once and emptied after each test: some 570 relations, which Postgres takes longer
 * to make and to drop than most tests take.
 */

const isOurs = `nspname ~ '_v\\d+|^projections$'`;

const dropAll = `
  do $$ declare ours text; begin
    set local client_min_messages to warning;
    for ours in select nspname from pg_namespace where ${isOurs} loop execute format('drop schema %I cascade', ours); end loop;
  end $$`;

/** Whatever a test may have changed beside rows. */
const shapeOf = `
  select string_agg(part, ' ' order by part) as shape from (
    select concat_ws('.', nspname, relname, relkind, relnatts, reloptions) as part
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace where ${isOurs} and not relispartition
    union all select nspname from pg_namespace where ${isOurs}
    union all select concat_ws(' ', 'check', conname, conrelid) from pg_constraint where conrelid in (${ownTables('r')})
    union all select concat_ws(' ', 'trigger', tgname) from pg_trigger where not tgisinternal
    union all select concat_ws(' ', 'function', proname) from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
      where ${isOurs} or nspname = 'public'
    union all select concat_ws(' ', 'checkpoint', name, version) from projections.checkpoints
  ) as parts`;

function ownTables(kinds: string): string {
  return `select pg_class.oid from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where ${isOurs} and relkind = any('{${kinds}}') and not relispartition`;
}

/** Names with their schemas, also on a connection that read models were read on: there they would be found without. */
const wholeNames = `perform set_config('search_path', 'public', true)`;

/** Empties every table and fills in what was there at first. */
const emptyAll = `
  do $$ declare name text; begin
    ${wholeNames};
    for name in select oid::regclass::text from pg_class where relispartition and relkind = 'r' loop
      execute 'drop table ' || name;
    end loop;
    for name in select oid::regclass::text from pg_class where oid in (${ownTables('r')}) loop
      if name <> 'projections.checkpoints' then execute 'delete from ' || name; end if;
    end loop;
    for name in select filling from at_first.fillings loop execute name; end loop;
    update projections.checkpoints set position = default, status = default, failed_position = null, failed_type = null,
      error = null, updated_at = now();
  end $$`;

/** Statements that put the rows back which tables have from the beginning. */
const keepFillings = `
  create schema at_first;
  create table at_first.fillings (filling text);
  do $$ declare name text; begin
    ${wholeNames};
    for name in select oid::regclass::text from pg_class where oid in (${ownTables('r')}) loop
      continue when name = 'projections.checkpoints';
      execute format('insert into at_first.fillings select format(%L, t) from %s as t', 'insert into ' || name || ' select (%L::' || name || ').*', name);
    end loop;
  end $$`;

export class EmptiedTables {
  private shape: string | null = null;

  constructor(private readonly pool: Pool) {}

  /** Empty tables, with as little effort as may be. */
  async renew(): Promise<void> {
    if (this.shape !== null && (await this.presentShape()) === this.shape) {
      await this.pool.query(emptyAll);
      return;
    }
    await this.drop();
    await prepareReadModels(this.pool, readModels);
    await this.pool.query(keepFillings);
    this.shape = await this.presentShape();
  }

  async drop(): Promise<void> {
    await this.pool.query(`${dropAll}; drop schema if exists at_first cascade`);
    this.shape = null;
  }

  private async presentShape(): Promise<string | null> {
    const { rows: made } = await this.pool.query(`select where to_regclass('projections.checkpoints') is not null`);
    if (made.length === 0) return null;
    const { rows } = await this.pool.query<{ shape: string }>(shapeOf);
    return rows[0]?.shape ?? null;
  }
}
