import { ArrayUnique, Max, Min } from 'class-validator';
import {
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
  registerEnumType,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import { invalidField } from '../../domain/kernel/failure.js';
import { ApiKeyId, ChannelId } from '../../domain/kernel/ids.js';
import type {
  UsageDimension,
  UsageStatsGroup,
  UsageStatsQuery,
} from '../../projections/models/usage-stats/usage-stats-queries.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { marginResolverFor, type WithoutMargin } from './margin.js';

export const UsageDimensionEnum = {
  USER: 'user_id',
  API_KEY: 'api_key_id',
  MODEL: 'model',
  CHANNEL: 'channel_id',
  GROUP: 'group',
} as const satisfies Record<string, UsageDimension>;
registerEnumType(UsageDimensionEnum, { name: 'UsageDimension', description: 'What a row of statistics is about.' });

type Interval = NonNullable<UsageStatsQuery['interval']>;

const IntervalEnum = enumeration<Interval>('Interval', 'How statistics are cut into pieces of time.', {
  HOUR: 'hour',
  DAY: 'day',
});

/** Rows an answer may have; a chart shows far fewer. */
const maxRows = 10_000;
const day = 24 * 60 * 60;
/** The longest range of each interval, in seconds; without one, everything there is. */
const maxRange: Record<Interval, number> = { hour: 32 * day, day: 400 * day };

/** Whose calls are looked at, and which. */
@ArgsType()
export class UsageScopeArgs {
  @Field(() => Boolean, {
    defaultValue: false,
    description: "Everybody's calls, not only one's own; for administrators.",
  })
  readonly everyone!: boolean;

  @Field(() => String, { nullable: true, description: 'Only with `everyone`.' })
  readonly username?: string | null;

  @Field(() => ID, { nullable: true })
  readonly apiKeyId?: string | null;

  @Field(() => String, { nullable: true })
  readonly model?: string | null;

  @Field(() => ID, { nullable: true, description: 'For administrators.' })
  readonly channelId?: string | null;

  @Field(() => String, { nullable: true })
  readonly group?: string | null;
}

/** Of which calls the statistics are asked for. */
export const statisticsFilterOf = ({ username, apiKeyId, model, channelId, group }: UsageScopeArgs) => ({
  username: username ?? undefined,
  apiKeyId: apiKeyId ? ApiKeyId(apiKeyId) : undefined,
  model: model ?? undefined,
  channelId: channelId ? ChannelId(channelId) : undefined,
  group: group ?? undefined,
});

@ArgsType()
class UsageStatisticsArgs extends UsageScopeArgs {
  @Field(() => TimestampScalar, { description: 'Inclusive; hours count by their start.' })
  readonly from!: number;

  @Field(() => TimestampScalar, { description: 'Inclusive.' })
  readonly to!: number;

  @Field(() => [UsageDimensionEnum], { defaultValue: [], description: 'USER and CHANNEL are for administrators.' })
  @ArrayUnique()
  readonly by!: UsageDimension[];

  @Field(() => IntervalEnum, { nullable: true, description: 'Missing: the whole range in one.' })
  readonly interval?: Interval | null;

  @Field(() => Int, { defaultValue: 0, description: 'Where days begin: minutes east of UTC.' })
  @Min(-840)
  @Max(840)
  readonly offsetMinutes!: number;
}

@ObjectType({ description: 'Calls counted. What was not asked for with `by` is null.' })
class UsageStatistics implements WithoutMargin<Omit<UsageStatsGroup, 'user_id' | 'api_key_id' | 'channel_id'>> {
  @Field(() => TimestampScalar, { nullable: true, description: 'Of the interval.' })
  readonly start!: number | null;

  @Field(() => String, { nullable: true })
  readonly model!: string | null;

  @Field(() => String, { nullable: true })
  readonly group!: string | null;

  @Field(() => SafeIntScalar, { description: 'Settled calls.' })
  readonly requests!: number;

  @Field(() => SafeIntScalar, { description: 'Calls that were reserved and could not be served.' })
  readonly errors!: number;

  @Field(() => QuotaScalar)
  readonly quota!: UsageStatsGroup['quota'];

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

@Resolver(() => UsageStatistics)
class StatisticsResolver {
  @Authorized()
  @Query(() => [UsageStatistics], { complexity: 100, description: 'Oldest interval first, then the dearest.' })
  async usageStatistics(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => UsageStatisticsArgs) { from, to, by, interval, offsetMinutes, ...scope }: UsageStatisticsArgs,
  ): Promise<readonly UsageStatsGroup[]> {
    if (interval && to - from > maxRange[interval])
      throw invalidField('to', `at most ${maxRange[interval] / day} days after "from"`);
    const filter = { from, to, ...statisticsFilterOf(scope) };
    const query = { by, interval: interval ?? null, offsetMinutes };
    const rows = await application.queries.statistics(viewer, filter, query, !scope.everyone);
    if (rows.length > maxRows) throw invalidField('by', `fewer dimensions or a shorter range: at most ${maxRows} rows`);
    return rows;
  }

  @FieldResolver(() => ID, { nullable: true })
  userId(@Root() { user_id }: UsageStatsGroup): number | null {
    return user_id;
  }

  @Authorized('admin-reading')
  @FieldResolver(() => String, { nullable: true, description: 'As the user is called now; for administrators.' })
  async username(@Root() { user_id }: UsageStatsGroup, @Ctx() { userById }: GraphqlContext): Promise<string | null> {
    return user_id === null ? null : ((await userById(user_id))?.username ?? null);
  }

  @FieldResolver(() => ID, { nullable: true, description: 'Null also where no API key paid.' })
  apiKeyId(@Root() { api_key_id }: UsageStatsGroup): number | null {
    return api_key_id || null;
  }

  @FieldResolver(() => ID, { nullable: true, description: 'The channel that answered, or was tried last.' })
  channelId(@Root() { channel_id }: UsageStatsGroup): number | null {
    return channel_id || null;
  }

  @Authorized('admin-reading')
  @FieldResolver(() => String, { nullable: true, description: 'Null: the channel is gone. For administrators.' })
  channelName(@Root() { channel_id }: UsageStatsGroup, @Ctx() { application }: GraphqlContext): string | null {
    return channel_id ? (application.directory.channel(channel_id)?.settings.name ?? null) : null;
  }
}

export const statisticsResolvers = [StatisticsResolver, marginResolverFor(UsageStatistics)] as const;
