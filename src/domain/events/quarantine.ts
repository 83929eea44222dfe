import { checkText, type TextBound } from '../kernel/bounds.js';
import type { Decider } from '../kernel/decider.js';
import { assertNever, Failure } from '../kernel/failure.js';
import type { UserId } from '../kernel/ids.js';
import type { Position } from './events.js';

/*
 * Events that read models leave out because they cannot fold them; somebody has decided that, and said why. Stream
 * `quarantine`. What an event means to the rest of the system is not changed by it.
 */

/** Who decided it: root, or whoever has the database and worked on the command line. */
type QuarantinedBy = UserId | 'cli';

/** `version`: of the read model. Its next version tries again: it may have been made to fold just this event. */
export type QuarantineEvent = {
  type: 'EventQuarantined';
  model: string;
  version: number;
  position: Position;
  reason: string;
  by: QuarantinedBy;
};

export type QuarantineCommand = {
  type: 'QuarantineEvent';
  model: string;
  version: number;
  position: Position;
  /** Where the read model is stopped; null: it is not. */
  stoppedAt: Position | null;
  reason: string;
  by: QuarantinedBy;
};

/** Read model, version and position of each. */
type Quarantine = ReadonlySet<string>;

const reasonText: TextBound = { max: 500 };

const quarantineKey = ({ model, version, position }: Pick<QuarantineEvent, 'model' | 'version' | 'position'>) =>
  `${model} ${version} ${position}`;

/**
 * Whose sums go on from one another: books from which a movement of money is left out are no books. They are mended or
 * wait.
 */
export const books: readonly string[] = ['ledger', 'wallets', 'quota_history'];
export const keepsBooks = (model: string): boolean => books.includes(model);

export const quarantineDecider: Decider<Quarantine, QuarantineCommand, QuarantineEvent> = {
  initial: new Set(),
  decide(command, quarantine) {
    switch (command.type) {
      case 'QuarantineEvent': {
        const { model, version, position, stoppedAt, reason, by } = command;
        checkText('reason', reason, reasonText);
        if (keepsBooks(model)) throw new Failure('books-stay-whole', { model });
        if (quarantine.has(quarantineKey(command))) return [];
        if (stoppedAt !== position)
          throw new Failure('read-model-not-stopped-there', { model, position: Number(position) });
        return [{ type: 'EventQuarantined', model, version, position, reason, by }];
      }
      default:
        return assertNever(command.type);
    }
  },
  evolve(quarantine, event) {
    switch (event.type) {
      case 'EventQuarantined':
        return new Set(quarantine).add(quarantineKey(event));
      default:
        return assertNever(event.type);
    }
  },
};
