import { courseOf } from '../../domain/call/call-course.js';
import type { Recorded } from '../../domain/events/events.js';
import { CallId, isCallId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import type { ReadModels } from '../../projections/database.js';
import { mayDo } from '../authorise.js';
import type { Clock, EventStore, ReadModelProgress, Vault } from '../ports/storage-ports.js';
import { priceOrigins } from '../prices/price-origins.js';
import { EventsHash } from '../seals/seal.js';
import { signerOf } from '../seals/seal-keys.js';
import type { SealReading } from '../seals/seal-queries.js';
import { eventsOfCall } from '../usage/call-events.js';
import { pricedBy, type Receipt, type ReceiptParts, type ReceiptSource, receiptOf } from './receipt.js';
import { signedReceipt } from './signed-receipt.js';

/* Receipts, made when they are asked for: of the events of the call, the history of prices, and the seals. */

interface ReceiptPorts {
  readonly db: ReadModels;
  readonly progress: Pick<ReadModelProgress, 'reached'>;
  readonly store: Pick<EventStore, 'streamPages'>;
  readonly clock: Clock;
  readonly vault: Pick<Vault, 'get'>;
  readonly sealing: Omit<SealReading, 'lines'>;
}

type ReadSeals = Pick<SealReading['seals'], 'newest' | 'covering'>;

export function receiptQueries(ports: ReceiptPorts) {
  const receiptFor = receipts(ports);
  return {
    /** Of one's own calls; auditors and admins get everybody's, with what callers are not told. null: there is none. */
    async receipt(viewer: Actor, requestId: string): Promise<Receipt | null> {
      const isWhole = mayDo(viewer, 'admin-reading');
      const receipt = await receiptFor(requestId, isWhole ? 'whole' : 'caller');
      return isWhole || receipt?.call.userId === viewer.id ? receipt : null;
    },

    signedReceipt: (receipt: Receipt): Promise<string | null> => signReceipt(ports, receipt),
  };
}

/** Whoever it is for. */
export function receipts(ports: Omit<ReceiptPorts, 'vault'>) {
  const { store, clock, sealing } = ports;
  const originsOf = priceOrigins(ports);
  return async (requestId: string, disclosure: Receipt['disclosure']): Promise<Receipt | null> => {
    if (!isCallId(requestId)) return null;
    const id = CallId(requestId);
    const events = await eventsOfCall(store, id);
    const course = courseOf(events);
    if (course === null) return null;
    const { facts } = course.reserved.event;
    const called = { model: facts.model, group: facts.group, position: course.reserved.position };
    const factors = await originsOf({ price: pricedBy(course), ...called });
    const sealed = await sealedSources(sealing, events);
    return receiptOf({ id, course, factors, ...sealed, issuedAt: clock.now(), disclosure });
  };
}

/** The events with their seals. */
export async function sealedSources(
  sealing: { readonly single: Pick<SealReading['single'], 'at'>; readonly seals: ReadSeals },
  events: readonly Recorded[],
): Promise<Pick<ReceiptParts, 'sources' | 'newestSeal'>> {
  // Before those that cover the events: of a seal that is made meanwhile, an event would seem to be left out.
  const newestSeal = await sealing.seals.newest();
  return { newestSeal, sources: await Promise.all(events.map((recorded) => sourceOf(sealing, recorded))) };
}

async function sourceOf(
  { single, seals }: Parameters<typeof sealedSources>[0],
  recorded: Recorded,
): Promise<ReceiptSource> {
  const { position } = recorded;
  const [line, seal] = await Promise.all([single.at(position), seals.covering(position)]);
  return { recorded, seal, hash: line === null ? null : hashOf(line) };
}

function hashOf(line: string): string {
  const hash = new EventsHash();
  hash.add([line]);
  return hash.digest();
}

/**
 * With the newest key of the seals; null: there is none yet, as the gateway has sealed nothing. Throws Failure
 * `store-unavailable` where the vault has lost it.
 */
export async function signReceipt(
  { vault, sealing }: Pick<ReceiptPorts, 'vault' | 'sealing'>,
  receipt: Receipt,
): Promise<string | null> {
  // The first key is made by whoever seals, together with what vouches for it.
  const newest = (await sealing.keys.all()).at(-1);
  return newest === undefined ? null : signedReceipt(receipt, await signerOf({ vault }, newest));
}
