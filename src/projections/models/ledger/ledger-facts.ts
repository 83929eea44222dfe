import type { CallEvent, CallFacts } from '../../../domain/call/call.js';
import type { ChargeShares } from '../../../domain/call/call-correction.js';
import { type Recorded, streamKey } from '../../../domain/events/events.js';
import type { CallMoney, MoneyEventOfCall } from '../../../domain/events/packed-calls.js';
import { assertNever } from '../../../domain/kernel/failure.js';
import { ApiKeyId, type ChannelId, UserId } from '../../../domain/kernel/ids.js';
import type { Instant } from '../../../domain/kernel/instant.js';
import { availableOf, invitesOf, reservedOf } from './ledger.js';

/*
 * The figures of the ledger worked out anew and another way than by postings, so that a mistake in the fold shows as well
 * as damage to the tables. So this does not ask `domain/ledger/movements.ts`.
 */

/** Balances by account, `apikey:{id}`, `apikey:{id}:{day}`, `call:{id}` and `wallet:{id}`. */
export type Figures = Map<string, bigint>;

const msPerDay = 86_400_000;

const moneyOfCall = (event: Extract<CallEvent, { type: MoneyEventOfCall }>): CallMoney => ({
  ...{ userId: event.facts.userId, apiKeyId: event.facts.apiKeyId, reserved: event.reserved },
  charged: event.type === 'CallSettled' ? event.charged : 0,
  suspense: event.type === 'CallReserved' ? 0 : event.suspense,
  uncovered: event.type === 'CallSettled' ? event.uncovered : 0,
  channelId:
    event.type === 'CallSettled'
      ? event.channelId
      : event.type === 'CallReleased'
        ? (event.attempts.at(-1) ?? null)
        : null,
});

export const ofWallets = (balances: ReadonlyMap<UserId, bigint>): Figures =>
  new Map([...balances].map(([user, balance]) => [`wallet:${user}`, balance]));

const add = <Key>(sums: Map<Key, bigint>, key: Key, amount: bigint): void => {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
};

/** By a channel, as its call is charged. */
const earnedBy = ({ charged, uncovered }: ChargeShares): bigint => BigInt(charged) - BigInt(uncovered);

export type LedgerFactsState = Readonly<
  Record<'granted' | 'adjusted' | 'redeemed' | 'charged' | 'suspense' | 'bought', bigint>
> & {
  readonly owned: readonly (readonly [UserId, bigint])[];
  readonly invites: readonly (readonly [UserId, bigint])[];
  readonly apiKeys: readonly (readonly [ApiKeyId, bigint])[];
  readonly channels: readonly (readonly [ChannelId, bigint])[];
  /** By API key and day, `3:2026-03-01`. */
  readonly spent: readonly (readonly [string, bigint])[];
  readonly reserved: readonly (readonly [string, { readonly user: UserId; readonly quota: bigint }])[];
};

/** What was given, what was charged, what is reserved: the balances follow. */
export class LedgerFacts {
  private readonly owned = new Map<UserId, bigint>();
  private readonly invites = new Map<UserId, bigint>();
  private readonly apiKeys = new Map<ApiKeyId, bigint>();
  /** By API key and day. */
  private readonly spent = new Map<string, bigint>();
  /** What each has added to revenue. Beside the double entry, as API keys are. */
  private readonly channels = new Map<ChannelId, bigint>();
  private readonly reserved = new Map<string, { readonly user: UserId; readonly quota: bigint }>();
  private granted = 0n;
  private adjusted = 0n;
  private redeemed = 0n;
  private charged = 0n;
  private suspense = 0n;
  private bought = 0n;
  private day = { number: Number.NaN, text: '' };

  take({ event, stream, at }: Recorded): void {
    switch (event.type) {
      case 'QuotaGranted':
        add(this.owned, UserId(streamKey(stream)), BigInt(event.quota));
        this.granted += BigInt(event.quota);
        return;
      case 'QuotaAdjusted':
        add(this.owned, UserId(streamKey(stream)), BigInt(event.delta));
        this.granted += BigInt(event.gift);
        this.adjusted += BigInt(event.delta) - BigInt(event.gift);
        return;
      case 'TopUpCompleted':
        add(this.owned, event.user, BigInt(event.quota));
        this.bought += BigInt(event.quota);
        return;
      case 'TopUpRefunded':
      case 'TopUpDisputed':
        add(this.owned, event.user, -BigInt(event.quota));
        this.bought -= BigInt(event.quota);
        return;
      case 'TopUpDisputeWon':
        add(this.owned, event.user, BigInt(event.quota));
        this.bought += BigInt(event.quota);
        return;
      case 'RedemptionCodeRedeemed':
        add(this.owned, event.user, BigInt(event.quota));
        this.redeemed += BigInt(event.quota);
        return;
      case 'InviteRewardEarned':
        add(this.invites, UserId(streamKey(stream)), BigInt(event.quota));
        this.granted += BigInt(event.quota);
        return;
      case 'InviteRewardTransferred':
        add(this.invites, UserId(streamKey(stream)), -BigInt(event.quota));
        add(this.owned, UserId(streamKey(stream)), BigInt(event.quota));
        return;
      case 'ApiKeyIssued':
        add(this.apiKeys, ApiKeyId(streamKey(stream)), BigInt(event.quota));
        return;
      case 'ApiKeyEdited':
        add(this.apiKeys, ApiKeyId(streamKey(stream)), BigInt(event.quotaDelta));
        return;
      case 'CallReserved':
      case 'CallSettled':
      case 'CallReleased':
        this.takeCall(event.type, streamKey(stream), moneyOfCall(event), at);
        return;
      case 'CallRefunded':
        this.charge(event.facts, -BigInt(event.settlement.charged), event.settlement.at);
        this.suspense += BigInt(event.suspense);
        add(this.channels, event.settlement.channelId, -BigInt(event.settlement.charged) - BigInt(event.suspense));
        return;
      case 'CallCorrected':
        this.charge(event.facts, BigInt(event.to.charged) - BigInt(event.from.charged), event.settlement.at);
        this.suspense += BigInt(event.to.uncovered) - BigInt(event.from.uncovered);
        add(this.channels, event.settlement.channelId, earnedBy(event.to) - earnedBy(event.from));
        return;
      case 'UserRegistered':
      case 'UserProfileChanged':
      case 'EmailChanged':
      case 'IdentityLinked':
      case 'IdentityUnlinked':
      case 'PasskeyGivenUp':
      case 'UserGroupChanged':
      case 'UserRoleChanged':
      case 'UserDisabled':
      case 'UserEnabled':
      case 'UserDeleted':
      case 'UserErased':
      case 'SignInsEnded':
      case 'InviteCodeIssued':
      case 'InviteRewardPromised':
      case 'PasswordChanged':
      case 'AccessTokenIssued':
      case 'UserSettingsChanged':
      case 'UsernameClaimed':
      case 'UsernameReleased':
      case 'IdentityClaimed':
      case 'IdentityReleased':
      case 'TotpEnrolled':
      case 'TotpCodeUsed':
      case 'TotpTurnedOff':
      case 'RecoveryCodesRenewed':
      case 'RecoveryCodeUsed':
      case 'PasskeyAdded':
      case 'PasskeyUsed':
      case 'PasskeyRenamed':
      case 'PasskeyRemoved':
      case 'FactorsReset':
      case 'InviteCodeClaimed':
      case 'InviteCodeReleased':
      case 'ApiKeyEnabled':
      case 'ApiKeyDisabled':
      case 'ApiKeyRevoked':
      case 'ApiKeyDeleted':
      case 'ChannelAdded':
      case 'ChannelEdited':
      case 'ChannelEnabled':
      case 'ChannelDisabled':
      case 'ChannelTested':
      case 'ChannelBalanceObserved':
      case 'ChannelRemoved':
      case 'RedemptionCodeIssued':
      case 'RedemptionCodeEdited':
      case 'RedemptionCodeEnabled':
      case 'RedemptionCodeDisabled':
      case 'RedemptionCodeDeleted':
      case 'ChannelTestRunFinished':
      case 'LogsCleared':
      case 'OptionChanged':
      case 'ModelPricesChanged':
      case 'SetupCompleted':
      case 'TopUpRequested':
      case 'TopUpBegun':
      case 'TopUpExpired':
      case 'CallRefused':
      case 'CallsRefused':
      case 'TaskSubmitted':
      case 'TaskProgressed':
      case 'TaskSucceeded':
      case 'TaskFailed':
      case 'UsageExportMapped':
      case 'BalancesRecorded':
      case 'PeriodClosed':
      case 'PeriodArchived':
      case 'RepairOrdered':
      case 'RepairEnded':
      case 'RepairUndoOrdered':
      case 'RepairUndoEnded':
      case 'EventQuarantined':
        return;
      default:
        assertNever(event);
    }
  }

  /** The same of an event of a call, given by what the ledger needs of it. */
  takeCall(type: MoneyEventOfCall, callId: string, money: CallMoney, at: Instant): void {
    const { userId, apiKeyId, reserved, charged, suspense, uncovered, channelId } = money;
    if (type === 'CallReserved') {
      add(this.owned, userId, 0n);
      this.reserved.set(callId, { user: userId, quota: BigInt(reserved) });
      return;
    }
    this.reserved.delete(callId);
    if (type === 'CallSettled') this.charge({ userId, apiKeyId }, BigInt(charged), at);
    const unpaid = BigInt(suspense) + BigInt(uncovered);
    this.suspense += unpaid;
    if (channelId !== null && (type === 'CallSettled' || unpaid !== 0n))
      add(this.channels, channelId, BigInt(charged) - unpaid);
  }

  /** `at`: when it was settled. */
  private charge({ userId, apiKeyId }: Pick<CallFacts, 'userId' | 'apiKeyId'>, quota: bigint, at: Instant): void {
    add(this.owned, userId, -quota);
    if (apiKeyId !== null) {
      add(this.apiKeys, apiKeyId, -quota);
      add(this.spent, `${apiKeyId}:${this.dayOf(at)}`, quota);
    }
    this.charged += quota;
  }

  /** `2026-03-01`; of the same day as the last one it is known. */
  private dayOf(at: Instant): string {
    const number = Math.floor(at / msPerDay);
    if (number !== this.day.number) this.day = { number, text: new Date(at).toISOString().slice(0, 10) };
    return this.day.text;
  }

  /** All that it knows, from which `of` makes the same again. */
  state(): LedgerFactsState {
    const { granted, adjusted, redeemed, charged, suspense, bought } = this;
    return {
      ...{ owned: [...this.owned], invites: [...this.invites], apiKeys: [...this.apiKeys] },
      ...{ channels: [...this.channels], spent: [...this.spent], reserved: [...this.reserved] },
      ...{ granted, adjusted, redeemed, charged, suspense, bought },
    };
  }

  static of(state: LedgerFactsState): LedgerFacts {
    const facts = new LedgerFacts();
    for (const [user, quota] of state.owned) facts.owned.set(user, quota);
    for (const [user, quota] of state.invites) facts.invites.set(user, quota);
    for (const [id, quota] of state.apiKeys) facts.apiKeys.set(id, quota);
    for (const [id, quota] of state.channels) facts.channels.set(id, quota);
    for (const [keyAndDay, quota] of state.spent) facts.spent.set(keyAndDay, quota);
    for (const [callId, held] of state.reserved) facts.reserved.set(callId, held);
    const { granted, adjusted, redeemed, charged, suspense, bought } = state;
    return Object.assign(facts, { granted, adjusted, redeemed, charged, suspense, bought });
  }

  /** As text, from which `restored` makes the same again. */
  saved(): string {
    return JSON.stringify(this.state(), (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
  }

  /** null: an earlier release has saved it, which knew less. */
  static restored(text: string): LedgerFacts | null {
    const state = JSON.parse(text, (_, value: unknown) =>
      typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
    ) as LedgerFactsState;
    return state.channels === undefined ? null : LedgerFacts.of(state);
  }

  wallets(): Figures {
    return ofWallets(this.owned);
  }

  figures(): Figures {
    const figures = this.balances();
    for (const [keyAndDay, quota] of this.spent) figures.set(`apikey:${keyAndDay}`, quota);
    for (const [callId, { quota }] of this.reserved) figures.set(`call:${callId}`, quota);
    return figures;
  }

  /** Of the double entry and of API keys. */
  balances(): Figures {
    const reserved = new Map<UserId, bigint>();
    for (const { user, quota } of this.reserved.values()) add(reserved, user, quota);
    const figures: Figures = new Map<string, bigint>([
      ['grants', -this.granted],
      ['adjustments', -this.adjusted],
      ['codes', -this.redeemed],
      ['revenue', this.charged - this.suspense],
      ['suspense', this.suspense],
      ['payments', -this.bought],
    ]);
    for (const [user, quota] of this.owned) {
      figures.set(availableOf(user), quota - (reserved.get(user) ?? 0n));
      figures.set(reservedOf(user), reserved.get(user) ?? 0n);
    }
    for (const [user, quota] of this.invites) figures.set(invitesOf(user), quota);
    for (const [id, balance] of this.apiKeys) figures.set(`apikey:${id}`, balance);
    return figures;
  }
}
