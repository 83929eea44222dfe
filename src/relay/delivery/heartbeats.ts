import { CompactingMap } from '../../data-structures/compacting-map.js';
import type { CallerDialect } from '../contracts/caller-dialect.js';
import type { CallerConnection } from './caller-connection.js';
import { eventStreamType, streamHeaders } from './write-answer.js';

/*
 * Silence on the way to callers of streams is filled: proxies and clients give up an answer of which they hear nothing
 * for a minute or so. Nothing here is a part of an answer, is charged, or keeps an upstream from being silent. One timer
 * looks at all streams, and there is none while there are none.
 */

export interface Heartbeat {
  /** Status and headers have been sent, and nothing of an answer. */
  readonly open: boolean;
  /** The answer begins, or another one takes its place: true when its headers have been sent already. */
  takeOver(): boolean;
  /** Something of the answer was written: the next one is not due for a while. */
  wrote(): void;
  stop(): void;
}

/** Of who asked for no stream. */
export const noHeartbeat: Heartbeat = { open: false, takeOver: () => false, wrote: () => {}, stop: () => {} };

interface HeartbeatOptions {
  readonly connection: Pick<CallerConnection, 'gone' | 'ended' | 'pending' | 'begin' | 'flush' | 'write'>;
  readonly dialect: Pick<CallerDialect, 'keepAlive' | 'streamType'>;
  /** After so many milliseconds without an answer status and headers are sent. */
  readonly openAfterMs: number;
  /** Longest silence after that; null: it is not filled. */
  readonly intervalMs: number | null;
}

export interface Heartbeats {
  begin(options: HeartbeatOptions): Heartbeat;
}

const lookEveryMs = 200;

class Beating implements Heartbeat {
  open = false;
  private taken = false;
  private written = false;
  private readonly begunAt = performance.now();
  private since = 0;

  constructor(
    private readonly options: HeartbeatOptions,
    readonly stop: () => void,
  ) {}

  takeOver(): boolean {
    const { open } = this;
    // What is sent from now on is sent by whoever has taken over.
    this.open = false;
    this.taken = true;
    this.written = true;
    if (this.options.intervalMs === null) this.stop();
    return open;
  }

  wrote(): void {
    this.written = true;
  }

  look(now: number): void {
    const { connection, openAfterMs, intervalMs } = this.options;
    if (connection.gone || connection.ended) this.stop();
    else if (this.written) {
      this.written = false;
      this.since = now;
      // Early by as much as the next look may be late.
    } else if (!this.open && !this.taken) {
      if (now - this.begunAt >= openAfterMs - lookEveryMs) this.sendHead(now);
    } else if (intervalMs !== null && now - this.since >= intervalMs - lookEveryMs) this.beat(now);
  }

  private sendHead(now: number): void {
    const { connection, dialect, intervalMs } = this.options;
    this.open = true;
    connection.begin(dialect.streamType ?? eventStreamType, streamHeaders);
    if (intervalMs !== null) this.beat(now);
    else connection.flush();
  }

  private beat(now: number): void {
    const { connection, dialect } = this.options;
    this.since = now;
    // Who has not taken the one before gets no other.
    if (connection.pending === 0) connection.write(dialect.keepAlive);
  }
}

export function openHeartbeats(): Heartbeats {
  const beating = new CompactingMap<number, Beating>();
  let newest = 0;
  let timer: NodeJS.Timeout | null = null;

  const look = (): void => {
    const now = performance.now();
    for (const [, one] of beating) one.look(now);
    if (beating.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  return {
    begin(options) {
      const number = ++newest;
      const one = new Beating(options, () => void beating.delete(number));
      beating.set(number, one);
      timer ??= setInterval(look, lookEveryMs).unref();
      return one;
    },
  };
}
