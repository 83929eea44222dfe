import type { Position } from '../../domain/events/events.js';
import type { Moment } from '../../domain/events/moment.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { isSecretOption } from '../../domain/options/option-table.js';
import type { ReadModels } from '../../projections/database.js';
import { optionTextsAt } from '../../projections/models/option-history.js';

/* The options as they were. */

interface SettingAt {
  readonly key: string;
  /** null: a secret. */
  readonly value: string | null;
  /** It held something; of a secret, all that is told. */
  readonly isSet: boolean;
  /** The change that set it; null: nobody had changed it, and `value` is what this release begins with. */
  readonly change: { readonly position: Position; readonly at: Instant; readonly by: UserId | null } | null;
}

/** Every option, in the order of their keys. */
export async function settingsAt(
  db: ReadModels,
  moment: Moment,
  initial: ReadonlyMap<string, string>,
): Promise<SettingAt[]> {
  const changed = new Map((await optionTextsAt(db, moment)).map((row) => [row.key, row]));
  return [...new Set([...initial.keys(), ...changed.keys()])].sort().map((key): SettingAt => {
    const row = changed.get(key);
    const text = row === undefined ? (initial.get(key) ?? '') : row.text;
    return {
      key,
      value: isSecretOption(key) ? null : text,
      isSet: text === null || text !== '',
      change: row === undefined ? null : { position: row.position, at: row.at, by: row.by_user },
    };
  });
}
