import { Position } from '../../domain/events/events.js';
import type { EventLines, Seal, SealKeyStore, SealStore } from '../ports/seal-ports.js';
import { positionOf, sealDigest } from './seal.js';
import { type SealFinding, SealWalk } from './seal-walk.js';
import { trustedKeys } from './trusted-keys.js';

/** A seal as somebody has noted it elsewhere. */
export interface NotedHead {
  readonly number: number;
  readonly digest: string;
}

/** `12:9f86d0…`: short enough for a note, and enough to recognise a log by. */
export const headText = (seal: Seal): string => `${seal.number}:${sealDigest(seal)}`;

/** null: it is no head. */
export function readHead(text: string): NotedHead | null {
  const [, number, digest] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  return number === undefined || digest === undefined ? null : { number: Number(number), digest };
}

interface ComparePorts {
  readonly lines: EventLines;
  readonly seals: Pick<SealStore, 'numbered' | 'newest' | 'after'>;
  readonly keys: Pick<SealKeyStore, 'all'>;
}

export interface Compared {
  readonly outcome: 'same' | 'missing' | 'differs' | 'altered';
  readonly newest: Seal | null;
  /** The last seal whose events were read; null: none were. */
  readonly checkedTo: number | null;
  /** Of the noted seal and those after it: what is not as it was sealed. */
  readonly findings: readonly SealFinding[];
}

const pageSize = 1_000;
const maxFindings = 1_000;

/**
 * Whether the log still has the seal that somebody has noted, with its events and all that was sealed after it. `missing`:
 * its seals end before, as those of an older copy do. `differs`: another seal has that number, so what lies before it is
 * not what it was. `altered`: it is there, and the events from its first one on are not those that were sealed. With
 * `maxSeals` the events of so many seals are read, and no more.
 */
export async function compareHead(
  ports: ComparePorts,
  head: NotedHead,
  maxSeals = Number.POSITIVE_INFINITY,
): Promise<Compared> {
  const { seals } = ports;
  const [seal, newest] = await Promise.all([seals.numbered(head.number), seals.newest()]);
  if (seal === null) return { outcome: 'missing', newest, checkedTo: null, findings: [] };
  if (sealDigest(seal) !== head.digest) return { outcome: 'differs', newest, checkedTo: null, findings: [] };
  const isWhole = newest === null || newest.number < head.number + maxSeals;
  // Not by its number, which may be missing.
  const last = isWhole ? newest : ((await seals.after(head.number - 1, maxSeals)).at(-1) ?? null);
  const findings = await findingsFrom(ports, seal, { last, isWhole });
  const checkedTo = last?.number ?? head.number;
  return { outcome: findings.length === 0 ? 'same' : 'altered', newest, checkedTo, findings };
}

async function findingsFrom(
  { lines, seals, keys }: ComparePorts,
  seal: Seal,
  { last: end, isWhole }: { readonly last: Seal | null; readonly isWhole: boolean },
): Promise<readonly SealFinding[]> {
  const findings: SealFinding[] = [];
  const { trusted } = trustedKeys(await keys.all(), null);
  const walk = await SealWalk.begin({
    seals: { after: (number, limit) => seals.after(number, limit), newest: () => Promise.resolve(end) },
    keys: trusted,
    from: { number: seal.number - 1, digest: seal.previous, keyNumber: trusted.get(seal.keyId)?.number ?? 0 },
    found: (finding) => {
      if (findings.length < maxFindings) findings.push(finding);
    },
  });
  for (let after = Position(Number(seal.first) - 1); ; ) {
    const page = await lines.after(after, pageSize);
    const within = isWhole || end === null ? page : page.filter((line) => positionOf(line) <= Number(end.last));
    const last = within.at(-1);
    if (last === undefined) break;
    await walk.take(within);
    after = Position(positionOf(last));
  }
  await walk.end();
  return findings;
}
