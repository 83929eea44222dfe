import type { UserId } from '../../domain/kernel/ids.js';
import { guessedAt } from '../../domain/user/security-news.js';
import { type NotifierPorts, notifier } from './notifier.js';

interface GuessingPorts extends NotifierPorts {
  readonly log: {
    warn(facts: object, message: string): void;
    error(facts: object, message: string): void;
  };
}

const dayMs = 86_400_000;

/** Notifies the owner of an account at which others guess, once a day whichever node has seen it. */
export function notifyOfGuessing(ports: GuessingPorts): (user: UserId, what: 'password' | 'factor') => void {
  const notify = notifier(ports);
  return (user, what) => {
    const at = ports.clock.now();
    ports.log.warn({ user, what }, 'somebody guesses at an account; its owner is notified');
    notify(user, guessedAt(what), { id: `guessed ${what} ${user} ${Math.floor(at / dayMs)}`, at }).catch((error) =>
      ports.log.error({ err: error, user }, 'the owner could not be notified that somebody guesses'),
    );
  };
}
