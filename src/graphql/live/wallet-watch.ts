import type { Tail } from '../../application/memory/tail.js';
import type { Position, Recorded } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { readableMovementsOf } from '../../domain/ledger/movements.js';

/* One consumer of the tail for all who watch a wallet: what an event costs does not grow with the consoles open. */

export interface WalletWatch {
  /** Publishes the position of whatever moves the user's wallet, or what waits to be transferred there. */
  add(user: UserId, moved: (position: Position) => void): () => void;
  stop(): void;
}

type Moved = (position: Position) => void;

export function watchWallets(tail: Pick<Tail, 'add'>): WalletWatch {
  const watchers = new Map<UserId, Set<Moved>>();

  const publish = (user: UserId, position: Position): void => {
    for (const moved of watchers.get(user) ?? []) moved(position);
  };

  const stop = tail.add({
    take(batch) {
      if (watchers.size === 0) return;
      for (const recorded of batch) for (const user of walletsIn(recorded)) publish(user, recorded.position);
    },
  });

  return {
    add(user, moved) {
      const all = watchers.get(user) ?? new Set();
      watchers.set(user, all.add(moved));
      return () => {
        all.delete(moved);
        if (all.size === 0 && watchers.get(user) === all) watchers.delete(user);
      };
    },
    stop: () => void stop(),
  };
}

function walletsIn(recorded: Recorded): ReadonlySet<UserId> {
  const wallets = new Set<UserId>();
  for (const { postings } of readableMovementsOf(recorded))
    for (const posting of postings)
      if (posting.owner === 'user' || posting.owner === 'inviter') wallets.add(posting.id);
  return wallets;
}
