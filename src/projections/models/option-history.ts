import { type Expression, type Selectable, sql } from 'kysely';
import type { Position } from '../../domain/events/events.js';
import type { Moment } from '../../domain/events/moment.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { OptionChanged } from '../../domain/options/option.js';
import { isSecretOption } from '../../domain/options/option-table.js';
import type { ReadModels } from '../database.js';
import { insertRows } from '../engine/multi-row.js';
import { projection } from '../engine/projection.js';

/* Who changed which option, when, and to what. */

export interface OptionHistoryTables {
  option_change: {
    position: Position;
    key: string;
    at: Instant;
    /** null: an event of an earlier release, which does not name it. */
    by_user: UserId | null;
    /** null: a secret was given. */
    text: string | null;
    /** JSON of the names, in a map with built-in prices, that do not follow these; null: all. */
    pinned: string | null;
  };
}

const tables = `
  create table option_change (
    position bigint primary key,
    key text not null,
    at bigint not null,
    by_user bigint,
    text text,
    pinned text
  );
  create index on option_change (key, position);
`;

/** An option that has become a secret later is one for its past as well. */
const textOf = ({ key, value }: OptionChanged): string | null =>
  'secret' in value || (isSecretOption(key) && value.text !== '') ? null : value.text;

export const optionHistory = projection<OptionChanged>({
  name: 'option_history',
  version: 2,
  purpose: 'showing',
  tables,
  interestedIn: { OptionChanged: true },
  async project(tx, batch) {
    const rows = batch.map(({ event, position, at }) => ({
      position,
      key: event.key,
      at,
      by_user: event.by ?? null,
      text: textOf(event),
      pinned: event.pinned === undefined ? null : JSON.stringify(event.pinned),
    }));
    await insertRows(tx, 'option_change', rows);
  },
});

type OptionChangeTable = Omit<Selectable<OptionHistoryTables['option_change']>, 'pinned'>;

export interface OptionChangeRow extends OptionChangeTable {
  /** What it held before; null: a secret, or nobody had changed it yet. */
  readonly text_before: string | null;
  /** Of the change before; null: this is the first. */
  readonly position_before: Position | null;
  /** One of the texts is longer than what is shown of it. */
  readonly is_cut: boolean;
}

interface OptionChangeRange {
  /** null: of all options. */
  readonly key: string | null;
  /** Only what is older than this; null: from the newest. */
  readonly before: Position | null;
  readonly max: number;
}

/** Texts are shown up to `maxLength` characters: tables of prices are long, and changed often. */
const changes = (db: ReadModels, maxLength: number) => {
  const cut = (text: Expression<string | null>) => sql<string | null>`left(${text}, ${maxLength})`;
  const isLonger = (text: Expression<string | null>) => sql<boolean>`coalesce(length(${text}) > ${maxLength}, false)`;
  return db
    .selectFrom('option_change as change')
    .leftJoinLateral(
      (last) =>
        last
          .selectFrom('option_change as earlier')
          .select(['earlier.position', 'earlier.text'])
          .whereRef('earlier.key', '=', 'change.key')
          .whereRef('earlier.position', '<', 'change.position')
          .orderBy('earlier.position', 'desc')
          .limit(1)
          .as('before'),
      (join) => join.onTrue(),
    )
    .select(({ ref }) => [
      'change.position',
      'change.key',
      'change.at',
      'change.by_user',
      cut(ref('change.text')).as('text'),
      cut(ref('before.text')).as('text_before'),
      'before.position as position_before',
      sql<boolean>`${isLonger(ref('change.text'))} or ${isLonger(ref('before.text'))}`.as('is_cut'),
    ]);
};

/** Newest first. */
export function optionChanges(
  db: ReadModels,
  { key, before, max }: OptionChangeRange,
  maxLength: number,
): Promise<OptionChangeRow[]> {
  let found = changes(db, maxLength);
  if (key !== null) found = found.where('change.key', '=', key);
  if (before !== null) found = found.where('change.position', '<', before);
  return found.orderBy('change.position', 'desc').limit(max).execute();
}

export const optionChangeAt = (
  db: ReadModels,
  position: Position,
  maxLength: number,
): Promise<OptionChangeRow | undefined> =>
  changes(db, maxLength).where('change.position', '=', position).executeTakeFirst();

interface OptionTextRow extends Pick<OptionChangeRow, 'position' | 'at' | 'by_user' | 'text'> {
  readonly pinned: string | null;
}

/** What an option was set to, newest first, older than `before`: texts longer than `maxLength` are null. */
export const optionTextsBefore = (
  db: ReadModels,
  key: string,
  before: Position,
  { max, maxLength }: { readonly max: number; readonly maxLength: number },
): Promise<OptionTextRow[]> =>
  db
    .selectFrom('option_change')
    .select(['position', 'at', 'by_user', 'pinned'])
    .select(sql<string | null>`case when length(text) <= ${maxLength} then text end`.as('text'))
    .where('key', '=', key)
    .where('position', '<', before)
    .orderBy('position', 'desc')
    .limit(max)
    .execute();

type OptionAtRow = Pick<OptionChangeRow, 'key'> & OptionTextRow;

/** What each option that somebody had changed was set to, by its key; of secrets, that they were. */
export async function optionTextsAt(db: ReadModels, moment: Moment): Promise<OptionAtRow[]> {
  const changed = db
    .selectFrom('option_change')
    .distinctOn('key')
    .select(['key', 'position', 'at', 'by_user', 'text', 'pinned'])
    .orderBy('key');
  return 'at' in moment
    ? changed.where('at', '<=', moment.at).orderBy('at', 'desc').orderBy('position', 'desc').execute()
    : changed.where('position', '<=', moment.position).orderBy('position', 'desc').execute();
}
