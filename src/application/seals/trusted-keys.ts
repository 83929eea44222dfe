import type { PublicSealKey } from '../ports/seal-ports.js';
import { endorsementStatement, isSignedBy, sealKeyId } from './seal.js';

export interface TrustedKey extends PublicSealKey {
  /** It came before those that the auditor was given: its seals count where a seal of a later key comes after them. */
  readonly isEarlier: boolean;
}

/** Keys whose seals are believed, by id; and those that nobody vouches for. */
interface KeyTrust {
  readonly trusted: ReadonlyMap<string, TrustedKey>;
  readonly refused: readonly PublicSealKey[];
}

/**
 * Which keys are believed: those that the auditor has been given, and each that a believed one has named as the next.
 * null: the auditor has none, and the first of the log counts as given. Keys before a given one are believed as far as a
 * seal of that one names what they have signed.
 */
export function trustedKeys(keys: readonly PublicSealKey[], given: ReadonlySet<string> | null): KeyTrust {
  const trusted = new Map<string, TrustedKey>();
  let before: PublicSealKey | null = null;
  for (const key of keys) {
    if (isNamed(key) && (isGiven(key, given) || isEndorsed(key, before, trusted)))
      trusted.set(key.id, { ...key, isEarlier: false });
    before = key;
  }
  trustEarlier(keys, trusted);
  return { trusted, refused: keys.filter(({ id }) => !trusted.has(id)) };
}

/** Each that has named the one after it. */
function trustEarlier(keys: readonly PublicSealKey[], trusted: Map<string, TrustedKey>): void {
  const first = keys.findIndex(({ id }) => trusted.has(id));
  for (const [place, after] of [...keys.slice(0, first + 1).entries()].reverse()) {
    const key = keys[place - 1];
    if (key === undefined || !isNamed(key) || !hasEndorsed(key, after)) return;
    trusted.set(key.id, { ...key, isEarlier: true });
  }
}

const isNamed = ({ id, publicKey }: PublicSealKey): boolean => sealKeyId(Buffer.from(publicKey, 'base64url')) === id;

const hasEndorsed = (before: PublicSealKey, key: PublicSealKey): boolean =>
  key.endorsement !== null && isSignedBy(before.publicKey, endorsementStatement(key, before), key.endorsement);

const isGiven = (key: PublicSealKey, given: ReadonlySet<string> | null): boolean =>
  given === null ? key.number === 0 : given.has(key.publicKey);

const isEndorsed = (
  key: PublicSealKey,
  before: PublicSealKey | null,
  trusted: ReadonlyMap<string, TrustedKey>,
): boolean => before !== null && trusted.has(before.id) && hasEndorsed(before, key);
