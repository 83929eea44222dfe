import type { Tail } from '../application/tail.js';
import { type Position, type Recorded, streamKey } from '../domain/events.js';
import { UserId } from '../domain/ids.js';

/* One consumer of the tail for all who watch a wallet: what an event costs does not grow with the consoles open. */

export interface WalletWatch {
  /** Tells the position of whatever moves the user's wallet or writes to its log. null: of anybody. */
  add(user: UserId | null, moved: (position: Position) => void): () => void;
  stop(): void;
}

type Moved = (position: Position) => void;

export function watchWallets(tail: Pick<Tail, 'add'>): WalletWatch {
  const watchers = new Map<UserId | null, Set<Moved>>();

  const tell = (user: UserId | null, position: Position): void => {
    for (const moved of watchers.get(user) ?? []) moved(position);
  };

  const stop = tail.add({
    take(batch) {
      if (watchers.size === 0) return;
      for (const recorded of batch) {
        const user = walletIn(recorded);
        if (user === 'none') continue;
        if (user === 'unnamed') for (const watched of watchers.keys()) tell(watched, recorded.position);
        else {
          tell(null, recorded.position);
          tell(user, recorded.position);
        }
      }
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

function walletIn({ event, stream }: Recorded): UserId | 'unnamed' | 'none' {
  switch (event.type) {
    case 'CallReserved':
    case 'CallSettled':
    case 'CallReleased':
    case 'CallRefunded':
      return event.facts.userId;
    case 'QuotaGranted':
    case 'QuotaAdjusted':
      return UserId(streamKey(stream));
    // Its line goes to the root user, whom the event does not name.
    case 'ChannelTested':
      return 'unnamed';
    default:
      return 'none';
  }
}
