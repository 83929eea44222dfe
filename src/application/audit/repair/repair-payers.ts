import { type ApiKeyEvent, apiKeyDecider, isLiveApiKey } from '../../../domain/api-key/api-key.js';
import type { SpendingTerms } from '../../../domain/api-key/api-key-terms.js';
import type { CallFacts } from '../../../domain/call/call.js';
import { type Position, streams } from '../../../domain/events/events.js';
import type { ApiKeyId, CallId, UserId } from '../../../domain/kernel/ids.js';
import { Quota, zero } from '../../../domain/kernel/quota.js';
import { mustReach, type Tail } from '../../memory/tail.js';
import type { Directory, EventStore, QuotaGate } from '../../ports/storage-ports.js';

/* Who pays where a correction charges more: no balance and no limit of a key is gone beyond, whatever else is under way. */

export interface PayerPorts {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly gate: Pick<QuotaGate, 'admit' | 'drop'>;
  readonly tail: Pick<Tail, 'reached'>;
  readonly directory: Pick<Directory, 'user'>;
}

type Payers = Pick<CallFacts, 'userId' | 'apiKeyId'>;

/** The least that is taken: nobody is asked for less than one. */
const least = Quota(1);
/** Of one run; what holds of a key while it goes on holds for all of it. */
const maxKnownKeys = 10_000;

export class RepairPayers {
  private readonly keys = new Map<ApiKeyId, SpendingTerms | null>();

  constructor(private readonly ports: PayerPorts) {}

  /**
   * Reserves as much of `more` as there is while `charge` writes what is charged, and until the balances contain it.
   * A user who is gone pays nothing; where the key is gone the user's balance alone counts.
   */
  async with<Result extends { readonly position: Position }>(
    callId: CallId,
    { userId, apiKeyId }: Payers,
    more: Quota,
    charge: (payable: Quota) => Promise<Result>,
  ): Promise<Result> {
    if (more <= zero || (await this.isGone(userId))) return charge(zero);
    const terms = apiKeyId === null ? null : await this.termsOf(apiKeyId);
    const { gate, tail } = this.ports;
    const admission = await gate.admit({
      ...{ callId, userId, apiKeyId: terms === null ? null : apiKeyId },
      terms: terms ?? { unlimited: true, budget: null },
      ...{ max: more, min: least, minOfKey: least },
    });
    if (!admission.admitted) return charge(zero);
    try {
      const result = await charge(admission.granted);
      await mustReach(tail, result.position);
      return result;
    } finally {
      await gate.drop(callId);
    }
  }

  private async isGone(userId: UserId): Promise<boolean> {
    const user = await this.ports.directory.user(userId);
    return user === null || user.status === 'deleted';
  }

  /** A budget is of the present, and the call of the past: only what the key has left counts. null: the key is gone. */
  private async termsOf(id: ApiKeyId): Promise<SpendingTerms | null> {
    const known = this.keys.get(id);
    if (known !== undefined) return known;
    const events = await this.ports.store.readStream(streams.apiKey(id));
    const key = events.reduce(
      (before, { event }) => apiKeyDecider.evolve(before, event as ApiKeyEvent),
      apiKeyDecider.initial,
    );
    const terms = isLiveApiKey(key) ? { unlimited: key.terms.unlimited, budget: null } : null;
    if (this.keys.size >= maxKnownKeys) this.keys.clear();
    this.keys.set(id, terms);
    return terms;
  }
}
