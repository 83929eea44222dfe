import type { ApiKeyTerms } from '../../src/domain/api-key/api-key-terms.js';
import type { CallFacts, CallRefunded, CallReleased, CallReserved, CallSettled } from '../../src/domain/call/call.js';
import type { CallCorrected } from '../../src/domain/call/call-correction.js';
import type { Usage } from '../../src/domain/call/usage.js';
import type { ChannelSettings } from '../../src/domain/channel/channel-settings.js';
import { type DomainEvent, type NewEvent, type StreamName, streams } from '../../src/domain/events/events.js';
import type { OrderOrigin } from '../../src/domain/events/order-origin.js';
import type { IdentityProvider } from '../../src/domain/kernel/claim.js';
import {
  ApiKeyId,
  CallId,
  ChannelId,
  IdentityClaim,
  type PaymentId,
  RedemptionId,
  RepairId,
  Sealed,
  SecretId,
  UserId,
} from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import type { Refusal } from '../../src/domain/kernel/refusal.js';
import type { OptionValue } from '../../src/domain/options/option.js';
import type { TopUpCompleted } from '../../src/domain/payment/payment.js';
import type { RedemptionEvent } from '../../src/domain/payment/redemption.js';
import type { Price } from '../../src/domain/pricing/pricing.js';
import type { PricePeriods } from '../../src/domain/pricing/records/model-price.js';
import type { RepairEvent } from '../../src/domain/repair/repair.js';
import type { TaskEvent } from '../../src/domain/task/task.js';
import type { UserEvent } from '../../src/domain/user/user.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import { channelSettings } from '../support/given/channel-settings.js';
import { eventId, someInstant } from '../support/given/events.js';
import { topUpPrices } from '../support/given/top-up-prices.js';

/* Events as the gateway records them, with fixed ids and times. */

/** An event and the stream it belongs to. */
export interface Fact {
  readonly stream: StreamName;
  readonly event: DomainEvent;
  /** Unix milliseconds. */
  readonly at: Instant;
  readonly ordered?: OrderOrigin;
}

export const root = UserId(1);
export const alice = UserId(7);
export const bob = UserId(8);
export const aliceKey = ApiKeyId(12);
export const bobKey = ApiKeyId(13);
export const east = ChannelId(3);
export const west = ChannelId(4);

/** 2026-01-02 03:04:05 UTC, and seconds later. */
export const at = (seconds = 0): Instant => Instant(someInstant + seconds * 1000);
export const seconds = (instant: Instant): number => Math.floor(instant / 1000);

const fact = (stream: StreamName, event: DomainEvent, when: Instant = at()): Fact => ({ stream, event, at: when });

/** The same fact, ordered by an administrator in the console. */
export const orderedBy = (by: UserId, { stream, event, at: instant }: Fact): Fact => ({
  ...{ stream, event, at: instant },
  ordered: { by, face: 'graphql', credential: 'session', address: sealed('203.0.113.7') },
});

/** The same fact at another time. */
export const when = (instant: Instant, { stream, event }: Fact): Fact => ({ stream, event, at: instant });

let recorded = 0;

/** Ready for a store; ids are unique within a run. */
export const toRecord = ({ event, at: instant, ordered }: Fact): NewEvent => ({
  id: eventId(recorded++, 0x7e57),
  at: instant,
  event,
  ...(ordered && { ordered }),
});

export const sealed = (text: string): Sealed => Sealed(`sealed ${text}`);

type EventOf<Type extends DomainEvent['type']> = Extract<DomainEvent, { type: Type }>;

export const registered = (id: UserId, username: string, change: Partial<EventOf<'UserRegistered'>> = {}): Fact =>
  fact(streams.user(id), {
    type: 'UserRegistered',
    username,
    displayName: sealed(`${username} the user`),
    role: 'ordinary',
    group: 'default',
    passwordSecret: SecretId(`password of ${username}`),
    inviter: null,
    ...change,
  });

export const ofUser = (id: UserId, event: UserEvent): Fact => fact(streams.user(id), event);

export const emailed = (id: UserId, address: string) =>
  ofUser(id, {
    type: 'EmailChanged',
    email: { claim: IdentityClaim(`claim of ${address}`), shown: sealed(address) },
  });

export const linked = (id: UserId, provider: IdentityProvider, shown: string) =>
  ofUser(id, { type: 'IdentityLinked', provider, claim: IdentityClaim(`claim of ${shown}`), shown: sealed(shown) });

export const granted = (id: UserId, quota: number): Fact =>
  fact(streams.user(id), { type: 'QuotaGranted', quota: Quota(quota), reason: 'signup' });

export const rewarded = (id: UserId, quota: number, invitee: UserId): Fact =>
  fact(streams.user(id), { type: 'InviteRewardEarned', quota: Quota(quota), invitee });

export const transferred = (id: UserId, quota: number): Fact =>
  fact(streams.user(id), { type: 'InviteRewardTransferred', quota: Quota(quota) });

export const adjusted = (id: UserId, delta: number, gift = 0): Fact =>
  fact(streams.user(id), {
    type: 'QuotaAdjusted',
    delta: Quota(delta),
    gift: Quota(gift),
    by: root,
    observed: Quota(0),
  });

/** An order of quota for ten dollars, which is paid. */
export const bought = (
  user: UserId,
  quota: number,
  order: PaymentId,
  { provider = 'epay', learned = { by: 'notice' } }: Partial<Pick<TopUpCompleted, 'provider' | 'learned'>> = {},
): readonly Fact[] => {
  const terms = { user, provider, quota: Quota(quota), money: '73.00' };
  const details = { method: 'alipay', amount: 10, prices: topUpPrices() };
  return [
    fact(streams.payment(order), { type: 'TopUpRequested', ...terms, ...details }),
    fact(streams.payment(order), {
      type: 'TopUpCompleted',
      ...terms,
      currency: 'CNY',
      reference: '20260102030405',
      learned,
      late: false,
    }),
  ];
};

/** Of such an order: a tenth of the money is refunded, the rest is disputed, and the dispute is won. */
export const returned = (user: UserId, quota: number, order: PaymentId): readonly Fact[] => {
  const moved = { user, currency: 'CNY' } as const;
  const [tenth, rest] = [Quota(quota / 10), Quota((quota / 10) * 9)];
  const dispute = { ...moved, quota: rest, money: '65.70', dispute: 'du_1' };
  return [
    fact(streams.payment(order), {
      type: 'TopUpRefunded',
      ...moved,
      quota: tenth,
      money: '7.30',
      refunded: '7.30',
      reference: 'ch_1',
    }),
    fact(streams.payment(order), { type: 'TopUpDisputed', ...dispute }),
    fact(streams.payment(order), { type: 'TopUpDisputeWon', ...dispute }),
  ];
};

export const issued = (id: ApiKeyId, owner: UserId, quota: number, change: Partial<ApiKeyTerms> = {}): Fact =>
  fact(streams.apiKey(id), {
    type: 'ApiKeyIssued',
    owner,
    keyHash: `hash of key ${id}`,
    secret: SecretId(`key ${id}`),
    quota: Quota(quota),
    terms: apiKeyTerms(change),
  });

export const ofApiKey = (
  id: ApiKeyId,
  event: EventOf<'ApiKeyEdited' | 'ApiKeyEnabled' | 'ApiKeyDisabled' | 'ApiKeyRevoked' | 'ApiKeyDeleted'>,
): Fact => fact(streams.apiKey(id), event);

export const settings = (change: Partial<ChannelSettings> = {}): ChannelSettings =>
  channelSettings({ models: ['gpt-4o', 'gpt-4o-mini'], groups: ['default', 'vip'], ...change });

const secretsOf = (id: ChannelId) => ({
  key: SecretId(`upstream ${id}`),
  keyHash: `hash of upstream ${id}`,
  proxy: null,
});

export const added = (id: ChannelId, change: Partial<ChannelSettings> = {}): Fact =>
  fact(streams.channel(id), { type: 'ChannelAdded', settings: settings(change), secrets: secretsOf(id) });

export const edited = (id: ChannelId, change: Partial<ChannelSettings>): Fact =>
  fact(streams.channel(id), { type: 'ChannelEdited', settings: settings(change), secrets: secretsOf(id) });

export const ofChannel = (
  id: ChannelId,
  event: EventOf<'ChannelEnabled' | 'ChannelDisabled' | 'ChannelTested' | 'ChannelBalanceObserved' | 'ChannelRemoved'>,
): Fact => fact(streams.channel(id), event);

export const codeIssued = (id: number, change: Partial<EventOf<'RedemptionCodeIssued'>> = {}): Fact =>
  fact(streams.redemption(RedemptionId(id)), {
    type: 'RedemptionCodeIssued',
    codeHash: `hash of code ${id}`,
    secret: SecretId(`code ${id}`),
    name: `code ${id}`,
    quota: Quota(500),
    by: root,
    ...change,
  });

export const ofCode = (id: number, event: Exclude<RedemptionEvent, { type: 'RedemptionCodeIssued' }>): Fact =>
  fact(streams.redemption(RedemptionId(id)), event);

export const redeemed = (id: number, user: UserId, quota = 500): Fact =>
  ofCode(id, { type: 'RedemptionCodeRedeemed', user, quota: Quota(quota) });

export const option = (key: string, text: string): Fact =>
  fact(streams.options, { type: 'OptionChanged', key, value: { text } });

export const changedBy = (by: UserId, key: string, value: OptionValue): Fact =>
  fact(streams.options, { type: 'OptionChanged', key, value, by });

export const pricesChanged = (by: UserId, changes: Readonly<Record<string, PricePeriods | null>>): Fact =>
  fact(streams.options, {
    type: 'ModelPricesChanged',
    changes: Object.entries(changes).map(([model, periods]) => ({ model, periods })),
    origin: { kind: 'import' },
    by,
  });

/** What happened before is shown no more. */
export const cleared = (before: Instant): Fact =>
  fact(streams.usageLog, { type: 'LogsCleared', before, by: root }, before);

export const setUp = (rootUserId: UserId): Fact =>
  fact(streams.system, {
    type: 'SetupCompleted',
    rootUserId,
    username: 'root',
    passwordSecret: SecretId('password of root'),
    mode: 'external',
  });

const price: Price = {
  per: 'token',
  model: '1.25',
  ratios: { output: '4', cachedInput: '0.5', cacheWrite: '1.25' },
  group: '1',
};

export const usage: Usage = { input: 95, cachedInput: 20, cacheWrite: 5, output: 24, reasoning: 8 };

const factsOf = (change: Partial<CallFacts>): CallFacts => ({
  userId: alice,
  apiKeyId: aliceKey,
  apiKeyName: 'ci',
  group: 'default',
  model: 'gpt-4o',
  path: '/v1/chat/completions',
  stream: true,
  ...change,
});

const callOf = (id: string) => streams.call(CallId(id));

type Facts = { facts?: Partial<CallFacts> };

export const reserved = (
  id: string,
  quota: number,
  { facts = {}, ...change }: Omit<Partial<CallReserved>, 'facts'> & Facts = {},
): Fact =>
  fact(callOf(id), {
    type: 'CallReserved',
    facts: factsOf(facts),
    reserved: Quota(quota),
    promptTokens: 120,
    maxOutputTokens: 100,
    price,
    ...change,
  });

/** Settles a call that had `held` reserved. */
export const settled = (
  id: string,
  held: number,
  charged: number,
  { facts = {}, ...change }: Omit<Partial<CallSettled>, 'facts'> & Facts = {},
): Fact =>
  fact(callOf(id), {
    type: 'CallSettled',
    facts: factsOf(facts),
    reserved: Quota(held),
    charged: Quota(charged),
    uncovered: Quota(0),
    usage,
    usageSource: 'upstream',
    price,
    outcome: 'completed',
    channelId: east,
    attempts: [east],
    upstreamModel: null,
    useTimeMs: 2_100,
    firstTokenMs: 640,
    reasoningEffort: null,
    suspense: Quota(0),
    ...change,
  });

export const released = (
  id: string,
  held: number,
  { facts = {}, ...change }: Omit<Partial<CallReleased>, 'facts'> & Facts = {},
): Fact =>
  fact(callOf(id), {
    type: 'CallReleased',
    facts: factsOf(facts),
    reserved: Quota(held),
    reason: 'upstream-failed',
    status: 502,
    code: 'upstream_error',
    attempts: [east],
    useTimeMs: 300,
    suspense: Quota(0),
    ...change,
  });

const refusalOf = (change: Partial<Refusal> = {}): Refusal => ({
  userId: alice,
  apiKeyId: ApiKeyId(12),
  apiKeyName: 'ci',
  group: 'default',
  model: 'gpt-4o',
  path: '/v1/chat/completions',
  status: 403,
  code: 'insufficient_user_quota',
  network: null,
  ...change,
});

/** Of callers that nobody knows. */
export const ofStrangers: Partial<Refusal> = {
  ...{ userId: null, apiKeyId: null, apiKeyName: '', group: '', model: '' },
  ...{ status: 401, code: 'invalid_api_key', network: '192.0.2.0/24' },
};

export const refused = (id: string, change: Partial<Refusal> = {}): Fact =>
  fact(callOf(id), { type: 'CallRefused', refusal: refusalOf(change) });

/** So many more. */
export const furtherRefusals = (count: number, change: Partial<Refusal> = {}): Fact =>
  fact(streams.refusals(at()), { type: 'CallsRefused', refusal: refusalOf(change), count, since: at() });

/** Takes back the settlement that charged this much; recorded an hour later, so that each counts in its own hour. */
export const ofTask = (event: TaskEvent): Fact => fact(streams.task(event.facts.taskId), event);

export const correctedSettlement = (at: Instant, n: number) => ({
  ...{ eventId: eventId(n), position: n, at, channelId: ChannelId(3 + (n % 2)) },
});

export const corrected = (
  id: string,
  charged: number,
  { facts = {}, ...change }: Omit<Partial<CallCorrected>, 'facts'> & Facts = {},
): Fact =>
  fact(callOf(id), {
    type: 'CallCorrected',
    facts: factsOf(facts),
    settlement: { eventId: eventId(0, 0x5e77), position: 1, at: at(), channelId: east },
    repair: RepairId('0123456789abcdef01234567'),
    part: 'post',
    price: { per: 'call', price: '0.1', quotaPerUnit: '500000', group: '1' },
    from: { charged: Quota(charged), uncovered: Quota(0) },
    to: { charged: Quota(Math.floor(charged / 2)), uncovered: Quota(3) },
    ...change,
  });

const ofRepair = (event: RepairEvent): Fact => fact(streams.repair(RepairId('0123456789abcdef01234567')), event);

/** A repair of calls that have been corrected, and its undo. */
export function repaired(by: UserId): Fact[] {
  const sums = { calls: 3, given: '120', taken: '0' };
  const at = { from: Instant(0), to: Instant(1_800_000_000_000) };
  const scope = { ...at, model: null, userId: null, group: 'default', channelId: null, apiKeyId: null };
  const origin = { kind: 'held', position: 4, at: Instant(5) } as const;
  return [
    ofRepair({
      ...{
        type: 'RepairOrdered',
        by,
        scope,
        isCharging: true,
        after: -1,
        upTo: 9,
        digest: 'f'.repeat(64),
      },
      ...{ right: { origin, records: {}, groupRatio: {}, quotaPerUnit: '500000' }, planned: sums },
    }),
    ofRepair({ type: 'RepairEnded', posted: sums, changed: 1, isAbandoned: false }),
    ofRepair({ type: 'RepairUndoOrdered', by: 'cli' }),
    ofRepair({ type: 'RepairUndoEnded', posted: sums, changed: 0 }),
  ];
}

export const refunded = (
  id: string,
  charged: number,
  { facts = {}, ...change }: Omit<Partial<CallRefunded>, 'facts'> & Facts = {},
): Fact =>
  fact(callOf(id), {
    type: 'CallRefunded',
    facts: factsOf(facts),
    settlement: {
      eventId: eventId(0, 0x5e77),
      at: at(),
      charged: Quota(charged),
      usage,
      channelId: east,
      attempts: [east],
      useTimeMs: 2_100,
    },
    status: 503,
    code: 'store_unavailable',
    useTimeMs: 32_000,
    suspense: Quota(charged),
    ...change,
  });
