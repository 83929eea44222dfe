import type { EventStore } from '../src/application/ports/storage-ports.js';
import type { RecordedCall } from './history.js';

/* Made-up calls into the log, through the store that the gateway writes with. */

/** Appends under way at once: what the store takes into one batch. */
const together = 500;

/** Appends all of them, in order of their beginning as far as batches allow. `progress` gets how many are in. */
export async function writeCalls(
  store: Pick<EventStore, 'append'>,
  calls: Iterable<RecordedCall>,
  progress: (written: number) => void,
  signal: AbortSignal,
): Promise<void> {
  let batch: RecordedCall[] = [];
  let written = 0;
  const flush = async (): Promise<void> => {
    signal.throwIfAborted();
    const results = await Promise.all(batch.map(({ stream, events }) => store.append(stream, events, 'no-stream')));
    if (results.some(({ ok }) => !ok)) throw new Error('a made-up call is in the log already');
    written += batch.length;
    batch = [];
    progress(written);
  };
  for (const call of calls) {
    batch.push(call);
    if (batch.length === together) await flush();
  }
  if (batch.length > 0) await flush();
}
