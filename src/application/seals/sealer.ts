import { unhurried } from '../../concurrency/unhurried.js';
import { beginning, Position } from '../../domain/events/events.js';
import type { EventLines, Seal, SealStore } from '../ports/seal-ports.js';
import { EventsHash, nothingBefore, positionOf, sealDigest, sealStatement } from './seal.js';
import { type SealKeyPorts, sealSigner } from './seal-keys.js';

/** Events that one seal covers at most. */
const usualMax = 1_000;

export interface SealerPorts extends SealKeyPorts {
  readonly lines: EventLines;
  readonly seals: SealStore;
}

interface SealingOptions {
  /** Ends it between two seals. */
  readonly signal?: AbortSignal;
  /** Events that one seal covers at most. Left out: a thousand. */
  readonly maxEvents?: number;
}

/**
 * Seals what has come into the log since the last seal, however much that is, with pauses in which others have the
 * process. Resolves with the number of seals made. Whoever seals the same at once makes no second seal: each has a number,
 * and there is one of each.
 */
export async function sealNewEvents(
  ports: SealerPorts,
  { signal, maxEvents = usualMax }: SealingOptions = {},
): Promise<number> {
  let made = 0;
  for await (const sealed of unhurried(newSeals(ports, maxEvents))) {
    if (sealed) made += 1;
    if (signal?.aborted === true) break;
  }
  return made;
}

async function* newSeals(ports: SealerPorts, maxEvents: number): AsyncGenerator<boolean, void, undefined> {
  const { lines, seals } = ports;
  for (;;) {
    const before = await seals.newest();
    const page = await lines.after(before?.last ?? beginning, maxEvents);
    if (page.length === 0) return;
    // Somebody else's, where it was not added: the next one comes after that.
    yield await seals.add(await sealOver(ports, before, page));
  }
}

async function sealOver(ports: SealerPorts, before: Seal | null, page: readonly string[]): Promise<Seal> {
  const signer = await sealSigner(ports);
  const hash = new EventsHash();
  hash.add(page);
  const facts = {
    number: before === null ? 0 : before.number + 1,
    first: Position(positionOf(page[0] ?? '')),
    last: Position(positionOf(page.at(-1) ?? '')),
    events: page.length,
    eventsHash: hash.digest(),
    previous: before === null ? nothingBefore : sealDigest(before),
    at: ports.clock.now(),
    keyId: signer.keyId,
  };
  return { ...facts, signature: signer.sign(sealStatement(facts)) };
}
