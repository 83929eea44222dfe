import type { Position } from '../../domain/events/events.js';
import { checkText, searchText } from '../../domain/kernel/bounds.js';
import { invalidField } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { isSecretOption } from '../../domain/options/option-table.js';
import type { Actor } from '../../domain/user/user.js';
import { type OptionChangeRow, optionChangeAt, optionChanges } from '../../projections/models/option-history.js';
import { authorise } from '../authorise.js';
import type { NodeDirectory } from '../memory/directory.js';
import { currentOf, type ReadingPorts } from '../viewer.js';

/* What has become of the options. */

interface OptionQueryPorts extends ReadingPorts {
  readonly directory: Pick<NodeDirectory, 'initialOptionText'>;
}

export interface OptionChange {
  readonly position: Position;
  readonly key: string;
  readonly at: Instant;
  /** null: it was changed by a release that did not record it. */
  readonly by: UserId | null;
  /** null: a secret. */
  readonly from: string | null;
  readonly to: string | null;
  /** Nobody had changed it before: `from` is what it holds by itself. */
  readonly isFirst: boolean;
  /** There is more of `from` or `to`. */
  readonly isCut: boolean;
}

interface OptionHistoryRequest {
  /** null: all options. */
  readonly key: string | null;
  readonly before: Position | null;
  readonly first: number;
}

/** Of each text in a list. */
const shownInLists = 1_000;
/** More than any option can hold. */
const whole = 1_048_576;

export function optionQueries({ directory, ...reading }: OptionQueryPorts) {
  const current = currentOf(reading);

  const changeOf = (row: OptionChangeRow, maxLength: number): OptionChange => {
    const { position, key, at, by_user: by, text: to, position_before, text_before, is_cut } = row;
    const isFirst = position_before === null;
    const initial = isFirst && !isSecretOption(key) ? directory.initialOptionText(key) : '';
    const from = isFirst ? initial.slice(0, maxLength) : text_before;
    return { position, key, at, by, from, to, isFirst, isCut: is_cut || initial.length > maxLength };
  };

  return {
    /** Newest first. */
    async optionHistory(
      viewer: Actor,
      { key, before, first }: OptionHistoryRequest,
    ): Promise<{ readonly items: readonly OptionChange[]; readonly hasMore: boolean }> {
      authorise(viewer, 'root-reading');
      if (key !== null) checkText('key', key, searchText);
      const rows = await optionChanges(await current(), { key, before, max: first + 1 }, shownInLists);
      return { items: rows.slice(0, first).map((row) => changeOf(row, shownInLists)), hasMore: rows.length > first };
    },

    /** One change with its whole texts. */
    async optionChange(viewer: Actor, position: Position): Promise<OptionChange> {
      authorise(viewer, 'root-reading');
      const row = await optionChangeAt(await current(), position, whole);
      if (row === undefined) throw invalidField('position', 'the position of a change of an option');
      return changeOf(row, whole);
    },
  };
}
