import { Authorized, createUnionType, Field, ID, Int, ObjectType } from 'type-graphql';
import type { ToldDetail } from '../../application/usage/log-alias.js';
import type { ReleaseReason } from '../../domain/call/call.js';
import type { CorrectionPart } from '../../domain/call/call-correction.js';
import type { GiftReason, LogDetail, ReturnCause } from '../../projections/models/usage-log/log-detail.js';
import { enumeration } from '../server/enumeration.js';
import { DecimalScalar, QuotaScalar } from '../server/scalars.js';
import { TaskFailureEnum, TaskPlatformEnum } from '../tasks/task.js';
import { RefusalDetail } from './refusal-detail.js';

/* What only one kind of line of the usage log has to say. */

const GrantReasonEnum = enumeration<GiftReason>('GrantReason', 'Why quota was given without being paid for.', {
  SETUP: 'setup',
  SIGNUP: 'signup',
  INVITEE: 'invitee',
  INVITER: 'inviter',
});

const ReturnCauseEnum = enumeration<ReturnCause>('ReturnCause', 'Why bought quota was taken, or given again.', {
  REFUND: 'refund',
  DISPUTE: 'dispute',
  DISPUTE_WON: 'dispute-won',
});

export const ReleaseReasonEnum = enumeration<ReleaseReason>('ReleaseReason', 'Why a call was not served.', {
  UPSTREAM_FAILED: 'upstream-failed',
  NO_CHANNEL: 'no-channel',
  CALLER_LEFT: 'caller-left',
  NOT_BOOKED: 'not-booked',
  INTERNAL: 'internal',
  RECOVERED: 'recovered',
});

export const CorrectionPartEnum = enumeration<CorrectionPart>(
  'CorrectionPart',
  'Whether a repair corrected, or was undone.',
  {
    POST: 'post',
    UNDO: 'undo',
  },
);

type DetailOf<Kind extends ToldDetail['kind']> = Extract<LogDetail, { kind: Kind }>;

@ObjectType({ description: 'Quota was given.' })
class GrantDetail implements DetailOf<'granted'> {
  readonly kind!: 'granted';

  @Field(() => QuotaScalar)
  readonly quota!: DetailOf<'granted'>['quota'];

  @Field(() => GrantReasonEnum)
  readonly reason!: GiftReason;
}

@ObjectType({ description: 'An administrator changed the balance.' })
class AdjustmentDetail implements DetailOf<'adjusted'> {
  readonly kind!: 'adjusted';

  @Field(() => QuotaScalar, { description: 'The whole change, gift included.' })
  readonly delta!: DetailOf<'adjusted'>['delta'];

  @Field(() => QuotaScalar)
  readonly gift!: DetailOf<'adjusted'>['gift'];

  @Field(() => QuotaScalar, { description: 'The balance before.' })
  readonly observed!: DetailOf<'adjusted'>['observed'];

  @Authorized('admin-reading')
  @Field(() => ID, { nullable: true, description: 'Who did it; for administrators.' })
  readonly by!: DetailOf<'adjusted'>['by'];
}

@ObjectType({ description: 'An administrator disabled an API key.' })
class ApiKeyRevokedDetail implements DetailOf<'api-key-revoked'> {
  readonly kind!: 'api-key-revoked';

  @Field(() => ID, { name: 'apiKeyId' })
  readonly apiKey!: DetailOf<'api-key-revoked'>['apiKey'];

  @Field(() => String, { description: 'Its name then.' })
  readonly name!: string;

  @Authorized('admin-reading')
  @Field(() => ID, { nullable: true, description: 'Who did it; for administrators.' })
  readonly by!: DetailOf<'api-key-revoked'>['by'];
}

@ObjectType({ description: 'An administrator made a redemption code, or changed its worth.' })
class CodeIssuedDetail implements DetailOf<'code-issued'> {
  readonly kind!: 'code-issued';

  @Field(() => ID, { name: 'redemptionId' })
  readonly redemption!: DetailOf<'code-issued'>['redemption'];

  @Field(() => QuotaScalar)
  readonly quota!: DetailOf<'code-issued'>['quota'];

  @Field(() => Boolean, { description: 'It was there before.' })
  readonly edited!: boolean;
}

@ObjectType({ description: 'Quota was bought.' })
class TopUpDetail implements DetailOf<'topped-up'> {
  readonly kind!: 'topped-up';

  @Field(() => QuotaScalar)
  readonly quota!: DetailOf<'topped-up'>['quota'];

  @Field(() => DecimalScalar, { description: 'What was paid.' })
  readonly money!: string;

  @Field(() => String, { description: 'ISO 4217.' })
  readonly currency!: string;
}

@ObjectType({ description: 'Money that quota was bought for went back, or came again.' })
class TopUpReturnDetail implements DetailOf<'top-up-returned'> {
  readonly kind!: 'top-up-returned';

  @Field(() => ReturnCauseEnum)
  readonly cause!: ReturnCause;

  @Field(() => QuotaScalar, { description: 'Negative: taken from the balance.' })
  readonly quota!: DetailOf<'top-up-returned'>['quota'];

  @Field(() => DecimalScalar)
  readonly money!: string;

  @Field(() => String, { description: 'ISO 4217.' })
  readonly currency!: string;
}

@ObjectType({ description: 'A code was redeemed.' })
class RedemptionDetail implements DetailOf<'redeemed'> {
  readonly kind!: 'redeemed';

  @Field(() => QuotaScalar)
  readonly quota!: DetailOf<'redeemed'>['quota'];

  @Field(() => ID, { name: 'redemptionId' })
  readonly redemption!: DetailOf<'redeemed'>['redemption'];
}

@ObjectType({ description: 'A task has failed, and its charge came back.' })
class TaskRefundDetail implements DetailOf<'task-refunded'> {
  readonly kind!: 'task-refunded';

  @Field(() => QuotaScalar)
  readonly quota!: DetailOf<'task-refunded'>['quota'];

  @Field(() => TaskPlatformEnum)
  readonly platform!: DetailOf<'task-refunded'>['platform'];

  @Field(() => String)
  readonly action!: string;

  @Field(() => String, { description: 'By which its caller names it.' })
  readonly publicId!: string;

  @Field(() => TaskFailureEnum)
  readonly reason!: DetailOf<'task-refunded'>['reason'];
}

@ObjectType({ description: 'A call was charged by a wrong price, and its charge was corrected.' })
class CorrectionDetail implements DetailOf<'corrected'> {
  readonly kind!: 'corrected';

  @Field(() => ID, { name: 'repairId' })
  readonly repair!: DetailOf<'corrected'>['repair'];

  @Field(() => CorrectionPartEnum)
  readonly part!: CorrectionPart;

  @Field(() => QuotaScalar, {
    description: 'What came back; negative: what is charged beside what was charged before.',
  })
  readonly quota!: DetailOf<'corrected'>['quota'];

  @Field(() => QuotaScalar, { description: 'What the call is charged since then.' })
  readonly charged!: DetailOf<'corrected'>['charged'];
}

@ObjectType({ description: 'A channel was tested; nobody paid.' })
class ChannelTestDetail implements DetailOf<'channel-tested'> {
  readonly kind!: 'channel-tested';

  @Field(() => DecimalScalar)
  readonly modelRatio!: string;

  @Field(() => DecimalScalar)
  readonly completionRatio!: string;

  @Field(() => DecimalScalar, { nullable: true })
  readonly modelPrice!: string | null;
}

@ObjectType({ description: 'A call was reserved and could not be served; nothing was charged.' })
class ReleaseDetail implements DetailOf<'released'> {
  readonly kind!: 'released';

  @Field(() => ReleaseReasonEnum)
  readonly reason!: ReleaseReason;

  @Field(() => Int, { nullable: true, description: 'The status the caller got.' })
  readonly status!: number | null;

  @Field(() => String, { nullable: true, description: 'The code the caller got.' })
  readonly code!: string | null;
}

const detailTypes = {
  granted: GrantDetail,
  adjusted: AdjustmentDetail,
  'api-key-revoked': ApiKeyRevokedDetail,
  'code-issued': CodeIssuedDetail,
  'topped-up': TopUpDetail,
  'top-up-returned': TopUpReturnDetail,
  redeemed: RedemptionDetail,
  'task-refunded': TaskRefundDetail,
  corrected: CorrectionDetail,
  'channel-tested': ChannelTestDetail,
  released: ReleaseDetail,
  refused: RefusalDetail,
} as const satisfies Record<ToldDetail['kind'], unknown>;

export const LogDetailUnion = createUnionType({
  name: 'LogDetail',
  types: () =>
    [
      GrantDetail,
      AdjustmentDetail,
      ApiKeyRevokedDetail,
      CodeIssuedDetail,
      TopUpDetail,
      TopUpReturnDetail,
      RedemptionDetail,
      TaskRefundDetail,
      CorrectionDetail,
      ChannelTestDetail,
      ReleaseDetail,
      RefusalDetail,
    ] as const,
  resolveType: ({ kind }: ToldDetail) => detailTypes[kind],
});
