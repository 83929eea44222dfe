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
    position: Position;
  };
}

type OptionRow = Selectable<OptionTables['options']>;

const tables = `
  create table options (
    key text primary key,
    text text,
    secret text,
    position bigint not null,
    check (num_nonnulls(text, secret) = 1)
  );
`;

export const options = projection<OptionChanged>({
  name: 'options',
  version: 1,
  purpose: 'deciding',
  tables,
  interestedIn: { OptionChanged: true },
  async project(tx, batch) {
    const changed = new Map<string, OptionRow>();
    for (const { event, position } of batch) {
      const { key, value } = event;
      changed.set(
        key,
        'text' in value
          ? { key, text: value.text, secret: null, position }
          : { key, text: null, secret: value.secret, position },
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

export const allOptions = (db: ReadModels): Promise<OptionRow[]> =>
  db.selectFrom('options').selectAll().orderBy('key').execute();
