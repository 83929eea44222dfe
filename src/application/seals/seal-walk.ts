import type { Seal, SealStore } from '../ports/seal-ports.js';
import { EventsHash, isSignedBy, nothingBefore, positionOf, sealDigest, sealStatement } from './seal.js';
import { sealsInOrder } from './seals-in-order.js';
import type { TrustedKey } from './trusted-keys.js';

/** Something that the seals show to be otherwise than it was sealed. */
export interface SealFinding {
  readonly code:
    | 'seal-altered'
    | 'seal-key-unknown'
    | 'seal-key-replaced'
    | 'seals-missing'
    | 'chain-broken'
    | 'events-altered'
    | 'events-missing'
    | 'events-added'
    | 'log-ends-early';
  /** Number of the seal; null: events that lie between two. */
  readonly seal: number | null;
  /** Positions of the first and the last event that it is about. */
  readonly first: number;
  readonly last: number;
  readonly reason: string;
}

/** The seal up to which everything is as it was sealed, its digest, and the number of the newest key up to there. */
interface SealedUpTo {
  readonly number: number;
  readonly digest: string;
  readonly keyNumber: number;
}

/** Before the first seal. */
export const beforeFirstSeal: SealedUpTo = { number: -1, digest: nothingBefore, keyNumber: 0 };

interface SealWalkParts {
  readonly seals: Pick<SealStore, 'after' | 'newest'>;
  /** Keys that are believed, by id. */
  readonly keys: ReadonlyMap<string, TrustedKey>;
  readonly from: SealedUpTo;
  readonly found: (finding: SealFinding) => void;
}

/** Goes along the log and its seals once: what it is given must be the lines behind seal `from`, in order, all of them. */
export class SealWalk {
  private readonly seals: AsyncGenerator<Seal, void, undefined>;
  /** The seal whose events are being read; null: before the next one is looked for, or there is none. */
  private current: Seal | null = null;
  /** Events before those of the current seal, which none covers. */
  private between: { readonly events: number; readonly first: number; readonly last: number } | null = null;
  private hash = new EventsHash();
  private events = 0;
  private position = -1;
  private digest: string;
  private number: number;
  private keyNumber: number;
  /** The first seal that only a later one can vouch for. */
  private awaited: Seal | null = null;
  /** Of whole seals, as sealed or not. */
  private checked = { seals: 0, events: 0 };
  private unsealed = 0;

  private constructor(private readonly parts: SealWalkParts) {
    this.seals = sealsInOrder(parts.seals, parts.from.number);
    this.number = parts.from.number;
    this.digest = parts.from.digest;
    this.keyNumber = parts.from.keyNumber;
  }

  /** To be called before the lines are read: the newest seal there is now is the last that is looked at. */
  static async begin(parts: SealWalkParts): Promise<SealWalk> {
    const walk = new SealWalk(parts);
    walk.current = await walk.nextSeal();
    return walk;
  }

  async take(lines: readonly string[]): Promise<void> {
    for (let from = 0; from < lines.length; ) {
      this.current ??= await this.nextSeal();
      const seal = this.current;
      if (seal === null) {
        this.unsealed += lines.length - from;
        break;
      }
      const before = firstBehind(lines, from, Number(seal.first) - 1);
      if (before > from) this.keepBetween(lines[from] ?? '', lines[before - 1] ?? '', before - from);
      if (before < lines.length) this.findBetween(seal);
      from = firstBehind(lines, before, Number(seal.last));
      const covered = lines.slice(before, from);
      this.hash.add(covered);
      this.events += covered.length;
      const last = lines[from - 1];
      if (from < lines.length || (last !== undefined && positionOf(last) === Number(seal.last))) this.close(seal);
    }
    const last = lines.at(-1);
    if (last !== undefined) this.position = positionOf(last);
  }

  /** The log has ended. */
  async end() {
    this.current ??= await this.nextSeal();
    if (this.current !== null) {
      const first = this.current;
      // Only the newest seal says how long the log has been.
      let newest = first;
      for (let seal = await this.nextSeal(); seal !== null; seal = await this.nextSeal()) newest = seal;
      this.parts.found({
        ...{ code: 'log-ends-early', seal: first.number, first: Number(first.first), last: Number(newest.last) },
        reason: `sealed up to position ${newest.last}, and the log ends at ${this.position}`,
      });
    }
    if (this.awaited !== null)
      this.find(
        'seal-key-unknown',
        this.awaited,
        `no seal of a key that was given comes after key ${this.awaited.keyId}`,
      );
    return { ...this.checked, unsealed: this.unsealed, upTo: this.upTo };
  }

  /** The newest seal that has been read whole. */
  get upTo(): SealedUpTo {
    return { number: this.number, digest: this.digest, keyNumber: this.keyNumber };
  }

  private async nextSeal(): Promise<Seal | null> {
    const { value: seal, done } = await this.seals.next();
    if (done === true) return null;
    this.checkSeal(seal);
    this.number = seal.number;
    this.digest = sealDigest(seal);
    return seal;
  }

  /** What it says of itself: its number, the one before it, who signed it. */
  private checkSeal(seal: Seal): void {
    const key = this.parts.keys.get(seal.keyId);
    if (seal.number !== this.number + 1)
      this.find('seals-missing', seal, `seals ${this.number + 1} to ${seal.number - 1} are not there`);
    else if (seal.previous !== this.digest)
      this.find('chain-broken', seal, 'it names another seal before it than the one that is there');
    if (key === undefined) this.find('seal-key-unknown', seal, `nobody vouches for its key ${seal.keyId}`);
    else if (!isSignedBy(key.publicKey, sealStatement(seal), seal.signature))
      this.find('seal-altered', seal, `key ${seal.keyId} has not signed what it says`);
    else if (key.number < this.keyNumber)
      this.find('seal-key-replaced', seal, `key ${seal.keyId} had been replaced when it was made`);
    else this.awaited = key.isEarlier ? (this.awaited ?? seal) : null;
    this.keyNumber = Math.max(this.keyNumber, key?.number ?? 0);
  }

  private close(seal: Seal): void {
    const { events, eventsHash } = seal;
    if (this.events < events) this.find('events-missing', seal, `${this.events} of its ${events} events are there`);
    else if (this.events > events)
      this.find('events-added', seal, `it covers ${events} events, and ${this.events} are there`);
    else if (this.hash.digest() !== eventsHash)
      this.find('events-altered', seal, 'its events are not those that were sealed');
    this.checked = { seals: this.checked.seals + 1, events: this.checked.events + this.events };
    this.current = null;
    this.hash = new EventsHash();
    this.events = 0;
  }

  private find(code: SealFinding['code'], seal: Seal, reason: string): void {
    this.parts.found({ code, seal: seal.number, first: Number(seal.first), last: Number(seal.last), reason });
  }

  private keepBetween(first: string, last: string, events: number): void {
    const known = this.between ?? { events: 0, first: positionOf(first) };
    this.between = { ...known, events: known.events + events, last: positionOf(last) };
  }

  /** Said once, when the events of the seal begin. */
  private findBetween(seal: Seal): void {
    const { between } = this;
    if (between === null) return;
    const reason = `${between.events} events lie between seals, before seal ${seal.number}`;
    this.parts.found({ code: 'events-added', seal: null, first: between.first, last: between.last, reason });
    this.between = null;
  }
}

/** The place of the first line from `from` on whose position is greater; the number of lines where there is none. */
function firstBehind(lines: readonly string[], from: number, position: number): number {
  let low = from;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positionOf(lines[middle] ?? '') > position) high = middle;
    else low = middle + 1;
  }
  return low;
}
