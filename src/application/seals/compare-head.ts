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

interface Compared {
  readonly outcome: 'same' | 'missing' | 'differs' | 'altered';
  readonly newest: Seal | null;
  /** Of the noted seal and those after it: what is not as it was sealed. */
  readonly findings: readonly SealFinding[];
}

const pageSize = 1_000;
const maxFindings = 1_000;

/**
 * Whether the log still has the seal that somebody has noted, with its events and all that was sealed after it. `missing`:
 * its seals end before, as those of an older copy do. `differs`: another seal has that number, so what lies before it is
 * not what it was. `altered`: it is there, and the events from its first one on are not those that were sealed.
 */
export async function compareHead(ports: ComparePorts, head: NotedHead): Promise<Compared> {
  const { seals } = ports;
  const [seal, newest] = await Promise.all([seals.numbered(head.number), seals.newest()]);
  if (seal === null) return { outcome: 'missing', newest, findings: [] };
  if (sealDigest(seal) !== head.digest) return { outcome: 'differs', newest, findings: [] };
  const findings = await findingsFrom(ports, seal);
  return { outcome: findings.length === 0 ? 'same' : 'altered', newest, findings };
}

async function findingsFrom({ lines, seals, keys }: ComparePorts, seal: Seal): Promise<readonly SealFinding[]> {
  const findings: SealFinding[] = [];
  // Before the keys: those of all seals that are looked at are among them.
  const newest = await seals.newest();
  const { trusted } = trustedKeys(await keys.all(), null);
  const walk = await SealWalk.begin({
    seals: { after: (number, limit) => seals.after(number, limit), newest: () => Promise.resolve(newest) },
    keys: trusted,
    from: { number: seal.number - 1, digest: seal.previous, keyNumber: trusted.get(seal.keyId)?.number ?? 0 },
    found: (finding) => {
      if (findings.length < maxFindings) findings.push(finding);
    },
  });
  for (let after = Position(Number(seal.first) - 1); ; ) {
    const page = await lines.after(after, pageSize);
    const last = page.at(-1);
    if (last === undefined) break;
    await walk.take(page);
    after = Position(positionOf(last));
  }
  await walk.end();
  return findings;
}
