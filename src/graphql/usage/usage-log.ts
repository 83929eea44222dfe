import { Authorized, Ctx, Field, FieldResolver, ID, ObjectType, Resolver, Root, registerEnumType } from 'type-graphql';
import type { LineCost } from '../../application/usage/cost-of-line.js';
import { aliasIn, type ToldDetail, toldDetail } from '../../application/usage/log-alias.js';
import type { CallOutcome, UsageSource } from '../../domain/call/call.js';
import { cacheWriteTokens } from '../../domain/call/usage.js';
import type { Billing } from '../../domain/pricing/billing.js';
import type { Price } from '../../domain/pricing/pricing.js';
import type { LogDetail } from '../../projections/models/usage-log/log-detail.js';
import type { LogType, logTypes } from '../../projections/models/usage-log/usage-log.js';
import type { UsageLogEntry } from '../../projections/models/usage-log/usage-log-queries.js';
import type { GraphqlContext } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { DecimalScalar, QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { BillingObject } from './billing.js';
import { FailedAttemptObject } from './failed-attempt.js';
import { LogDetailUnion } from './log-details.js';
import { PriceUnion } from './price.js';

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

  /** Given without its alias, which is a field of its own. */
  readonly detail!: LogDetail | null;

  @Authorized('admin-reading')
  @Field(() => String, {
    name: 'upstreamCost',
    nullable: true,
    description:
      'What upstream says that it charges for the call, in US dollars, exactly; null: it does not say. For administrators.',
  })
  readonly upstream_cost!: string | null;

  @Authorized('admin-reading')
  @Field(() => [ID], { nullable: true, description: 'Channels in the order tried; for administrators.' })
  readonly attempts!: UsageLogEntry['attempts'];

  @Authorized('admin-reading')
  @Field(() => [FailedAttemptObject], {
    name: 'failedAttempts',
    nullable: true,
    description: 'Those of the attempts that failed, and how; for administrators.',
  })
  readonly failed_attempts!: UsageLogEntry['failed_attempts'];
}

@ObjectType('LineCost', { description: 'What a call has cost the operator.' })
class LineCostObject implements LineCost {
  @Field(() => DecimalScalar, {
    description: 'US dollars, exactly: as upstream has said, else by the purchase price that its channel had.',
  })
  readonly cost!: string;

  @Field(() => DecimalScalar, { description: "What was charged less the cost, by what a dollar's quota is now." })
  readonly margin!: string;
}

@Resolver(() => UsageLogLine)
export class UsageLogLineResolver {
  @FieldResolver(() => LogDetailUnion, { nullable: true, description: 'What only this kind of line has to say.' })
  detail(@Root() { detail }: UsageLogEntry): ToldDetail | null {
    return toldDetail(detail);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'The name that the caller asked by, an alias of the key; null: the model itself.',
  })
  alias(@Root() { detail }: UsageLogEntry): string | null {
    return aliasIn(detail);
  }

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

  @Authorized('admin-reading')
  @FieldResolver(() => LineCostObject, {
    nullable: true,
    description: 'null: the line is of no answer, or nobody knows what it cost. For administrators.',
  })
  cost(@Root() line: UsageLogEntry, @Ctx() { application }: GraphqlContext): Promise<LineCost | null> {
    return application.queries.costOfLine(line);
  }

  @FieldResolver(() => ID, { nullable: true, description: 'null: no API key paid.' })
  apiKeyId(@Root() { api_key_id }: UsageLogEntry): number | null {
    return api_key_id === 0 ? null : api_key_id;
  }

  @Authorized('admin-reading')
  @FieldResolver(() => ID, { nullable: true, description: 'null: nobody who is known. For administrators.' })
  userId(@Root() { user_id }: UsageLogEntry): number | null {
    return user_id === 0 ? null : user_id;
  }

  @Authorized('admin-reading')
  @FieldResolver(() => String, { nullable: true, description: 'As the user is called now; for administrators.' })
  username(@Root() { username }: UsageLogEntry): string {
    return username;
  }

  @Authorized('admin-reading')
  @FieldResolver(() => ID, {
    nullable: true,
    description: 'The channel that answered, or was tried last; null: none. For administrators.',
  })
  channelId(@Root() { channel_id }: UsageLogEntry): number | null {
    return channel_id === 0 ? null : channel_id;
  }

  @Authorized('admin-reading')
  @FieldResolver(() => String, { nullable: true, description: 'Empty: the channel is gone. For administrators.' })
  channelName(@Root() { channel_name }: UsageLogEntry): string {
    return channel_name;
  }
}
