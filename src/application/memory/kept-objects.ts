import { LRUCache } from 'lru-cache';
import type { CallSettled } from '../../domain/call/call.js';
import type { KeptOwner } from '../../domain/call/kept-object.js';
import { completionTokens, promptTokens } from '../../domain/call/usage.js';
import type { NewEvent } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { CallId, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { ReadModels } from '../../projections/database.js';
import { ownersOf } from '../../projections/models/kept-objects.js';
import type { BackgroundCall } from '../ports/background-call-ports.js';
import type { KeptObjects } from '../ports/kept-object-ports.js';
import type { Clock, ReadModelProgress } from '../ports/storage-ports.js';

/*
 * Whose it is what providers keep: as the read model knows, and, of what is too new for that, as this node has just
 * settled it.
 */

/** The read model is behind by less than this, or it is stopped. */
const maxRecent = 50_000;
const dayMs = 86_400_000;
const name = 'kept_objects';

interface KeptObjectsOptions {
  readonly db: ReadModels;
  readonly progress: Pick<ReadModelProgress, 'status'>;
  readonly clock: Clock;
  /** Days after which what is kept is nobody's any more. */
  readonly days: () => number;
}

/** A conversation with which its owner goes on. */
const goesOn = (known: KeptOwner | undefined, { kind, userId, channelId }: KeptOwner): boolean =>
  kind === 'conversation' && known?.kind === kind && known.userId === userId && known.channelId === channelId;

export class KnownKeptObjects implements KeptObjects {
  private readonly recent = new LRUCache<string, KeptOwner>({ max: maxRecent });

  /** What is made in the background and not at its end yet: bounded by how many of these there may be. */
  private readonly running = new Map<string, KeptOwner>();

  constructor(private readonly options: KeptObjectsOptions) {}

  /** Whoever was given an id first owns it. */
  note(callId: CallId, { event, at }: NewEvent<CallSettled>): void {
    const { facts, channelId, usage, upstreamModel, kept = [] } = event;
    const { userId, model } = facts;
    const tokens = promptTokens(usage) + completionTokens(usage);
    for (const { kind, id } of kept) {
      const owner = { userId, channelId, kind, callId, at, tokens, model, upstreamModel };
      const known = this.running.get(id) ?? this.recent.get(id);
      if ((known?.callId ?? callId) === callId || goesOn(known, owner)) this.recent.set(id, owner);
    }
  }

  /** What is made in the background is its user's from the beginning. */
  noteBackground({ callId, userId, channelId, responseId, since, promptTokens, model, course }: BackgroundCall): void {
    const call = { callId, at: since, tokens: promptTokens, model, upstreamModel: course.upstreamModel };
    const known = { userId, channelId, kind: 'response', ...call } as const;
    if (!this.recent.has(responseId) && !this.running.has(responseId)) this.running.set(responseId, known);
  }

  /** From then on it is as what else was made of late. */
  endBackground({ callId, responseId }: BackgroundCall): void {
    const known = this.running.get(responseId);
    if (known?.callId !== callId) return;
    this.running.delete(responseId);
    if (!this.recent.has(responseId)) this.recent.set(responseId, known);
  }

  async ownedBy(user: UserId, ids: readonly string[]): Promise<ReadonlyMap<string, KeptOwner>> {
    const { db, clock, days } = this.options;
    const stored = await ownersOf(db, ids);
    const since = (clock.now() - days() * dayMs) as Instant;
    const owned = new Map<string, KeptOwner>();
    for (const id of ids) {
      const late = this.running.get(id) ?? this.recent.get(id);
      const first = stored.get(id) ?? late;
      const owner = late !== undefined && goesOn(first, late) && late.at > (first?.at ?? 0) ? late : first;
      if (owner === undefined && this.isIncomplete()) throw new Failure('store-unavailable');
      if (owner !== undefined && owner.userId === user && owner.at >= since) owned.set(id, owner);
    }
    return owned;
  }

  private isIncomplete(): boolean {
    return this.options.progress.status().some((model) => model.name === name && model.status === 'building');
  }
}
