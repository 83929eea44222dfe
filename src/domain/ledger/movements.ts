import type { CallFacts, CallReleased, CallSettled } from '../call/call.js';
import { type DomainEvent, type EventType, type Recorded, streamKey } from '../events/events.js';
import { ApiKeyId, CallId, UserId } from '../kernel/ids.js';
import type { Instant } from '../kernel/instant.js';
import type { Quota } from '../kernel/quota.js';

/*
 * Who moves money: from any event, the accounts and amounts it moves. Every balance there is, in memory and in tables, is
 * a sum of these postings; an event that is not named here does not compile.
 */

/** Free to be spent, or reserved for calls in flight. */
export type WalletPart = 'available' | 'reserved';

export type HouseAccount = 'revenue' | 'grants' | 'adjustments' | 'codes' | 'suspense' | 'payments';

/** What an account gets; negative: what is taken from it. API keys' accounts are a memo beside the double entry. */
export type Posting =
  | { readonly owner: 'user'; readonly id: UserId; readonly part: WalletPart; readonly amount: bigint }
  | { readonly owner: 'api-key'; readonly id: ApiKeyId; readonly part: WalletPart; readonly amount: bigint }
  /** Earned by inviting others, and not to be spent before it is transferred. */
  | { readonly owner: 'inviter'; readonly id: UserId; readonly amount: bigint }
  | { readonly owner: 'house'; readonly part: HouseAccount; readonly amount: bigint };

export type MovementCause =
  | 'grant'
  | 'adjustment'
  /** Quota that money was paid for. */
  | 'top-up'
  /** The money of it has gone back, or comes again after a dispute that was won. */
  | 'top-up-return'
  /** A code was redeemed. */
  | 'redemption'
  /** For inviting somebody. */
  | 'invite-reward'
  /** Of such rewards, into the balance. */
  | 'invite-transfer'
  /** An API key may spend more, or less. */
  | 'allowance'
  | 'reservation'
  | 'settlement'
  | 'release'
  /** What upstream may charge for and nobody pays. */
  | 'suspense'
  | 'refund'
  /** A call that was charged by a wrong price. */
  | 'correction';

export interface Movement {
  readonly cause: MovementCause;
  /** The call that is paid for, or was to be; null: nothing is spent or given back. */
  readonly call: CallId | null;
  /** Of a refund and a correction: when what they change was charged. */
  readonly settledAt?: Instant;
  /** What users and the house get and give sums to zero. */
  readonly postings: readonly Posting[];
}

const user = (id: UserId, part: WalletPart, amount: bigint): Posting => ({ owner: 'user', id, part, amount });
const apiKey = (id: ApiKeyId, part: WalletPart, amount: bigint): Posting => ({ owner: 'api-key', id, part, amount });
const inviter = (id: UserId, amount: bigint): Posting => ({ owner: 'inviter', id, amount });
const house = (part: HouseAccount, amount: bigint): Posting => ({ owner: 'house', part, amount });

/** Of the user's wallet and of the API key that pays, if one does. */
const ofBoth = ({ userId, apiKeyId }: CallFacts, part: WalletPart, amount: bigint): Posting[] =>
  apiKeyId === null ? [user(userId, part, amount)] : [user(userId, part, amount), apiKey(apiKeyId, part, amount)];

/**
 * The reservation begins. Written out, as its end is: nearly all events are such, and each read model of balances asks
 * for itself.
 */
const opening = (call: CallId, { userId, apiKeyId }: CallFacts, amount: bigint): Movement[] => [
  {
    cause: 'reservation',
    call,
    postings:
      apiKeyId === null
        ? [user(userId, 'available', -amount), user(userId, 'reserved', amount)]
        : [
            user(userId, 'available', -amount),
            apiKey(apiKeyId, 'available', -amount),
            user(userId, 'reserved', amount),
            apiKey(apiKeyId, 'reserved', amount),
          ],
  },
];

/** The reservation ends. Beyond it only as far as the user had something left; the rest of the cost is in suspense. */
const closing = (
  call: CallId,
  { type, facts, reserved }: CallSettled | CallReleased,
  charged: bigint,
  unpaid: bigint,
): Movement[] => {
  const { userId, apiKeyId } = facts;
  const cause = type === 'CallSettled' ? 'settlement' : 'release';
  const amount = BigInt(reserved);
  const left = amount - charged;
  const earned = house('revenue', charged);
  const postings =
    apiKeyId === null
      ? [user(userId, 'reserved', -amount), user(userId, 'available', left), earned]
      : [
          user(userId, 'reserved', -amount),
          apiKey(apiKeyId, 'reserved', -amount),
          user(userId, 'available', left),
          apiKey(apiKeyId, 'available', left),
          earned,
        ];
  const closed: Movement = { cause, call, postings };
  return unpaid === 0n
    ? [closed]
    : [closed, { cause: 'suspense', call, postings: [house('suspense', unpaid), house('revenue', -unpaid)] }];
};

const allowance = (id: string, quota: Quota): Movement[] => [
  { cause: 'allowance', call: null, postings: [apiKey(ApiKeyId(id), 'available', BigInt(quota))] },
];

/** What was bought goes back to the house; negative: it is given again. */
const boughtBack = (payer: UserId, quota: bigint): Movement[] => [
  {
    cause: 'top-up-return',
    call: null,
    postings: [user(payer, 'available', -quota), house('payments', quota)],
  },
];

type EventOf<Type extends EventType> = Extract<DomainEvent, { type: Type }>;

/** `key`: what the event's stream is named by. null: moves nothing. */
type Mover<Type extends EventType> = ((event: EventOf<Type>, key: string) => readonly Movement[]) | null;

const movers = {
  QuotaGranted: ({ quota }, key) => [
    {
      cause: 'grant',
      call: null,
      postings: [user(UserId(key), 'available', BigInt(quota)), house('grants', -BigInt(quota))],
    },
  ],
  QuotaAdjusted: ({ delta, gift }, key) => [
    {
      cause: 'adjustment',
      call: null,
      postings: [
        user(UserId(key), 'available', BigInt(delta)),
        house('adjustments', BigInt(gift) - BigInt(delta)),
        house('grants', -BigInt(gift)),
      ],
    },
  ],
  RedemptionCodeRedeemed: ({ user: redeemer, quota }) => [
    {
      cause: 'redemption',
      call: null,
      postings: [user(redeemer, 'available', BigInt(quota)), house('codes', -BigInt(quota))],
    },
  ],
  InviteRewardEarned: ({ quota }, key) => [
    {
      cause: 'invite-reward',
      call: null,
      postings: [inviter(UserId(key), BigInt(quota)), house('grants', -BigInt(quota))],
    },
  ],
  InviteRewardTransferred: ({ quota }, key) => [
    {
      cause: 'invite-transfer',
      call: null,
      postings: [user(UserId(key), 'available', BigInt(quota)), inviter(UserId(key), -BigInt(quota))],
    },
  ],
  ApiKeyIssued: ({ quota }, key) => allowance(key, quota),
  ApiKeyEdited: ({ quotaDelta }, key) => allowance(key, quotaDelta),
  CallReserved: ({ facts, reserved }, key) => opening(CallId(key), facts, BigInt(reserved)),
  CallSettled: (event, key) =>
    closing(CallId(key), event, BigInt(event.charged), BigInt(event.suspense) + BigInt(event.uncovered)),
  CallReleased: (event, key) => closing(CallId(key), event, 0n, BigInt(event.suspense)),
  // The charge goes back where it came from; of the reservation nothing is left to move.
  CallRefunded: ({ facts, settlement, suspense }, key) => [
    {
      cause: 'refund',
      call: CallId(key),
      settledAt: settlement.at,
      postings: [
        ...ofBoth(facts, 'available', BigInt(settlement.charged)),
        house('suspense', BigInt(suspense)),
        house('revenue', -(BigInt(settlement.charged) + BigInt(suspense))),
      ],
    },
  ],
  CallCorrected: ({ facts, settlement, from, to }, key) => {
    const back = BigInt(from.charged) - BigInt(to.charged);
    const unpaid = BigInt(to.uncovered) - BigInt(from.uncovered);
    return [
      {
        cause: 'correction',
        call: CallId(key),
        settledAt: settlement.at,
        postings: [...ofBoth(facts, 'available', back), house('suspense', unpaid), house('revenue', -(back + unpaid))],
      },
    ];
  },
  TopUpCompleted: ({ user: payer, quota }) => [
    {
      cause: 'top-up',
      call: null,
      postings: [user(payer, 'available', BigInt(quota)), house('payments', -BigInt(quota))],
    },
  ],
  TopUpRefunded: ({ user: payer, quota }) => boughtBack(payer, BigInt(quota)),
  TopUpDisputed: ({ user: payer, quota }) => boughtBack(payer, BigInt(quota)),
  TopUpDisputeWon: ({ user: payer, quota }) => boughtBack(payer, -BigInt(quota)),
  CallRefused: null,
  CallsRefused: null,
  TopUpRequested: null,
  TopUpBegun: null,
  TopUpExpired: null,
  UserRegistered: null,
  UserProfileChanged: null,
  EmailChanged: null,
  IdentityLinked: null,
  IdentityUnlinked: null,
  PasskeyGivenUp: null,
  UserGroupChanged: null,
  UserRoleChanged: null,
  UserDisabled: null,
  UserEnabled: null,
  UserDeleted: null,
  UserErased: null,
  SignInsEnded: null,
  InviteCodeIssued: null,
  // Owed, and nobody's until it is earned.
  InviteRewardPromised: null,
  PasswordChanged: null,
  AccessTokenIssued: null,
  UserSettingsChanged: null,
  UsernameClaimed: null,
  UsernameReleased: null,
  IdentityClaimed: null,
  IdentityReleased: null,
  TotpEnrolled: null,
  TotpCodeUsed: null,
  TotpTurnedOff: null,
  RecoveryCodesRenewed: null,
  RecoveryCodeUsed: null,
  PasskeyAdded: null,
  PasskeyUsed: null,
  PasskeyRenamed: null,
  PasskeyRemoved: null,
  FactorsReset: null,
  InviteCodeClaimed: null,
  InviteCodeReleased: null,
  ApiKeyEnabled: null,
  ApiKeyDisabled: null,
  ApiKeyRevoked: null,
  ApiKeyDeleted: null,
  ChannelAdded: null,
  ChannelEdited: null,
  ChannelEnabled: null,
  ChannelDisabled: null,
  ChannelTested: null,
  ChannelBalanceObserved: null,
  ChannelRemoved: null,
  RedemptionCodeIssued: null,
  RedemptionCodeEdited: null,
  RedemptionCodeEnabled: null,
  RedemptionCodeDisabled: null,
  RedemptionCodeDeleted: null,
  ChannelTestRunFinished: null,
  TaskSubmitted: null,
  TaskProgressed: null,
  TaskSucceeded: null,
  // Its refund moves quota: an event of its call.
  TaskFailed: null,
  OptionChanged: null,
  ModelPricesChanged: null,
  SetupCompleted: null,
  // A view is trimmed; what it was made from stays.
  LogsCleared: null,
  UsageExportMapped: null,
  // What they name has been moved by others.
  BalancesRecorded: null,
  PeriodClosed: null,
  PeriodArchived: null,
  // Its corrections move quota: events of the calls.
  RepairOrdered: null,
  RepairEnded: null,
  RepairUndoOrdered: null,
  RepairUndoEnded: null,
  EventQuarantined: null,
} satisfies { readonly [Type in EventType]: Mover<Type> };

type MoneyEventType = { [Type in EventType]: (typeof movers)[Type] extends null ? never : Type }[EventType];

/** Every event that moves something: a read model of balances is declared over all of them. */
export type MoneyEvent = EventOf<MoneyEventType>;

const moving = Object.entries(movers).filter(([, mover]) => mover !== null);
export const moneyEvents = Object.fromEntries(moving.map(([type]) => [type, true])) as Readonly<
  Record<MoneyEventType, true>
>;

const nothing: readonly Movement[] = [];

export function movementsOf({ event, stream }: Pick<Recorded, 'event' | 'stream'>): readonly Movement[] {
  const mover = movers[event.type] as Mover<EventType>;
  return mover === null ? nothing : mover(event as never, streamKey(stream));
}

/**
 * For whoever must go on whatever the log holds: an event that cannot be read moves nothing here. The ledger stops at it
 * and says so.
 */
export function readableMovementsOf(recorded: Pick<Recorded, 'event' | 'stream'>): readonly Movement[] {
  try {
    return movementsOf(recorded);
  } catch {
    return nothing;
  }
}
