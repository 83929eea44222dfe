import type { Logger } from 'pino';
import type { Ending } from '../application/ending.js';
import type { Clock, Passwords } from '../application/ports/storage-ports.js';
import type { Config } from '../config.js';
import type { Closing } from '../process/closing.js';

/** What every step of a node's start is given. */
export interface NodeStart {
  readonly config: Config;
  readonly log: Logger;
  /** What everything in this process is dated by. */
  readonly clock: Clock;
  readonly passwords: Passwords;
  /** Takes what must be closed again, last opened first. */
  readonly closing: Closing;
  readonly ending: Ending;
  /** Between two looks whether a source of prices is to be fetched. Left out: a minute. */
  readonly pricesPauseMs?: number | undefined;
}
