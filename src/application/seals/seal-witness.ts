import type { Seal, SealKeyStore, SealStore, SealWitness } from '../ports/seal-ports.js';
import type { Vault } from '../ports/storage-ports.js';
import type { NotedHead } from './compare-head.js';
import { nothingBefore, sealDigest } from './seal.js';

/*
 * Which seal the next one may follow. Whoever has the database could take the newest seals away, change their events and
 * wait: what the gateway seals then would be signed with the true key. So it remembers the newest seal, in its memory and
 * beside the seals with a keyed hash, and seals nothing behind another.
 */

interface WitnessPorts {
  readonly seals: Pick<SealStore, 'newest' | 'numbered' | 'witness' | 'beginWitness' | 'keepWitness'>;
  readonly keys: Pick<SealKeyStore, 'all'>;
  readonly vault: Pick<Vault, 'hash'>;
}

/** The newest seal that a process has seen. */
export interface SeenSeal {
  newest: NotedHead | null;
}

/** The seals are not those that the gateway has made: somebody has changed them, or has put back a part of an older copy. */
export class SealsReplaced extends Error {}

const noSeal: NotedHead = { number: -1, digest: nothingBefore };

const headOf = (seal: Seal | null): NotedHead =>
  seal === null ? noSeal : { number: seal.number, digest: sealDigest(seal) };

const macOf = ({ vault }: Pick<WitnessPorts, 'vault'>, { number, digest }: NotedHead): string =>
  vault.hash(`seal witness ${number}:${digest}`);

const signed = (ports: Pick<WitnessPorts, 'vault'>, head: NotedHead): SealWitness => ({
  ...head,
  mac: macOf(ports, head),
});

/** Of a seal that is about to be the newest. */
export const witnessOf = (ports: Pick<WitnessPorts, 'vault'>, seal: Seal): SealWitness => signed(ports, headOf(seal));

/** The newest seal, which is the one that was made last; null: there is none yet. Throws SealsReplaced. */
export async function witnessedNewest(ports: WitnessPorts, seen: SeenSeal): Promise<Seal | null> {
  const witness = (await ports.seals.witness()) ?? (await firstWitness(ports));
  if (witness.mac !== macOf(ports, witness)) throw new SealsReplaced('the witness of the newest seal is not ours');
  const { number } = witness;
  const seal = number < 0 ? null : await ports.seals.numbered(number);
  if (headOf(seal).digest !== witness.digest) throw new SealsReplaced(`seal ${number} is not the one that was made`);
  await checkSeen(ports, seen.newest, number);
  seen.newest = headOf(seal);
  return seal;
}

/** Nothing has been sealed: a log that has seals, or keys for them, has had a witness. */
async function firstWitness(ports: WitnessPorts): Promise<SealWitness> {
  const [newest, keys] = await Promise.all([ports.seals.newest(), ports.keys.all()]);
  const witness = newest === null && keys.length === 0 ? null : await ports.seals.witness();
  if (witness !== null) return witness;
  if (newest !== null || keys.length > 0) throw new SealsReplaced('the witness of the newest seal is not there');
  const first = signed(ports, noSeal);
  await ports.seals.beginWitness(first);
  return (await ports.seals.witness()) ?? first;
}

async function checkSeen({ seals }: WitnessPorts, seen: NotedHead | null, newest: number): Promise<void> {
  if (seen === null || seen.number < 0) return;
  const there = newest < seen.number ? null : await seals.numbered(seen.number);
  if (there === null || sealDigest(there) !== seen.digest)
    throw new SealsReplaced(`seal ${seen.number}, which this process has seen, is not there any more`);
}

/**
 * The next seal may follow the newest there is: for whoever has checked it, after a part of a backup was put back. False:
 * the newest is another one. A gateway that runs has its own memory, and has to be started again.
 */
export async function acceptNewestSeal(ports: WitnessPorts, head: NotedHead): Promise<boolean> {
  const newest = headOf(await ports.seals.newest());
  if (newest.number !== head.number || newest.digest !== head.digest) return false;
  await ports.seals.keepWitness(signed(ports, newest));
  return true;
}
