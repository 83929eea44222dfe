import { CompactingMap } from '../../../data-structures/compacting-map.js';
import type { StreamName } from '../../../domain/events/events.js';

/* The streams of calls, as far as decides what of them may be answered before the log has it. */

/** A stream as long as something of it is on its way to the log, or it may go on through the journal. */
export interface CallStream {
  /** How many of its events are asked for or not in the log yet. */
  onTheirWay: number;
  /** This process has begun it, and nobody has continued it. */
  begun: boolean;
}

export class CallStreams {
  private readonly streams = new CompactingMap<StreamName, CallStream>();
  /** Those and all others that were begun of late: names are made with the time, and none is used again. */
  private readonly names = new RecentNames();

  /** null: it may have been begun before. */
  begin(name: StreamName): CallStream | null {
    if (this.names.has(name) || this.streams.has(name)) return null;
    this.names.add(name);
    const begins: CallStream = { onTheirWay: 0, begun: false };
    this.streams.set(name, begins);
    return begins;
  }

  /** null: it is not known how far it has come. */
  goOn(name: StreamName): CallStream | null {
    const begun = this.streams.get(name);
    if (!begun?.begun) return null;
    begun.begun = false;
    return begun;
  }

  /** From now on the log judges what comes next. The result: what is on its way there still; null: nothing. */
  leaveToLog(name: StreamName): CallStream | null {
    this.names.add(name);
    const known = this.streams.get(name);
    if (known === undefined) return null;
    known.begun = false;
    if (known.onTheirWay > 0) return known;
    this.streams.delete(name);
    return null;
  }

  /** The log has its first event, and no other. */
  begunByLog(name: StreamName): void {
    this.streams.set(name, { onTheirWay: 0, begun: true });
  }

  /** One of its events is not on its way any more. */
  arrived(name: StreamName, stream: CallStream): void {
    stream.onTheirWay--;
    if (stream.onTheirWay === 0 && !stream.begun) this.streams.delete(name);
  }
}

/** The newest names, twenty thousand at least. */
class RecentNames {
  private newer = new Set<StreamName>();
  private older = new Set<StreamName>();

  has(name: StreamName): boolean {
    return this.newer.has(name) || this.older.has(name);
  }

  add(name: StreamName): void {
    if (this.newer.size >= 20_000) {
      this.older = this.newer;
      this.newer = new Set();
    }
    this.newer.add(name);
  }
}
