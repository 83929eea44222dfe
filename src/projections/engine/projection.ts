import type { DomainEvent, EventType, Position, Recorded, StreamName } from '../../domain/events/events.js';
import type { Sealed, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { ReadModels } from '../database.js';

/* What a read model is to the runner, and what the runner needs from the world. */

/** Opens personal data. null: the user's key has been destroyed. */
export interface PersonalDataReader {
  open(user: UserId, sealed: Sealed): Promise<string | null>;
  /** A keyed hash by which a text, or part of one, is found without being stored. */
  searchToken(term: string): string;
}

export interface ProjectionContext {
  readonly personalData: PersonalDataReader;
}

/** What a fold may ask. */
export interface FoldContext extends ProjectionContext {
  /**
   * When the newest event happened that it will come to, as far as the end of the log was looked at; null: nothing is
   * known. What would be forgotten by then need not be written.
   */
  newest(): Promise<Instant | null>;
  /** Of a stream that an event of the batch belongs to, or follows from. */
  readStream(stream: StreamName): Promise<readonly Recorded[]>;
}

/** The part of the event store that projections read. */
export interface EventFeed {
  readStream(stream: StreamName): Promise<readonly Recorded[]>;
  readAll(after: Position, limit: number): Promise<readonly Recorded[]>;
  readNewest(limit: number): Promise<readonly Recorded[]>;
  head(): Promise<Position>;
  estimateBetween(after: Position, upTo: Position): number;
}

/**
 * `deciding`: calls, sign-ins or routing are decided by it, so a gateway serves only once it holds the whole log.
 * `showing`: people look at it, or can be asked to come again; it may be built while the gateway serves.
 */
type Purpose = 'deciding' | 'showing';

/**
 * A read model: its tables and the fold that fills them. SQL is unqualified: the runner decides which schema it means.
 * A change of tables or fold is a new version, built from the start of the log in a schema of its own.
 */
export interface Projection {
  readonly name: string;
  readonly version: number;
  readonly purpose: Purpose;
  /** Statements that make the empty tables. */
  readonly tables: string;
  /** Only these events reach `project`; the others merely move the checkpoint. */
  readonly interestedIn: ReadonlySet<EventType>;
  /**
   * Folds a batch, oldest first, through `tx`. The runner commits it together with the checkpoint and never repeats it
   * afterwards, so a delta may be added without a guard.
   */
  project(tx: ReadModels, batch: readonly Recorded[], context: FoldContext): Promise<void>;
  readonly tidying?: Tidying;
}

/**
 * Takes away rows that nobody is shown any more, where there may be too many for the fold itself. Each step is a short
 * transaction of its own, between two batches.
 */
export interface Tidying {
  /** The event that leaves such rows. */
  readonly after: EventType;
  step(tx: ReadModels): Promise<NextStep>;
}

/** When there is to be another: `later`, where what is left is in use; null: nothing is left. */
export type NextStep = 'now' | 'later' | null;

/**
 * Declares a read model over the events of one union. `interestedIn` names each of them, so an event added to the union
 * does not compile until the fold knows it.
 */
export const projection = <Event extends DomainEvent>(definition: {
  readonly name: string;
  readonly version: number;
  readonly purpose: Purpose;
  readonly tables: string;
  readonly interestedIn: Readonly<Record<Event['type'], true>>;
  readonly project: (tx: ReadModels, batch: readonly Recorded<Event>[], context: FoldContext) => Promise<void>;
  readonly tidying?: Tidying;
}): Projection => ({
  ...definition,
  interestedIn: new Set(Object.keys(definition.interestedIn) as EventType[]),
  // The runner delivers only what `interestedIn` names, and that is exactly the union.
  project: (tx, batch, context) => definition.project(tx, batch as readonly Recorded<Event>[], context),
});

/** Where a read model's tables live. */
export const schemaOf = ({ name, version }: Pick<Projection, 'name' | 'version'>): string => `${name}_v${version}`;
