import type { Position } from '../domain/events/events.js';
import { Failure } from '../domain/kernel/failure.js';
import type { Tail } from './memory/tail.js';
import type { ReadModelProgress } from './ports/storage-ports.js';

export interface ConsistencyPorts {
  readonly progress: Pick<ReadModelProgress, 'reached'>;
  readonly tail: Pick<Tail, 'position'>;
}

/** Longest it is waited for what has happened so far to be read. */
const patienceMs = 5_000;

/**
 * Where the log ends, once these read models hold all of it: a file that lacks something is worse than none. Throws
 * `store-unavailable`.
 */
export async function waitForHead({ progress, tail }: ConsistencyPorts, names: readonly string[]): Promise<Position> {
  const position = tail.position();
  if (await progress.reached(position, patienceMs, names)) return position;
  throw new Failure('store-unavailable');
}
