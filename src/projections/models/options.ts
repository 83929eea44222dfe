import type { Selectable } from 'kysely';
import type { Position } from '../../domain/events/events.js';
import type { SecretId } from '../../domain/kernel/ids.js';
import type { OptionChanged, OptionValue } from '../../domain/options/option.js';
import type { ReadModels } from '../database.js';
import { putRows } from '../engine/multi-row.js';
import { projection } from '../engine/projection.js';

/* What operators have changed; a key without a row holds its initial value. */

export interface OptionTables {
  options: {
    key: string;
    /** Either `text`, or `secret`: the value's name in the vault. */
    text: string | null;
    secret: SecretId | null;
    /** JSON of the names, in a map with built-in prices, that do not follow these; null: all. */
    pinned: string | null;
    position: Position;
  };
}

type OptionRow = Selectable<OptionTables['options']>;

const tables = `
  create table options (
    key text primary key,
    text text,
    secret text,
    pinned text,
    position bigint not null,
    check (num_nonnulls(text, secret) = 1)
  );
`;

export const options = projection<OptionChanged>({
  name: 'options',
  version: 2,
  purpose: 'deciding',
  tables,
  interestedIn: { OptionChanged: true },
  async project(tx, batch) {
    const changed = new Map<string, OptionRow>();
    for (const { event, position } of batch) {
      const { key, value } = event;
      const pinned = event.pinned === undefined ? null : JSON.stringify(event.pinned);
      changed.set(
        key,
        'text' in value
          ? { key, text: value.text, secret: null, pinned, position }
          : { key, text: null, secret: value.secret, pinned, position },
      );
    }
    await putRows(tx, 'options', ['key'], [...changed.values()]);
  },
});

export const optionValue = ({ key, text, secret }: OptionRow): OptionValue => {
  if (text !== null) return { text };
  if (secret !== null) return { secret };
  throw new Error(`The option ${key} holds neither text nor secret`);
};

/** undefined: all names. */
export const pinnedNames = ({ pinned }: OptionRow): readonly string[] | undefined =>
  pinned === null ? undefined : (JSON.parse(pinned) as string[]);

export const allOptions = (db: ReadModels): Promise<OptionRow[]> =>
  db.selectFrom('options').selectAll().orderBy('key').execute();
