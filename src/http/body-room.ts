import type { ServerResponse } from 'node:http';
import { CompactingMap } from '../data-structures/compacting-map.js';
import { rateLimitKey } from './client-network.js';

/*
 * How much of request bodies the process holds at once, and how many each client is still sending. A body counts what
 * has come of it, unpacked, from its first byte until nothing needs it any more; it never counts what it only announces,
 * or announcing would be a way to keep others out.
 */

interface BodyRoomLimits {
  /** Over all bodies. One holder gets a quarter of it, but always one body of `maxBytes`. */
  readonly totalBytes: number;
  readonly maxBytes: number;
  /** Bodies from one client network that have begun and are not whole. */
  readonly unfinishedPerAddress: number;
}

/** Why bytes cannot be taken: the holder has its share, or everybody together has all there is. */
export type NoRoom = 'holder' | 'process';

/** One body on its way through. */
export interface BodySlot {
  /** Counts bytes that have come; nothing is counted when there is no room for them. */
  take(bytes: number): NoRoom | null;
  /** The body is whole, or no more of it is wanted: it counts no longer as unfinished. */
  finish(): void;
  /** Nothing of it is held any more. */
  leave(): void;
}

const shares = 4;

export class BodyRoom {
  private held = 0;
  private readonly byHolder = new CompactingMap<string | number, number>();
  private readonly unfinished = new CompactingMap<string, number>();
  private readonly share: number;

  constructor(private readonly limits: BodyRoomLimits) {
    this.share = Math.max(limits.totalBytes / shares, limits.maxBytes);
  }

  /** Bytes held now. */
  get bytes(): number {
    return this.held;
  }

  /** `holder`: whose share the bytes are taken from. null: from where it is, as many are being sent as may be. */
  enter(address: string, holder: string | number): BodySlot | null {
    const network = rateLimitKey(address);
    const sending = this.unfinished.get(network) ?? 0;
    if (sending >= this.limits.unfinishedPerAddress) return null;
    this.unfinished.set(network, sending + 1);
    let taken = 0;
    let finished = false;

    const finish = (): void => {
      if (finished) return;
      finished = true;
      lower(this.unfinished, network, 1);
    };
    return {
      take: (bytes) => {
        if (this.held + bytes > this.limits.totalBytes) return 'process';
        const holding = this.byHolder.get(holder) ?? 0;
        if (holding + bytes > this.share) return 'holder';
        this.byHolder.set(holder, holding + bytes);
        this.held += bytes;
        taken += bytes;
        return null;
      },
      finish,
      leave: () => {
        finish();
        if (taken === 0) return;
        this.held -= taken;
        lower(this.byHolder, holder, taken);
        taken = 0;
      },
    };
  }
}

/** Counts a body that somebody else reads until it is whole or answered; false: its address sends enough already. */
export function countUnfinished(room: BodyRoom, response: ServerResponse, address: string): boolean {
  const slot = room.enter(address, address);
  if (slot === null) return false;
  response.req.once('end', slot.finish);
  // A request that is answered before it has come gets no end event, nor always a close event.
  response.once('close', slot.finish);
  return true;
}

function lower<Key extends string | number>(counts: CompactingMap<Key, number>, key: Key, by: number): void {
  const left = (counts.get(key) ?? 0) - by;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}
