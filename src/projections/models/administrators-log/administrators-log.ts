import type { Selectable } from 'kysely';
import type { EventType, Position, Recorded } from '../../../domain/events/events.js';
import type { OrderCredential, OrderFace } from '../../../domain/events/order-origin.js';
import type { Sealed, UserId } from '../../../domain/kernel/ids.js';
import type { Instant } from '../../../domain/kernel/instant.js';
import type { ReadModels } from '../../database.js';
import { insertRows, putRows } from '../../engine/multi-row.js';
import { projection } from '../../engine/projection.js';
import {
  type Act,
  type ActKind,
  type ActSubject,
  type AdministeredEvent,
  type AsItWas,
  administeredTypes,
  foldAct,
  orderedBy,
  thingsOf,
} from './acts.js';
import { type FieldChange, maxChanges } from './changed-fields.js';

/* Who did what as an administrator, from where, to which thing, and what it was before. */

export interface AdministratorsLogTables {
  administrator_act: {
    position: Position;
    at: Instant;
    /** null: an earlier release did not write it down, or it was done on the command line. */
    by_user: UserId | null;
    on_command_line: boolean;
    face: OrderFace | null;
    credential: OrderCredential | null;
    /** Sealed with the key of `by_user`. */
    address: Sealed | null;
    kind: ActKind;
    subject: ActSubject;
    subject_id: string;
    name: string | null;
    changes: readonly FieldChange[];
    /** Changes beyond those that are kept. */
    more_changes: number;
  };
  /** What the next change is compared with. */
  administered_as_it_was: {
    thing: string;
    as_it_was: AsItWas;
  };
}

const tables = `
  create table administrator_act (
    position bigint primary key,
    at bigint not null,
    by_user bigint,
    on_command_line boolean not null,
    face text,
    credential text,
    address text,
    kind text not null,
    subject text not null,
    subject_id text not null,
    name text,
    changes json not null,
    more_changes integer not null
  );
  create index on administrator_act (by_user, position);
  create index on administrator_act (kind, position);
  create index on administrator_act (subject, subject_id, position);

  create table administered_as_it_was (
    thing text primary key,
    as_it_was json not null
  ) with (fillfactor = 70);
`;

export type ActRow = Selectable<AdministratorsLogTables['administrator_act']>;

const interest = Object.fromEntries(administeredTypes.map((type) => [type, true])) as Readonly<
  Record<AdministeredEvent['type'] & EventType, true>
>;

export const administratorsLog = projection<AdministeredEvent>({
  name: 'administrators_log',
  version: 1,
  purpose: 'showing',
  tables,
  interestedIn: interest,
  async project(tx, batch) {
    const known = await knownBefore(tx, batch);
    const touched = new Set<string>();
    const rows: ActRow[] = [];
    for (const recorded of batch) {
      const { act, after } = foldAct(known, recorded);
      for (const [thing, asItWas] of after) {
        touched.add(thing);
        if (asItWas === null) known.delete(thing);
        else known.set(thing, asItWas);
      }
      const by = orderedBy(recorded);
      if (by !== null) rows.push(rowOf(recorded, act, by));
    }
    await insertRows(tx, 'administrator_act', rows);
    await keep(tx, [...touched], known);
  },
});

function rowOf({ position, at, ordered }: Recorded, act: Act, by: UserId | 'unknown' | 'cli'): ActRow {
  return {
    position,
    at,
    by_user: typeof by === 'number' ? by : null,
    on_command_line: by === 'cli',
    face: ordered?.face ?? null,
    credential: ordered?.credential ?? null,
    address: ordered?.address ?? null,
    kind: act.kind,
    subject: act.subject,
    subject_id: act.id,
    name: act.name,
    changes: act.changes.slice(0, maxChanges),
    more_changes: Math.max(0, act.changes.length - maxChanges),
  };
}

async function knownBefore(
  tx: ReadModels,
  batch: readonly Recorded<AdministeredEvent>[],
): Promise<Map<string, AsItWas>> {
  const things = [...new Set(batch.flatMap(thingsOf))];
  if (things.length === 0) return new Map();
  const known = await tx.selectFrom('administered_as_it_was').selectAll().where('thing', 'in', things).execute();
  return new Map(known.map(({ thing, as_it_was }) => [thing, as_it_was]));
}

async function keep(tx: ReadModels, touched: readonly string[], known: ReadonlyMap<string, AsItWas>): Promise<void> {
  const gone = touched.filter((thing) => !known.has(thing));
  if (gone.length > 0) await tx.deleteFrom('administered_as_it_was').where('thing', 'in', gone).execute();
  const rows = touched.flatMap((thing) => {
    const asItWas = known.get(thing);
    return asItWas === undefined ? [] : [{ thing, as_it_was: asItWas }];
  });
  await putRows(tx, 'administered_as_it_was', ['thing'], rows);
}
