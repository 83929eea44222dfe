import type { Position } from '../../domain/events/events.js';
import type { SecretId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';

/* What seals of the log need: its events as text, a place for seals, and one for the keys they are signed with. */

/**
 * The events of the log as seals cover them, each a line of JSON without its line break:
 * `[position,stream,revision,type,version,id,at,payload]`, the payload as it is stored. The same from every engine.
 */
export interface EventLines {
  /** Those behind `after`, oldest first, at most so many; large ones make a page shorter, and only at the end is it empty. */
  after(after: Position, limit: number): Promise<readonly string[]>;
}

/** Those of single events. */
export interface LineByPosition {
  /** null: the log has no event there. */
  at(position: Position): Promise<string | null>;
}

/** With how far the log goes now. */
export interface GrowingLines extends EventLines {
  head(): Promise<Position>;
}

/** What a seal says: which events it covers, their hash, and which seal came before it. */
export interface SealFacts {
  /** From 0, without gaps. */
  readonly number: number;
  readonly first: Position;
  readonly last: Position;
  readonly events: number;
  /** SHA-256 of their lines, in lower-case hex. */
  readonly eventsHash: string;
  /** The digest of the seal before it. */
  readonly previous: string;
  readonly at: Instant;
  readonly keyId: string;
}

export interface Seal extends SealFacts {
  /** Ed25519, in base64url. */
  readonly signature: string;
}

/** Which seal was the newest when the gateway last made one. */
export interface SealWitness {
  /** -1: none had been made yet. */
  readonly number: number;
  readonly digest: string;
  /** A keyed hash over the rest: nobody who has the database alone can write another. */
  readonly mac: string;
}

/** Seals beside the log, in the order in which they were made. */
export interface SealStore {
  newest(): Promise<Seal | null>;
  /** At most so many of those with a greater number, in order. */
  after(number: number, limit: number): Promise<readonly Seal[]>;
  /** At most so many of those with a smaller number, newest first. */
  before(number: number, limit: number): Promise<readonly Seal[]>;
  numbered(number: number): Promise<Seal | null>;
  /** The one that covers an event; null: it is not sealed yet. */
  covering(position: Position): Promise<Seal | null>;
  /** With the witness of it, or neither. False: there is one of that number already, or one that covers the same end. */
  add(seal: Seal, witness: SealWitness): Promise<boolean>;
  witness(): Promise<SealWitness | null>;
  /** Unless there is one already. */
  beginWitness(witness: SealWitness): Promise<void>;
  /** In place of the one there is. */
  keepWitness(witness: SealWitness): Promise<void>;
}

/** A public key of seals, and the signature by which the key before it names it as the next. */
export interface PublicSealKey {
  /** From 0. */
  readonly number: number;
  /** The first 16 digits of the SHA-256 of its bytes. */
  readonly id: string;
  /** Its 32 bytes, in base64url. */
  readonly publicKey: string;
  readonly since: Instant;
  /** null: the first. */
  readonly endorsement: string | null;
}

export interface SealKey extends PublicSealKey {
  /** Where the vault has the private key; null: nothing is signed with it any more. */
  readonly secret: SecretId | null;
}

export interface SealKeyStore {
  /** Oldest first. */
  all(): Promise<readonly SealKey[]>;
  /** From now on the one before it signs nothing. False: there is one of that number already. */
  add(key: SealKey): Promise<boolean>;
}

/** Up to which seal everything has been found to be as it should be, and the ledger as it was there. */
export interface AuditCheckpoint {
  readonly number: number;
  readonly digest: string;
  readonly position: Position;
  readonly facts: string;
  /** A keyed hash over the rest. */
  readonly mac: string;
}

export interface AuditCheckpoints {
  newest(): Promise<AuditCheckpoint | null>;
  /** In place of the one there is. */
  keep(checkpoint: AuditCheckpoint): Promise<void>;
}
