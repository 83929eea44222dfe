import type { Position } from '../../domain/events/events.js';
import type { Moment } from '../../domain/events/moment.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { isSecretOption, optionTable } from '../../domain/options/option-table.js';
import type { Actor } from '../../domain/user/user.js';
import type { ReadModels } from '../../projections/database.js';
import { optionHistory, optionTextsAt } from '../../projections/models/option-history.js';
import { authorise } from '../authorise.js';
import { type ConsistencyPorts, waitForHead } from '../consistency.js';
import type { NodeDirectory } from '../memory/directory.js';

/* The options as they were. */

export interface SettingAt {
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

interface SettingsPorts extends ConsistencyPorts {
  readonly db: ReadModels;
  readonly directory: Pick<NodeDirectory, 'initialOptionText'>;
}

export function settingsQueries({ directory, db, ...reading }: SettingsPorts) {
  return {
    /** For root and auditors. Throws `store-unavailable` while what was changed is being read anew. */
    async settingsAt(viewer: Actor, moment: Moment): Promise<SettingAt[]> {
      authorise(viewer, 'root-reading');
      const initial = Object.keys(optionTable).map((key): [string, string] => [key, directory.initialOptionText(key)]);
      await waitForHead(reading, [optionHistory.name]);
      return settingsAt(db, moment, new Map(initial));
    },
  };
}
