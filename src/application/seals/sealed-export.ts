import { beginning, Position } from '../../domain/events/events.js';
import type { EventLines, PublicSealKey, Seal, SealKeyStore, SealStore } from '../ports/seal-ports.js';
import type { Clock, Vault } from '../ports/storage-ports.js';
import { headText } from './compare-head.js';
import { endStatement, nothingBefore, positionOf, sealDigest, sealStatement } from './seal.js';
import { signerOf } from './seal-keys.js';
import { sealsInOrder } from './seals-in-order.js';

/* The log with its seals as a text of lines, for a verifier that has nothing but this. docs/audit.md describes it. */

/** Whole seals, with their events. */
interface SealedStretch {
  /** The seal before it; null: it begins with the first. */
  readonly before: Seal | null;
  readonly last: Seal;
}

interface ExportPorts {
  /** Left out: all there is. */
  readonly stretch?: SealedStretch;
  readonly lines: EventLines;
  readonly seals: Pick<SealStore, 'after' | 'newest'>;
  readonly keys: Pick<SealKeyStore, 'all'>;
  readonly vault: Pick<Vault, 'get'>;
  readonly clock: Clock;
}

const exportForm = 'tallygate-log-1';
const pageSize = 1_000;

/** Without where the private one is. */
export const publicPart = ({ number, id, publicKey, since, endorsement }: PublicSealKey): PublicSealKey => ({
  number,
  id,
  publicKey,
  since,
  endorsement,
});

/** As it is exported and sent out. */
export const sealLine = (seal: Seal): string =>
  `{"seal":${sealStatement(seal)},"signature":${JSON.stringify(seal.signature)}}`;

/**
 * Pages of lines: the keys, then every event, each seal behind the last event that it covers, and a line that says how
 * much there was. What comes into the log in the meantime may be there, not sealed yet.
 */
export async function* sealedExport(ports: ExportPorts): AsyncGenerator<readonly string[], void, undefined> {
  const { lines, keys } = ports;
  // Before the keys: those of all seals that are written are among them, also where one is replaced in the meantime.
  const { before, last: lastSeal } = ports.stretch ?? { before: null, last: null };
  const seals = sealsInOrder(
    lastSeal === null
      ? ports.seals
      : { after: (number, limit) => ports.seals.after(number, limit), newest: async () => lastSeal },
    before?.number,
  );
  let next = await seals.next();
  const all = await keys.all();
  const newestKey = all.at(-1);
  // Now, as its private key goes when another one takes its place.
  const signer = newestKey === undefined ? null : await signerOf(ports, newestKey);
  const begins = before === null ? {} : { after: headText(before) };
  yield [JSON.stringify({ log: exportForm, ...begins, keys: all.map(publicPart) })];
  const total = { events: 0, seals: 0, head: before === null ? nothingBefore : sealDigest(before) };
  const sealsBefore = async (position: number): Promise<string[]> => {
    const written: string[] = [];
    for (; next.done !== true && Number(next.value.last) < position; next = await seals.next()) {
      written.push(sealLine(next.value));
      total.head = sealDigest(next.value);
    }
    total.seals += written.length;
    return written;
  };
  for (let after: Position = before?.last ?? beginning; ; ) {
    const read = await lines.after(after, pageSize);
    const page = lastSeal === null ? read : read.filter((line) => positionOf(line) <= Number(lastSeal.last));
    const end = page.at(-1);
    if (end === undefined) break;
    const written: string[] = [];
    for (const line of page) {
      const position = positionOf(line);
      if (next.done !== true && Number(next.value.last) < position) written.push(...(await sealsBefore(position)));
      written.push(line);
    }
    total.events += page.length;
    after = Position(positionOf(end));
    yield written;
  }
  const last = await sealsBefore(Number.POSITIVE_INFINITY);
  const end = endStatement({ ...total, at: ports.clock.now(), keyId: signer?.keyId ?? '' });
  yield [...last, `{"end":${end},"signature":${JSON.stringify(signer?.sign(end) ?? '')}}`];
}
