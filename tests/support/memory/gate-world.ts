import type { AccountSource, QuotaSnapshot } from '../../../src/application/memory/quota-account-cache.js';
import { openQuotaGate } from '../../../src/application/memory/quota-gate.js';
import type { Admission } from '../../../src/application/ports/quota-gate-ports.js';
import {
  type DomainEvent,
  Position,
  type Recorded,
  type StreamName,
  streamKey,
  streams,
} from '../../../src/domain/events/events.js';
import { ApiKeyId, CallId, SecretId, UserId } from '../../../src/domain/kernel/ids.js';
import type { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { Budget } from '../../../src/domain/ledger/budget.js';
import { apiKeyTerms } from '../given/api-key-terms.js';
import { type CallParties, refunded as refund, released, reserved, settled } from '../given/calls.js';
import { someInstant } from '../given/events.js';
import { settableClock } from '../given/fixed-clock.js';
import { recordedAt } from '../given/recorded.js';

/*
 * A quota gate between a log, a tail that hands the log over with a delay, and a read model that has come as far as the
 * test lets it.
 */

export interface Balance {
  readonly balance: number;
  readonly reservations: ReadonlyMap<CallId, number>;
  /** Of an API key, by its day as `2026-03-01`. */
  readonly spent: ReadonlyMap<string, number>;
}

export type Owner = { readonly user: UserId } | { readonly apiKey: ApiKeyId };

/** What an account's events say, told without the gate: who it belongs to, then one sum and the calls still open. */
export function foldAccount(events: readonly Recorded[], owner: Owner): Balance {
  const own = 'user' in owner ? streams.user(owner.user) : streams.apiKey(owner.apiKey);
  const reservations = new Map<CallId, number>();
  const spent = new Map<string, number>();
  const spend = (at: Instant, quota: number): void => {
    const date = new Date(at).toISOString().slice(0, 10);
    if ('apiKey' in owner) spent.set(date, (spent.get(date) ?? 0) + quota);
  };
  let balance = 0;
  for (const { stream, event, at } of events) {
    if ('facts' in event) {
      const concerned = 'user' in owner ? event.facts.userId === owner.user : event.facts.apiKeyId === owner.apiKey;
      if (!concerned) continue;
      const callId = CallId(streamKey(stream));
      if (event.type === 'CallReserved') reservations.set(callId, event.reserved);
      else reservations.delete(callId);
      if (event.type === 'CallSettled') {
        balance -= event.charged;
        spend(at, event.charged);
      }
      if (event.type === 'CallRefunded') {
        balance += event.settlement.charged;
        spend(event.settlement.at, -event.settlement.charged);
      }
    } else if (stream === own) {
      if (event.type === 'QuotaGranted' || event.type === 'InviteRewardTransferred') balance += event.quota;
      if (event.type === 'ApiKeyIssued') balance += event.quota;
      if (event.type === 'QuotaAdjusted') balance += event.delta;
      if (event.type === 'ApiKeyEdited') balance += event.quotaDelta;
    } else if (event.type === 'RedemptionCodeRedeemed' && 'user' in owner && event.user === owner.user)
      balance += event.quota;
  }
  return { balance, reservations, spent };
}

/** As a read model at this position would have it. */
export const snapshotOf = (events: readonly Recorded[], owner: Owner, position: Position): QuotaSnapshot => {
  const { balance, reservations, spent } = foldAccount(events, owner);
  return {
    balance: BigInt(balance),
    spending: [...spent].map(([date, quota]) => [Date.parse(date) / 86_400_000, BigInt(quota)]),
    reservations: [...reservations].map(([callId, quota]) => ({ callId, quota: Quota(quota) })),
    position,
  };
};

interface PendingRead {
  readonly owner: Owner;
  readonly answer: (snapshot: QuotaSnapshot) => void;
  readonly fail: (error: Error) => void;
}

const terms = apiKeyTerms();

export class GateWorld implements AccountSource {
  readonly log: Recorded[] = [];
  /** Events the tail has handed over, and events the read model contains: both from the start of the log. */
  delivered = 0;
  projected = 0;
  /** Snapshots asked for, in all, and ranges of the log read because a snapshot was behind. */
  reads = 0;
  readonly gaps: (readonly [after: number, to: number])[] = [];
  /** Positions the gate wanted the read model to reach before it read. */
  readonly caughtUpTo: number[] = [];
  readonly clock = settableClock(someInstant);
  gate;
  private readonly pending: PendingRead[] = [];

  /** `byHand`: snapshots are answered by `answer` and not before. */
  constructor(
    private readonly byHand = false,
    private readonly capacity = 100,
  ) {
    this.gate = this.opened();
  }

  /** The node dies and another one takes over, from what the tail has handed over and what the read model holds. */
  restart(): void {
    this.gate = this.opened();
  }

  private opened(): ReturnType<typeof openQuotaGate> {
    const { capacity, clock } = this;
    return openQuotaGate(this, { capacity, after: Position(this.delivered - 1), clock });
  }

  /* ---- the log ---- */

  append(stream: StreamName, event: DomainEvent): void {
    this.log.push(recordedAt(this.log.length, stream, event, { at: this.clock.now() }));
  }

  grant(user: number, quota: number): void {
    this.append(streams.user(UserId(user)), { type: 'QuotaGranted', quota: Quota(quota), reason: 'signup' });
  }

  adjust(user: number, delta: number): void {
    const [by, none] = [UserId(1), Quota(0)];
    this.append(streams.user(UserId(user)), {
      type: 'QuotaAdjusted',
      delta: Quota(delta),
      gift: none,
      by,
      observed: none,
    });
  }

  issueKey(apiKey: number, quota: number): void {
    const id = ApiKeyId(apiKey);
    const [owner, secret] = [UserId(7), SecretId(`key-${apiKey}`)];
    this.append(streams.apiKey(id), { type: 'ApiKeyIssued', owner, keyHash: '', secret, quota: Quota(quota), terms });
  }

  editKey(apiKey: number, quotaDelta: number): void {
    const event = { type: 'ApiKeyEdited', owner: UserId(7), quotaDelta: Quota(quotaDelta), terms } as const;
    this.append(streams.apiKey(ApiKeyId(apiKey)), event);
  }

  reserve(call: string, parties: CallParties & { quota: number }): void {
    this.append(streams.call(CallId(call)), reserved(parties));
  }

  settle(call: string, parties: CallParties & { quota: number; charged: number }): void {
    this.append(streams.call(CallId(call)), settled(parties));
  }

  release(call: string, parties: CallParties & { quota: number }): void {
    this.append(streams.call(CallId(call)), released(parties));
  }

  refund(call: string, parties: CallParties & { charged: number; settledAt?: number }): void {
    this.append(streams.call(CallId(call)), refund(parties));
  }

  /* ---- the tail and the read model ---- */

  /** Hands over the next events, all by default, as one batch. */
  deliver(count = Number.POSITIVE_INFINITY): void {
    const batch = this.log.slice(this.delivered, this.delivered + count);
    this.delivered += batch.length;
    if (batch.length > 0) this.gate.take(batch);
  }

  project(count = Number.POSITIVE_INFINITY): void {
    this.projected = Math.min(this.log.length, this.projected + count);
  }

  snapshotOf(owner: Owner): QuotaSnapshot {
    return snapshotOf(this.log.slice(0, this.projected), owner, Position(this.projected - 1));
  }

  /** Who waits for a snapshot, first come first. */
  get waiting(): readonly Owner[] {
    return this.pending.map(({ owner }) => owner);
  }

  /** Answers the oldest read, with the snapshot given or the present one. */
  answer(snapshot?: QuotaSnapshot): void {
    const read = this.pending.shift();
    if (read === undefined) throw new Error('nobody is reading');
    read.answer(snapshot ?? this.snapshotOf(read.owner));
  }

  fail(): void {
    this.pending.shift()?.fail(new Error('the read model cannot be read'));
  }

  private read(owner: Owner): Promise<QuotaSnapshot> {
    this.reads += 1;
    if (!this.byHand) return Promise.resolve(this.snapshotOf(owner));
    return new Promise((answer, fail) => {
      this.pending.push({ owner, answer, fail });
    });
  }

  /* ---- as the gate sees it ---- */

  user = (id: UserId): Promise<QuotaSnapshot> => this.read({ user: id });
  apiKey = (id: ApiKeyId): Promise<QuotaSnapshot> => this.read({ apiKey: id });

  async caughtUp(position: Position): Promise<void> {
    this.caughtUpTo.push(Number(position));
  }

  async between(after: Position, to: Position): Promise<readonly Recorded[]> {
    this.gaps.push([Number(after), Number(to)]);
    return this.log.filter(({ position }) => position > after && position <= to);
  }
}

/* ---- one user, two API keys ---- */

export const alice = UserId(7);
export const bob = UserId(8);
export const key = ApiKeyId(12);
export const otherKey = ApiKeyId(13);
export const admitted = (granted: number): Admission => ({ admitted: true, granted: Quota(granted) });
export const refused = (short: 'user' | 'api-key', available: number): Admission => ({
  admitted: false,
  short,
  available: Quota(available),
});

/** Alice's wallet and key hold this much, and both tail and read model know it. */
export function worldWith(
  userQuota: number,
  keyQuota: number,
  options: { byHand?: boolean; capacity?: number } = {},
): GateWorld {
  const world = new GateWorld(options.byHand, options.capacity);
  world.grant(7, userQuota);
  world.issueKey(12, keyQuota);
  world.deliver();
  world.project();
  return world;
}

export interface CallRequest {
  readonly user?: UserId;
  readonly apiKey?: ApiKeyId | null;
  readonly unlimited?: boolean;
  readonly budget?: Budget | null;
  /** What the call would make do with; left out: nothing less. */
  readonly min?: number;
  /** What its key must have for it; left out: the same. */
  readonly minOfKey?: number;
}

export const admit = (
  { gate }: GateWorld,
  call: string,
  quota: number,
  { user = alice, apiKey = key, unlimited = false, budget = null, min = quota, minOfKey = min }: CallRequest = {},
): Promise<Admission> =>
  gate.admit({
    callId: CallId(call),
    userId: user,
    apiKeyId: apiKey,
    terms: { unlimited, budget },
    max: Quota(quota),
    min: Quota(min),
    minOfKey: Quota(minOfKey),
  });

export const remaining = async ({ gate }: GateWorld): Promise<{ user: number; key: number }> => ({
  user: await gate.available(alice),
  key: await gate.remaining(key),
});
