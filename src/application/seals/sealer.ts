import { unhurried } from '../../concurrency/unhurried.js';
import { beginning, Position } from '../../domain/events/events.js';
import type { GrowingLines, Seal, SealStore } from '../ports/seal-ports.js';
import type { Vault } from '../ports/storage-ports.js';
import { EventsHash, nothingBefore, positionOf, sealDigest, sealStatement } from './seal.js';
import { type SealKeyPorts, sealSigner } from './seal-keys.js';
import { SealsReplaced, type SeenSeal, witnessedNewest, witnessOf } from './seal-witness.js';

/** Events that one seal covers at most. */
const usualMax = 1_000;

export interface SealerPorts extends SealKeyPorts {
  readonly lines: GrowingLines;
  readonly seals: SealStore;
  readonly vault: SealKeyPorts['vault'] & Pick<Vault, 'hash'>;
}

interface SealingOptions {
  /** Ends it between two seals. */
  readonly signal?: AbortSignal;
  /** Events that one seal covers at most. Left out: a thousand. */
  readonly maxEvents?: number;
  /** What this process has seen until now, kept by whoever seals again. */
  readonly seen?: SeenSeal;
}

/**
 * Seals what has come into the log between the last seal and now, however much that is, with pauses in which others have
 * the process. Resolves with the number of seals made. Whoever seals the same at once makes no second seal: each has a
 * number, and there is one of each. Throws SealsReplaced, and seals nothing, where the newest seal is not the one made last.
 */
export async function sealNewEvents(
  ports: SealerPorts,
  { signal, maxEvents = usualMax, seen = { newest: null } }: SealingOptions = {},
): Promise<number> {
  let made = 0;
  for await (const sealed of unhurried(newSeals(ports, maxEvents, seen))) {
    if (sealed) made += 1;
    if (signal?.aborted === true) break;
  }
  return made;
}

async function* newSeals(
  ports: SealerPorts,
  maxEvents: number,
  seen: SeenSeal,
): AsyncGenerator<boolean, void, undefined> {
  const { lines, seals } = ports;
  // What comes in the meantime is for the next round: a log that always grows would be sealed event by event.
  const head = await lines.head();
  for (let refused = -1; ; ) {
    const before = await witnessedNewest(ports, seen);
    if (refused !== -1 && (before?.number ?? -1) < refused)
      throw new SealsReplaced(`seal ${refused} is none that was made here`);
    const from = before?.last ?? beginning;
    if (from >= head) return;
    const page = await lines.after(from, maxEvents);
    if (page.length === 0) return;
    const seal = await sealOver(ports, before, page);
    // Somebody else's, where it was not added: the next one comes after that.
    const added = await seals.add(seal, witnessOf(ports, seal));
    refused = added ? -1 : seal.number;
    yield added;
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
