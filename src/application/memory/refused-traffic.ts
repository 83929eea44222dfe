import type { Refusal } from '../../domain/kernel/refusal.js';
import type { Clock } from '../ports/storage-ports.js';

/*
 * The refusals of the last minute, by what their callers were answered. They are counted as they come, not from the
 * log: of a flood the log records at the end of each minute only how many there were.
 */

export interface RefusedFigures extends Pick<Refusal, 'status' | 'code'> {
  readonly perMinute: number;
}

const windowSeconds = 60;

type Counts = Map<string, RefusedFigures>;

export class RefusedTraffic {
  /** By second. There are as few codes as failures of the relay. */
  private readonly seconds = new Map<number, Counts>();

  constructor(private readonly clock: Clock) {}

  count({ status, code }: Pick<Refusal, 'status' | 'code'>, count: number): void {
    const second = this.present();
    this.forget(second);
    let counts = this.seconds.get(second);
    if (counts === undefined) {
      counts = new Map();
      this.seconds.set(second, counts);
    }
    add(counts, { status, code, perMinute: count });
  }

  /** Most frequent first. */
  figures(): readonly RefusedFigures[] {
    this.forget(this.present());
    const sums: Counts = new Map();
    for (const counts of this.seconds.values()) for (const figures of counts.values()) add(sums, figures);
    return [...sums.values()].sort((one, other) => other.perMinute - one.perMinute);
  }

  private present(): number {
    return Math.floor(this.clock.now() / 1000);
  }

  /** Seconds of a clock that has been set back since are forgotten, too. */
  private forget(present: number): void {
    for (const second of this.seconds.keys())
      if (second <= present - windowSeconds || second > present) this.seconds.delete(second);
  }
}

function add(counts: Counts, { status, code, perMinute }: RefusedFigures): void {
  const key = `${status} ${code}`;
  counts.set(key, { status, code, perMinute: (counts.get(key)?.perMinute ?? 0) + perMinute });
}
