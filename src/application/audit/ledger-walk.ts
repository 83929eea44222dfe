import { beginning, Position, type Recorded, type StreamName, streamKey } from '../../domain/events/events.js';
import { isMoneyEventOfCall, moneyOfPacked } from '../../domain/events/packed-calls.js';
import { currentPayloads, type StoredPayload } from '../../domain/events/upcast.js';
import { Instant } from '../../domain/kernel/instant.js';
import { LedgerFacts } from '../../projections/models/ledger/ledger-facts.js';
import { LedgerComparison, type LedgerInTables } from '../../projections/models/ledger/verify-ledger.js';
import type { RevisionStep } from './stream-walk.js';

/* The ledger against the log, from events as they are stored: of calls nothing is unpacked but what moves. */

/** A line of the log, read: `[position, stream, revision, type, version, id, at, payload]`. */
type StoredEvent = readonly [
  position: number,
  stream: string,
  revision: number,
  type: string,
  version: number,
  id: string,
  at: number,
  payload: StoredPayload,
];

export interface LedgerFinding {
  readonly code: 'event-unreadable' | 'balance-differs' | 'closing-differs' | 'sum-not-zero' | 'log-ends-early';
  readonly first: number | null;
  readonly last: number | null;
  readonly reason: string;
}

/** What has been worked out up to a position, to go on from. */
interface LedgerState {
  readonly position: Position;
  readonly facts: string;
}

/** Something that the facts of one position are held against. */
export interface LedgerCheck {
  readonly position: Position;
  /** What is wrong; null: nothing is. */
  readonly check: (facts: LedgerFacts) => string | null;
}

interface LedgerWalkParts {
  readonly tables: LedgerInTables;
  /** What is known already; null: nothing is. */
  readonly from: { readonly position: Position; readonly facts: LedgerFacts } | null;
  /** Where its state is kept, to go on from another time. */
  readonly keepAt: Position | null;
  /** Of positions behind `from`, in their order. */
  readonly closings: readonly LedgerCheck[];
  readonly found: (finding: LedgerFinding) => void;
}

export class LedgerWalk {
  private readonly tables: LedgerInTables;
  private readonly found: LedgerWalkParts['found'];
  private readonly closings: LedgerCheck[];
  private readonly facts: LedgerFacts;
  private readonly comparison: LedgerComparison;
  private next = 0;
  private position: number;
  private kept: LedgerState | null = null;

  private keepAt: Position | null;

  constructor({ tables, from, keepAt, closings, found }: LedgerWalkParts) {
    this.tables = tables;
    this.found = found;
    this.closings = [...closings];
    this.keepAt = keepAt;
    this.facts = from?.facts ?? new LedgerFacts();
    this.position = Number(from?.position ?? beginning);
    this.comparison = new LedgerComparison(tables.stands, this.facts);
    this.stop(Position(this.position));
  }

  /** Takes the next line; what its stream is asked about. null: it cannot be read. */
  take(line: string): RevisionStep | null {
    const event = this.read(line);
    if (event === null) return null;
    const [position, stream, revision, type] = event;
    // It may be read for its seal alone.
    if (position > this.position) {
      try {
        this.apply(event);
      } catch (error) {
        this.unreadable(position, String(error));
      }
      this.position = position;
      if (position >= this.next) this.stop(Position(position));
    }
    return { position, stream, revision, type };
  }

  /** The log has ended. */
  end(): void {
    const { differences, next } = this.comparison;
    if (next !== null)
      this.found({
        ...{ code: 'log-ends-early', first: this.position, last: Number(next) },
        reason: `the tables of the ledger are at position ${next}, and the log ends at ${this.position}`,
      });
    for (const { account, expected, actual } of differences)
      this.found({
        ...{ code: 'balance-differs', first: null, last: Number(this.tables.position) },
        reason: `${account}: ${expected} by the log, ${actual} in the tables`,
      });
    if (this.tables.sum !== 0n)
      this.found({
        ...{ code: 'sum-not-zero', first: null, last: Number(this.tables.position) },
        reason: `the sum of all balances is ${this.tables.sum}`,
      });
  }

  /** What it knew where it was to keep it; null: it has not come there. */
  get state(): LedgerState | null {
    return this.kept;
  }

  private read(line: string): StoredEvent | null {
    try {
      return JSON.parse(line) as StoredEvent;
    } catch (error) {
      this.unreadable(Number.parseInt(line.slice(1, 20), 10), String(error));
      return null;
    }
  }

  private apply([position, stream, revision, type, version, id, at, payload]: StoredEvent): void {
    if (Array.isArray(payload) && isMoneyEventOfCall(type)) {
      this.facts.takeCall(type, streamKey(stream as StreamName), moneyOfPacked(type, payload), at as Instant);
      return;
    }
    const event = currentPayloads.upcast(type, version, payload);
    const recorded: Recorded = {
      id,
      stream: stream as StreamName,
      revision,
      position: Position(position),
      at: Instant(at),
      event,
    };
    this.facts.take(recorded);
  }

  /** What is to be done at this position, and where something is to be done next. */
  private stop(position: Position): void {
    this.comparison.upTo(position);
    if (this.keepAt !== null && position >= this.keepAt) {
      if (position === this.keepAt) this.kept = { position, facts: this.facts.saved() };
      this.keepAt = null;
    }
    for (let next = this.closings[0]; next !== undefined && next.position <= position; next = this.closings[0]) {
      this.closings.shift();
      const reason = next.check(this.facts);
      if (reason !== null) this.found({ code: 'closing-differs', first: null, last: Number(next.position), reason });
    }
    const never = Number.POSITIVE_INFINITY;
    const stops = [this.comparison.next, this.keepAt, this.closings[0]?.position ?? null];
    this.next = Math.min(...stops.map((stop) => Number(stop ?? never)));
  }

  private unreadable(position: number, reason: string): void {
    this.found({ code: 'event-unreadable', first: position, last: position, reason });
  }
}
