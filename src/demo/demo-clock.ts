import type { Clock } from '../application/ports/storage-ports.js';
import { Instant } from '../domain/kernel/instant.js';

/** The system's clock, which stands at a moment of the past while what happened then is being written. */
export class DemoClock implements Clock {
  private at: Instant | null = null;

  now(): Instant {
    return this.at ?? Instant(Date.now());
  }

  standAt(at: Instant): void {
    this.at = at;
  }

  /** From now on it is the system's again. */
  goOn(): void {
    this.at = null;
  }
}
