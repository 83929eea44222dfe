import { Max, MaxLength, Min } from 'class-validator';
import {
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  Float,
  ID,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { HistoryInterval } from '../../application/usage/history-pieces.js';
import type { NamedHistory, NamedShare } from '../../application/usage/usage-history.js';
import type {
  HistoryOrder,
  Percentiles,
  UsageFigures,
  UsagePiece,
  UsageSums,
} from '../../projections/models/usage-stats/usage-history.js';
import type { UsageDimension } from '../../projections/models/usage-stats/usage-stats-queries.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { marginResolverFor, type WithoutMargin } from './margin.js';
import { statisticsFilterOf, UsageDimensionEnum, UsageScopeArgs } from './statistics.js';

export const HistoryIntervalEnum = enumeration<HistoryInterval>(
  'HistoryInterval',
  'How a history is cut into pieces of time.',
  {
    MINUTE: 'minute',
    FIVE_MINUTES: 'five-minutes',
    HOUR: 'hour',
    DAY: 'day',
    WEEK: 'week',
  },
);

const OrderEnum = enumeration<HistoryOrder>('HistoryOrder', 'What there is to be most of.', {
  QUOTA: 'quota',
  REQUESTS: 'requests',
  ERRORS: 'errors',
  TOKENS: 'tokens',
});

@ArgsType()
class UsageHistoryArgs extends UsageScopeArgs {
  @Field(() => TimestampScalar, { description: 'Rounded down to where a piece of time begins.' })
  readonly from!: number;

  @Field(() => TimestampScalar, { description: 'Exclusive; rounded up.' })
  readonly to!: number;

  @Field(() => HistoryIntervalEnum, {
    description: 'Minutes are told of the last 13 hours, six at once; hours of 32 days, days of 400, weeks of 2,000.',
  })
  readonly interval!: HistoryInterval;

  @Field(() => String, {
    defaultValue: 'UTC',
    description:
      'The IANA zone in which days and weeks begin. Where it is off the full hour, hours count by their start.',
  })
  @MaxLength(64)
  readonly zone!: string;

  @Field(() => UsageDimensionEnum, { nullable: true, description: 'USER and CHANNEL are for administrators.' })
  readonly by?: UsageDimension | null;

  @Field(() => Int, { defaultValue: 8, description: 'How many are told by name: 1 to 20.' })
  @Min(1)
  @Max(20)
  readonly top!: number;

  @Field(() => OrderEnum, { defaultValue: 'quota' })
  readonly order!: HistoryOrder;
}

@ObjectType('Percentiles', { description: 'Milliseconds, exact to 5 %; null: there were none.' })
class PercentilesObject implements Percentiles {
  @Field(() => Int, { nullable: true })
  readonly p50!: number | null;

  @Field(() => Int, { nullable: true })
  readonly p95!: number | null;

  @Field(() => Int, { nullable: true })
  readonly p99!: number | null;
}

@ObjectType('UsageSums')
class UsageSumsObject implements WithoutMargin<UsageSums> {
  @Field(() => SafeIntScalar, { description: 'Settled calls.' })
  readonly requests!: number;

  @Field(() => SafeIntScalar, { description: 'Calls that were reserved and could not be served.' })
  readonly errors!: number;

  @Field(() => QuotaScalar)
  readonly quota!: number;

  @Field(() => SafeIntScalar, { name: 'promptTokens' })
  readonly prompt_tokens!: number;

  @Field(() => SafeIntScalar, { name: 'completionTokens' })
  readonly completion_tokens!: number;

  @Field(() => SafeIntScalar, { name: 'cachedTokens' })
  readonly cached_tokens!: number;

  @Field(() => SafeIntScalar, { name: 'reasoningTokens' })
  readonly reasoning_tokens!: number;

  @Field(() => SafeIntScalar, { name: 'useTimeMs', description: 'Summed over settled calls.' })
  readonly use_time_ms!: number;
}

@ObjectType('UsageFigures')
class UsageFiguresObject extends UsageSumsObject implements WithoutMargin<UsageFigures> {
  @Field(() => PercentilesObject, { description: 'How long settled calls took.' })
  readonly latency!: Percentiles;

  @Field(() => PercentilesObject, { description: 'How long the streamed ones of them took to begin.' })
  readonly firstToken!: Percentiles;
}

@ObjectType('UsagePiece')
class UsagePieceObject extends UsageFiguresObject implements WithoutMargin<UsagePiece> {
  @Field(() => TimestampScalar)
  readonly start!: number;
}

@ObjectType()
class UsageShare implements Omit<NamedShare, 'about'> {
  @Field(() => String, { nullable: true, description: 'As it is called now; null: it is gone, or nobody\u2019s.' })
  readonly name!: string | null;

  @Field(() => UsageFiguresObject)
  readonly total!: UsageFigures;

  @Field(() => [UsageSumsObject], { description: 'One for each piece of time.' })
  readonly pieces!: readonly UsageSums[];
}

@ObjectType('UsageHistory', { description: 'Calls of a range of time.' })
class UsageHistoryObject implements Omit<NamedHistory, 'minutes'> {
  @Field(() => TimestampScalar, { description: 'Where the first piece of time begins.' })
  readonly from!: number;

  @Field(() => TimestampScalar, { description: 'Where the last one ends.' })
  readonly to!: number;

  @Field(() => UsageFiguresObject)
  readonly total!: UsageFigures;

  @Field(() => [UsagePieceObject], { description: 'Without gaps, oldest first.' })
  readonly pieces!: readonly UsagePiece[];

  @Field(() => [UsageShare], {
    description: 'Those there is most of; last, where there are more, all others. Empty without `by`.',
  })
  readonly shares!: readonly NamedShare[];
}

@Resolver(() => UsageHistoryObject)
class UsageHistoryResolver {
  @Authorized()
  @Query(() => UsageHistoryObject, { complexity: 100 })
  usageHistory(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => UsageHistoryArgs) { from, to, interval, zone, by, top, order, ...scope }: UsageHistoryArgs,
  ): Promise<NamedHistory> {
    const range = { from, to, interval, zone };
    const filter = statisticsFilterOf(scope);
    return application.queries.history(viewer, { range, filter, by: by ?? null, top, order }, !scope.everyone);
  }

  @FieldResolver(() => Float, { description: 'Settled calls; of the part of the range that has passed.' })
  requestsPerMinute(@Root() { total, minutes }: NamedHistory): number {
    return minutes === 0 ? 0 : total.requests / minutes;
  }

  @FieldResolver(() => Float)
  tokensPerMinute(@Root() { total, minutes }: NamedHistory): number {
    return minutes === 0 ? 0 : (total.prompt_tokens + total.completion_tokens) / minutes;
  }
}

@Resolver(() => UsageShare)
class UsageShareResolver {
  @FieldResolver(() => ID, {
    nullable: true,
    description: 'Of the user, API key or channel, where 0 is none; the model or group. null: all others.',
  })
  key(@Root() { about }: NamedShare): string | number | null {
    return about;
  }
}

export const usageHistoryResolvers = [
  UsageHistoryResolver,
  UsageShareResolver,
  ...[UsageSumsObject, UsageFiguresObject, UsagePieceObject].map(marginResolverFor),
] as const;
