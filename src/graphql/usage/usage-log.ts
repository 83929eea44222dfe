import {
  Authorized,
  Ctx,
  createUnionType,
  Field,
  FieldResolver,
  ID,
  Int,
  ObjectType,
  Resolver,
  Root,
  registerEnumType,
} from 'type-graphql';
import type { CallOutcome, ReleaseReason, UsageSource } from '../../domain/call/call.js';
import { cacheWriteTokens } from '../../domain/call/usage.js';
import type { Billing } from '../../domain/pricing/billing.js';
import type { Price } from '../../domain/pricing/pricing.js';
import type { GiftReason, LogDetail, ReturnCause } from '../../projections/models/usage-log/log-detail.js';
import type { LogType, logTypes } from '../../projections/models/usage-log/usage-log.js';
import type { UsageLogEntry } from '../../projections/models/usage-log/usage-log-queries.js';
import type { GraphqlContext } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { DecimalScalar, QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { BillingObject } from './billing.js';
import { FailedAttemptObject } from './failed-attempt.js';
import { PriceUnion } from './price.js';
import { RefusalDetail } from './refusal-detail.js';

type LogTypeNames = typeof logTypes;

export const LogTypeEnum: { readonly [Name in keyof LogTypeNames as Uppercase<Name>]: LogTypeNames[Name] } = {
  RECHARGE: 1,
  CONSUME: 2,
  MANAGE: 3,
  SYSTEM: 4,
  ERROR: 5,
};
registerEnumType(LogTypeEnum, { name: 'LogType', description: 'What a line of the usage log is about.' });

export const UsageSourceEnum = enumeration<UsageSource>('UsageSource', 'Where the token counts of a call come from.', {
  UPSTREAM: 'upstream',
  ESTIMATED: 'estimated',
  DISBELIEVED: 'disbelieved',
  NONE: 'none',
});

export const CallOutcomeEnum = enumeration<CallOutcome>(
  'CallOutcome',
  'How an answer ended, as far as the caller could see.',
  {
    COMPLETED: 'completed',
    CALLER_LEFT: 'caller-left',
    CALLER_STALLED: 'caller-stalled',
    UPSTREAM_BROKE: 'upstream-broke',
    QUOTA_RAN_OUT: 'quota-ran-out',
    GATEWAY_FAILED: 'gateway-failed',
  },
);

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

type DetailOf<Kind extends LogDetail['kind']> = Extract<LogDetail, { kind: Kind }>;

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

  @Authorized('admin')
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

  @Authorized('admin')
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
  'channel-tested': ChannelTestDetail,
  released: ReleaseDetail,
  refused: RefusalDetail,
} as const satisfies Record<LogDetail['kind'], unknown>;

const LogDetailUnion = createUnionType({
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
      ChannelTestDetail,
      ReleaseDetail,
      RefusalDetail,
    ] as const,
  resolveType: ({ kind }: LogDetail) => detailTypes[kind],
});

/** Ids that may be missing are given by resolvers below: the row keeps 0 for none. */
@ObjectType('UsageLogLine', { description: 'What happened to a wallet. Whose lines are seen is decided by who asks.' })
export class UsageLogLine
  implements Omit<UsageLogEntry, 'user_id' | 'username' | 'api_key_id' | 'channel_id' | 'channel_name'>
{
  @Field(() => ID, { description: 'Grows with time; also the cursor.' })
  readonly id!: UsageLogEntry['id'];

  @Field(() => TimestampScalar, { name: 'createdAt' })
  readonly created_at!: number;

  @Field(() => LogTypeEnum)
  readonly type!: LogType;

  @Field(() => String, { name: 'requestId', nullable: true, description: 'null: the line is not about a call.' })
  readonly request_id!: string | null;

  @Field(() => QuotaScalar, { description: 'Charged. A channel test shows what it would have cost.' })
  readonly quota!: UsageLogEntry['quota'];

  @Field(() => QuotaScalar, {
    description: 'What the call cost beyond what there was to charge; booked to suspense, owed by nobody.',
  })
  readonly uncovered!: UsageLogEntry['uncovered'];

  @Field(() => SafeIntScalar, { name: 'promptTokens' })
  readonly prompt_tokens!: number;

  @Field(() => SafeIntScalar, { name: 'completionTokens' })
  readonly completion_tokens!: number;

  @Field(() => SafeIntScalar, { name: 'cachedTokens', description: 'Part of the prompt tokens.' })
  readonly cached_tokens!: number;

  @Field(() => SafeIntScalar, { name: 'reasoningTokens', description: 'Part of the completion tokens.' })
  readonly reasoning_tokens!: number;

  /** Given by its names, and line by line. */
  readonly usage!: UsageLogEntry['usage'];

  @Field(() => String, { description: 'As asked and billed for; empty: none.' })
  readonly model!: string;

  @Field(() => String, { name: 'upstreamModel', nullable: true, description: 'The name sent upstream, when another.' })
  readonly upstream_model!: string | null;

  @Field(() => String, { name: 'apiKeyName' })
  readonly api_key_name!: string;

  @Field(() => String)
  readonly group!: string;

  @Field(() => SafeIntScalar, { name: 'useTimeMs' })
  readonly use_time_ms!: number;

  @Field(() => SafeIntScalar, { name: 'firstTokenMs', nullable: true })
  readonly first_token_ms!: number | null;

  @Field(() => Boolean, { name: 'isStream' })
  readonly is_stream!: boolean;

  @Field(() => String, { nullable: true, description: 'The endpoint called.' })
  readonly path!: string | null;

  @Field(() => String, { name: 'reasoningEffort', nullable: true })
  readonly reasoning_effort!: string | null;

  @Field(() => PriceUnion, { nullable: true, description: 'Every factor of the charge.' })
  readonly price!: Price | null;

  @Field(() => UsageSourceEnum, { name: 'usageSource', nullable: true })
  readonly usage_source!: UsageSource | null;

  @Field(() => CallOutcomeEnum, { nullable: true })
  readonly outcome!: CallOutcome | null;

  @Field(() => LogDetailUnion, { nullable: true, description: 'What only this kind of line has to say.' })
  readonly detail!: LogDetail | null;

  @Authorized('admin')
  @Field(() => [ID], { nullable: true, description: 'Channels in the order tried; for administrators.' })
  readonly attempts!: UsageLogEntry['attempts'];

  @Authorized('admin')
  @Field(() => [FailedAttemptObject], {
    name: 'failedAttempts',
    nullable: true,
    description: 'Those of the attempts that failed, and how; for administrators.',
  })
  readonly failed_attempts!: UsageLogEntry['failed_attempts'];
}

@Resolver(() => UsageLogLine)
export class UsageLogLineResolver {
  @FieldResolver(() => SafeIntScalar, { description: 'Part of the prompt tokens.' })
  cacheWriteTokens(@Root() { usage }: UsageLogEntry): number {
    return cacheWriteTokens(usage);
  }

  @FieldResolver(() => SafeIntScalar, { description: 'Part of the prompt tokens.' })
  imageTokens(@Root() { usage }: UsageLogEntry): number {
    return usage.imageInput ?? 0;
  }

  @FieldResolver(() => BillingObject, {
    nullable: true,
    description: 'How the charge came about; null: the line is not about a charge.',
  })
  billing(@Root() line: UsageLogEntry, @Ctx() { application }: GraphqlContext): Billing | null {
    return application.queries.billingOfLine(line);
  }

  @FieldResolver(() => ID, { nullable: true, description: 'null: no API key paid.' })
  apiKeyId(@Root() { api_key_id }: UsageLogEntry): number | null {
    return api_key_id === 0 ? null : api_key_id;
  }

  @Authorized('admin')
  @FieldResolver(() => ID, { nullable: true, description: 'null: nobody who is known. For administrators.' })
  userId(@Root() { user_id }: UsageLogEntry): number | null {
    return user_id === 0 ? null : user_id;
  }

  @Authorized('admin')
  @FieldResolver(() => String, { nullable: true, description: 'As the user is called now; for administrators.' })
  username(@Root() { username }: UsageLogEntry): string {
    return username;
  }

  @Authorized('admin')
  @FieldResolver(() => ID, {
    nullable: true,
    description: 'The channel that answered, or was tried last; null: none. For administrators.',
  })
  channelId(@Root() { channel_id }: UsageLogEntry): number | null {
    return channel_id === 0 ? null : channel_id;
  }

  @Authorized('admin')
  @FieldResolver(() => String, { nullable: true, description: 'Empty: the channel is gone. For administrators.' })
  channelName(@Root() { channel_name }: UsageLogEntry): string {
    return channel_name;
  }
}
