import type { Seal, SealStore } from '../ports/seal-ports.js';
import { sealDigest } from './seal.js';

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

/**
 * Whether the log still has the seal that somebody has noted. `missing`: its seals end before, as those of an older copy
 * do. `differs`: another seal has that number, so what lies before it is not what it was.
 */
export async function compareHead(
  seals: Pick<SealStore, 'numbered' | 'newest'>,
  head: NotedHead,
): Promise<{ readonly outcome: 'same' | 'missing' | 'differs'; readonly newest: Seal | null }> {
  const [seal, newest] = await Promise.all([seals.numbered(head.number), seals.newest()]);
  if (seal === null) return { outcome: 'missing', newest };
  return { outcome: sealDigest(seal) === head.digest ? 'same' : 'differs', newest };
}
