import type { CallRefunded, ReleaseReason, SettledTask } from '../../../domain/call/call.js';
import type { CorrectionPart } from '../../../domain/call/call-correction.js';
import type { ChannelTestUsage } from '../../../domain/channel/channel.js';
import type { ApiKeyId, RedemptionId, RepairId, UserId } from '../../../domain/kernel/ids.js';
import { unixSeconds } from '../../../domain/kernel/instant.js';
import { minus, type Quota, zero } from '../../../domain/kernel/quota.js';
import type { Refusal, RefusalEvent } from '../../../domain/kernel/refusal.js';
import type { TopUpCompleted } from '../../../domain/payment/payment.js';
import type { MoneyReturned, ReturnEvent } from '../../../domain/payment/payment-return.js';
import type { GrantReason } from '../../../domain/user/user.js';

/** A reward for inviting is logged as what is granted, though it is not in the balance yet. */
export type GiftReason = GrantReason | 'inviter';

export type ReturnCause = MoneyReturned['by'];

type NamedTask = Pick<SettledTask, 'platform' | 'action' | 'publicId'>;
type FailedTask = NonNullable<CallRefunded['task']>;

/** What only one kind of line has to say; null for most settled calls, whose facts have columns. */
export type LogDetail =
  | { readonly kind: 'granted'; readonly quota: Quota; readonly reason: GiftReason }
  | {
      readonly kind: 'adjusted';
      readonly delta: Quota;
      readonly gift: Quota;
      readonly by: UserId;
      readonly observed: Quota;
    }
  | { readonly kind: 'api-key-revoked'; readonly apiKey: ApiKeyId; readonly name: string; readonly by: UserId }
  | ({ readonly kind: 'topped-up' } & Pick<TopUpCompleted, 'quota' | 'money' | 'currency'>)
  /** `quota`: of the balance, negative where it was taken. */
  | ({ readonly kind: 'top-up-returned'; readonly cause: ReturnCause } & Pick<
      ReturnEvent,
      'quota' | 'money' | 'currency'
    >)
  /** `edited`: it was there before, and is worth this from now on. */
  | {
      readonly kind: 'code-issued';
      readonly redemption: RedemptionId;
      readonly quota: Quota;
      readonly edited: boolean;
    }
  | { readonly kind: 'redeemed'; readonly quota: Quota; readonly redemption: RedemptionId }
  | ({ readonly kind: 'channel-tested' } & Pick<ChannelTestUsage, 'modelRatio' | 'completionRatio' | 'modelPrice'>)
  /** A settled call that has submitted a task. */
  | ({ readonly kind: 'task-submitted'; readonly alias?: string } & NamedTask)
  /** `quota`: the charge that came back. */
  | ({ readonly kind: 'task-refunded'; readonly quota: Quota } & NamedTask & Pick<FailedTask, 'reason'>)
  /** A price was wrong. `quota`: what came back of the charge, negative where it is more; `charged`: what it is now. */
  | {
      readonly kind: 'corrected';
      readonly repair: RepairId;
      readonly part: CorrectionPart;
      readonly quota: Quota;
      readonly charged: Quota;
    }
  /** A settled call whose caller asked by an alias of its key. */
  | { readonly kind: 'aliased'; readonly alias: string }
  | {
      readonly kind: 'released';
      readonly reason: ReleaseReason;
      readonly status: number | null;
      readonly code: string | null;
      /** Left out: it was asked for by the model's name. */
      readonly alias?: string;
    }
  /** `count`: how many calls the line is about; `since`, unix seconds: where it sums up, from when. */
  | ({ readonly kind: 'refused'; readonly count: number; readonly since: number | null } & Pick<
      Refusal,
      'status' | 'code' | 'network'
    >);

const returnCauses: Readonly<Record<ReturnEvent['type'], ReturnCause>> = {
  TopUpRefunded: 'refund',
  TopUpDisputed: 'dispute',
  TopUpDisputeWon: 'dispute-won',
};

export const returnedDetail = ({ type, quota, money, currency }: ReturnEvent): LogDetail => ({
  kind: 'top-up-returned',
  cause: returnCauses[type],
  quota: type === 'TopUpDisputeWon' ? quota : minus(zero, quota),
  money,
  currency,
});

export function refusedDetail(event: RefusalEvent): LogDetail {
  const { status, code, network } = event.refusal;
  const [count, since] = event.type === 'CallRefused' ? [1, null] : [event.count, unixSeconds(event.since)];
  return { kind: 'refused', status, code, count, since, network };
}
