import { CompactingMap } from '../../data-structures/compacting-map.js';

/*
 * One host answers only so many calls at a time, and whoever may open streams could take them all. So a caller gets at
 * most half of what the others have left: alone, half of everything; and nobody is refused the first call while there is
 * any room.
 */

interface HostShares {
  /** False: there is no room for this caller. `payer` null: nobody in particular. */
  take(host: string, payer: number | null): boolean;
  giveBack(host: string, payer: number | null): void;
}

interface Use {
  total: number;
  readonly byPayer: CompactingMap<number, number>;
}

/** `capacity`: calls under way at one host. */
export function hostShares(capacity: number): HostShares {
  const uses = new CompactingMap<string, Use>();

  return {
    take(host, payer) {
      const use = uses.get(host) ?? { total: 0, byPayer: new CompactingMap() };
      if (use.total >= capacity) return false;
      if (payer !== null) {
        const own = use.byPayer.get(payer) ?? 0;
        const leftByOthers = capacity - (use.total - own);
        if (own >= Math.max(1, Math.floor(leftByOthers / 2))) return false;
        use.byPayer.set(payer, own + 1);
      }
      use.total++;
      uses.set(host, use);
      return true;
    },
    giveBack(host, payer) {
      const use = uses.get(host);
      if (use === undefined) return;
      use.total--;
      if (use.total === 0) uses.delete(host);
      if (payer === null) return;
      const own = (use.byPayer.get(payer) ?? 1) - 1;
      if (own === 0) use.byPayer.delete(payer);
      else use.byPayer.set(payer, own);
    },
  };
}
