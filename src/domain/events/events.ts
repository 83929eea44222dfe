import type { ApiKeyEvent } from '../api-key/api-key.js';
import type { CallEvent } from '../call/call.js';
import type { TestRunEvent } from '../call/test-run.js';
import type { UsageLogEvent } from '../call/usage-log.js';
import type { ChannelEvent } from '../channel/channel.js';
import type { Brand } from '../kernel/brand.js';
import type { IdentityEvent, IdentityKind, InviteCodeEvent, UsernameEvent } from '../kernel/claim.js';
import { invalidField } from '../kernel/failure.js';
import type {
  ApiKeyId,
  CallId,
  ChannelId,
  IdentityClaim,
  PaymentId,
  RedemptionId,
  RepairId,
  TaskId,
  UserId,
} from '../kernel/ids.js';
import type { Instant } from '../kernel/instant.js';
import type { RefusalEvent } from '../kernel/refusal.js';
import type { BooksEvent } from '../ledger/closing.js';
import type { OptionEvent } from '../options/option.js';
import type { PaymentEvent } from '../payment/payment.js';
import type { RedemptionEvent } from '../payment/redemption.js';
import type { UsageExportEvent } from '../reconciliation/remembered-columns.js';
import type { RepairEvent } from '../repair/repair.js';
import type { TaskEvent } from '../task/task.js';
import type { FactorEvent } from '../user/second-factor.js';
import type { SetupEvent } from '../user/setup.js';
import type { UserEvent } from '../user/user.js';
import type { OrderOrigin } from './order-origin.js';
import type { QuarantineEvent } from './quarantine.js';

/** Everything that can have happened. */
export type DomainEvent =
  | UserEvent
  | UsernameEvent
  | IdentityEvent
  | FactorEvent
  | InviteCodeEvent
  | ApiKeyEvent
  | ChannelEvent
  | RedemptionEvent
  | TestRunEvent
  | OptionEvent
  | CallEvent
  | RefusalEvent
  | TaskEvent
  | PaymentEvent
  | SetupEvent
  | UsageLogEvent
  | UsageExportEvent
  | BooksEvent
  | RepairEvent
  | QuarantineEvent;

export type EventType = DomainEvent['type'];

/** Every type once: a log may also hold those of a newer release, which this one must not pass over. */
const eventTypes: Readonly<Record<EventType, true>> = {
  UserRegistered: true,
  UserProfileChanged: true,
  EmailChanged: true,
  IdentityLinked: true,
  IdentityUnlinked: true,
  PasskeyGivenUp: true,
  UserGroupChanged: true,
  UserRoleChanged: true,
  UserDisabled: true,
  UserEnabled: true,
  UserDeleted: true,
  UserErased: true,
  SignInsEnded: true,
  InviteCodeIssued: true,
  InviteRewardPromised: true,
  InviteRewardEarned: true,
  InviteRewardTransferred: true,
  PasswordChanged: true,
  AccessTokenIssued: true,
  UserSettingsChanged: true,
  QuotaGranted: true,
  QuotaAdjusted: true,
  UsernameClaimed: true,
  UsernameReleased: true,
  IdentityClaimed: true,
  IdentityReleased: true,
  TotpEnrolled: true,
  TotpCodeUsed: true,
  TotpTurnedOff: true,
  RecoveryCodesRenewed: true,
  RecoveryCodeUsed: true,
  PasskeyAdded: true,
  PasskeyUsed: true,
  PasskeyRenamed: true,
  PasskeyRemoved: true,
  FactorsReset: true,
  InviteCodeClaimed: true,
  InviteCodeReleased: true,
  ApiKeyIssued: true,
  ApiKeyEdited: true,
  ApiKeyEnabled: true,
  ApiKeyDisabled: true,
  ApiKeyRevoked: true,
  ApiKeyDeleted: true,
  ChannelAdded: true,
  ChannelEdited: true,
  ChannelEnabled: true,
  ChannelDisabled: true,
  ChannelTested: true,
  ChannelBalanceObserved: true,
  ChannelRemoved: true,
  RedemptionCodeIssued: true,
  RedemptionCodeEdited: true,
  RedemptionCodeEnabled: true,
  RedemptionCodeDisabled: true,
  RedemptionCodeDeleted: true,
  RedemptionCodeRedeemed: true,
  ChannelTestRunFinished: true,
  OptionChanged: true,
  ModelPricesChanged: true,
  CallReserved: true,
  CallSettled: true,
  CallReleased: true,
  CallRefunded: true,
  CallCorrected: true,
  CallRefused: true,
  CallsRefused: true,
  TaskSubmitted: true,
  TaskProgressed: true,
  TaskSucceeded: true,
  TaskFailed: true,
  TopUpRequested: true,
  TopUpBegun: true,
  TopUpCompleted: true,
  TopUpExpired: true,
  TopUpRefunded: true,
  TopUpDisputed: true,
  TopUpDisputeWon: true,
  SetupCompleted: true,
  LogsCleared: true,
  UsageExportMapped: true,
  BalancesRecorded: true,
  PeriodClosed: true,
  PeriodArchived: true,
  RepairOrdered: true,
  RepairEnded: true,
  RepairUndoOrdered: true,
  RepairUndoEnded: true,
  EventQuarantined: true,
};

export const isEventType = (type: string): type is EventType => Object.hasOwn(eventTypes, type);

declare const placeInLog: unique symbol;

/**
 * An event's place in the global order; -1: before the first. It grows, and what lies before it never changes, but there
 * may be any distance between one and the next: it can be compared with others (`<`, `>`, `===`), and neither counted nor
 * calculated with. `Number` makes of it what tables, messages and faces show.
 */
export interface Position {
  readonly [placeInLog]: true;
}

export const Position = (raw: number | string | bigint): Position => {
  const value = Number(raw);
  if (!Number.isSafeInteger(value) || value < -1) throw invalidField('position', 'an integer from -1');
  return value as unknown as Position;
};

export const beginning = Position(-1);

/** The last of them in the log; `beginning`: there are none. */
export const latestOf = (positions: readonly Position[]): Position =>
  positions.reduce((latest, position) => (position > latest ? position : latest), beginning);

/** The first of them in the log. */
export const earliestOf = (position: Position, ...others: readonly Position[]): Position =>
  others.reduce((earliest, other) => (other < earliest ? other : earliest), position);

/** An event's place in its stream: 0, 1, 2, … */
export type Revision = number;

export type StreamName = Brand<string, 'StreamName'>;

export const streams = {
  user: (id: UserId) => `user-${id}` as StreamName,
  username: (name: string) => `username-${name.toLowerCase()}` as StreamName,
  identity: (kind: IdentityKind, claim: IdentityClaim) => `identity-${kind}-${claim}` as StreamName,
  factors: (id: UserId) => `factors-${id}` as StreamName,
  /** `passkey`: keyed hash of the credential id. */
  passkey: (passkey: string) => `passkey-${passkey}` as StreamName,
  invite: (code: string) => `invite-${code}` as StreamName,
  apiKey: (id: ApiKeyId) => `apikey-${id}` as StreamName,
  channel: (id: ChannelId) => `channel-${id}` as StreamName,
  task: (id: TaskId) => `task-${id}` as StreamName,
  redemption: (id: RedemptionId) => `redemption-${id}` as StreamName,
  call: (id: CallId) => `call-${id}` as StreamName,
  repair: (id: RepairId) => `repair-${id}` as StreamName,
  payment: (id: PaymentId) => `payment-${id}` as StreamName,
  /** What was refused in an hour and is not recorded by itself: no such stream grows for ever. By hours since 1970. */
  refusals: (at: Instant) => `refusals-${Math.floor(at / 3_600_000)}` as StreamName,
  options: 'options' as StreamName,
  system: 'system' as StreamName,
  quarantine: 'quarantine' as StreamName,
  testRuns: 'testruns' as StreamName,
  usageLog: 'usagelog' as StreamName,
  usageExports: 'usageexports' as StreamName,
  books: 'books' as StreamName,
  /** What accounts held at a position, where books were closed. */
  balances: (position: Position) => `balances-${Number(position)}` as StreamName,
} as const;

/** Of which there are as many as calls, each of a few events. */
export const isCallStream = (stream: StreamName): boolean => stream.startsWith('call-');

/** The id a stream name ends in: `user-7` → `7`. */
export const streamKey = (stream: StreamName): string => stream.slice(stream.indexOf('-') + 1);

/** An event with its envelope, as it stands in the log. `at` is when it happened, stated by whoever recorded it. */
export interface Recorded<Event extends DomainEvent = DomainEvent> {
  readonly id: string;
  readonly stream: StreamName;
  readonly revision: Revision;
  readonly position: Position;
  readonly at: Instant;
  readonly event: Event;
  /** Left out: no administrator ordered it, or an earlier release wrote it. */
  readonly ordered?: OrderOrigin;
  /** Characters of its payload as it is stored: what it weighs in memory. Left out where nothing is stored. */
  readonly size?: number;
}

/** What events weigh together. */
export function sizeOf(events: readonly Recorded[]): number {
  let size = 0;
  for (const event of events) size += event.size ?? 0;
  return size;
}

/** An event about to be appended. The id, a lower-case UUID, makes a repeated append a no-op. */
export interface NewEvent<Event extends DomainEvent = DomainEvent> {
  readonly id: string;
  readonly at: Instant;
  readonly event: Event;
  readonly ordered?: OrderOrigin;
}
