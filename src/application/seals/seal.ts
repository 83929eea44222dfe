import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Instant } from '../../domain/kernel/instant.js';
import type { PublicSealKey, SealFacts } from '../ports/seal-ports.js';

/*
 * What is hashed and what is signed, byte for byte. The verifier outside the gateway (scripts/verify-seals.mjs) says the
 * same once more on its own, and docs/audit.md describes it for others: all three change together, under a new name.
 */

const sealForm = 'tallygate-seal-1';
const keyForm = 'tallygate-seal-key-1';
const endForm = 'tallygate-end-1';

/** What the first seal has as the digest of the one before it. */
export const nothingBefore = '0'.repeat(64);

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

/** The text that is signed. */
export const sealStatement = (seal: SealFacts): string =>
  JSON.stringify([
    sealForm,
    seal.number,
    Number(seal.first),
    Number(seal.last),
    seal.events,
    seal.eventsHash,
    seal.previous,
    seal.at,
    seal.keyId,
  ]);

/** By which the next seal names this one. */
export const sealDigest = (seal: SealFacts): string => sha256(sealStatement(seal));

interface ExportEnd {
  readonly events: number;
  readonly seals: number;
  /** Digest of the newest seal. */
  readonly head: string;
  readonly at: Instant;
  readonly keyId: string;
}

/** What is signed at the end of an export. */
export const endStatement = ({ events, seals, head, at, keyId }: ExportEnd): string =>
  JSON.stringify([endForm, events, seals, head, at, keyId]);

/** What a key signs about the one that takes its place. */
export const endorsementStatement = (key: PublicSealKey, before: PublicSealKey): string =>
  JSON.stringify([keyForm, key.number, key.id, key.publicKey, key.since, before.id]);

/** Of the lines of events, in their order. */
export class EventsHash {
  private readonly hash = createHash('sha256');

  add(lines: readonly string[]): void {
    if (lines.length > 0) this.hash.update(`${lines.join('\n')}\n`);
  }

  digest(): string {
    return this.hash.digest('hex');
  }
}

/** `[41,"user-7",…` → 41. Throws where the line is none of an event. */
export function positionOf(line: string): number {
  const end = line.indexOf(',');
  const position = Number(line.slice(1, end));
  if (!line.startsWith('[') || end < 2 || !Number.isSafeInteger(position))
    throw new Error('This is no line of an event');
  return position;
}

export const sealKeyId = (publicKey: Buffer): string => sha256(publicKey).slice(0, 16);

/** Throws for what is no public key of Ed25519. */
export const publicSealKey = (publicKey: string): KeyObject =>
  createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });

/** Whether the key has signed the text. False also for what is no signature, or no key. */
export function isSignedBy(publicKey: string, statement: string, signature: string): boolean {
  try {
    return verify(null, Buffer.from(statement), publicSealKey(publicKey), Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}
