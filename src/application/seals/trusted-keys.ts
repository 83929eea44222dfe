import type { PublicSealKey } from '../ports/seal-ports.js';
import { endorsementStatement, isSignedBy, sealKeyId } from './seal.js';

/** Keys whose seals are believed, by id; and those that nobody vouches for. */
interface KeyTrust {
  readonly trusted: ReadonlyMap<string, PublicSealKey>;
  readonly refused: readonly PublicSealKey[];
}

/**
 * Which keys are believed: those that the auditor has been given, and each that a believed one has named as the next.
 * null: the auditor has none, and the first of the log counts as given.
 */
export function trustedKeys(keys: readonly PublicSealKey[], given: ReadonlySet<string> | null): KeyTrust {
  const trusted = new Map<string, PublicSealKey>();
  const refused: PublicSealKey[] = [];
  let before: PublicSealKey | null = null;
  for (const key of keys) {
    const isNamed = sealKeyId(Buffer.from(key.publicKey, 'base64url')) === key.id;
    if (isNamed && (isGiven(key, given) || isEndorsed(key, before, trusted))) trusted.set(key.id, key);
    else refused.push(key);
    before = key;
  }
  return { trusted, refused };
}

const isGiven = (key: PublicSealKey, given: ReadonlySet<string> | null): boolean =>
  given === null ? key.number === 0 : given.has(key.publicKey);

const isEndorsed = (
  key: PublicSealKey,
  before: PublicSealKey | null,
  trusted: ReadonlyMap<string, PublicSealKey>,
): boolean =>
  before !== null &&
  key.endorsement !== null &&
  trusted.has(before.id) &&
  isSignedBy(before.publicKey, endorsementStatement(key, before), key.endorsement);
