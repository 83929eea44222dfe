import { Max, Min } from 'class-validator';
import { Args, ArgsType, Authorized, Ctx, Field, ID, InputType, Int, ObjectType, Query, Resolver } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { LogFigures } from '../../application/usage/log-figures.js';
import type { LogFilter } from '../../application/usage/visible-log.js';
import { beginning, Position } from '../../domain/events/events.js';
import { ApiKeyId, ChannelId } from '../../domain/kernel/ids.js';
import type { LogType } from '../../projections/models/usage-log/usage-log.js';
import type { UsageLogEntry } from '../../projections/models/usage-log/usage-log-queries.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { maxPageSize } from '../server/page.js';
import { QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { LogTypeEnum, UsageLogLine } from './usage-log.js';

@InputType({ description: 'What is missing does not filter.' })
class UsageLogFilterInput {
  @Field(() => LogTypeEnum, { nullable: true })
  readonly type?: LogType | null;

  @Field(() => String, { nullable: true, description: 'As the user is called now; only with `everyone`.' })
  readonly username?: string | null;

  @Field(() => ID, { nullable: true })
  readonly apiKeyId?: string | null;

  @Field(() => String, { nullable: true })
  readonly apiKeyName?: string | null;

  @Field(() => String, { nullable: true, description: 'A name, or a pattern in which % stands for anything.' })
  readonly model?: string | null;

  @Field(() => ID, { nullable: true, description: 'For administrators.' })
  readonly channelId?: string | null;

  @Field(() => String, { nullable: true })
  readonly group?: string | null;

  @Field(() => String, { nullable: true })
  readonly requestId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Of calls that were refused or failed: the code their callers were given.',
  })
  readonly code?: string | null;

  @Field(() => TimestampScalar, { nullable: true, description: 'Inclusive.' })
  readonly from?: number | null;

  @Field(() => TimestampScalar, { nullable: true, description: 'Inclusive.' })
  readonly to?: number | null;
}

export const logFilterOf = (input: UsageLogFilterInput | null | undefined): LogFilter => ({
  type: input?.type ?? undefined,
  username: input?.username ?? undefined,
  apiKeyId: input?.apiKeyId ? ApiKeyId(input.apiKeyId) : undefined,
  apiKeyName: input?.apiKeyName ?? undefined,
  model: input?.model ?? undefined,
  channelId: input?.channelId ? ChannelId(input.channelId) : undefined,
  group: input?.group ?? undefined,
  requestId: input?.requestId ?? undefined,
  code: input?.code ?? undefined,
  from: input?.from ?? undefined,
  to: input?.to ?? undefined,
});

@ArgsType()
export class LogScopeArgs {
  @Field(() => UsageLogFilterInput, { nullable: true })
  readonly filter?: UsageLogFilterInput;

  @Field(() => Boolean, {
    defaultValue: false,
    description: "Everybody's lines, not only one's own; for administrators.",
  })
  readonly everyone!: boolean;
}

@ArgsType()
class UsageLogArgs extends LogScopeArgs {
  @Field(() => Int, { defaultValue: 20, description: '1 to 100.' })
  @Min(1)
  @Max(maxPageSize)
  readonly first!: number;

  @Field(() => ID, { nullable: true, description: 'The cursor of the last line of the page before.' })
  readonly after?: string | null;
}

@ObjectType()
class UsageLogEdge {
  @Field(() => ID)
  readonly cursor!: Position;

  @Field(() => UsageLogLine)
  readonly node!: UsageLogEntry;
}

@ObjectType()
class PageInfo {
  @Field(() => Boolean)
  readonly hasNextPage!: boolean;

  @Field(() => ID, { nullable: true, description: 'Give it as `after` for the next page, of older lines.' })
  readonly endCursor!: Position | null;

  @Field(() => ID, { description: 'Of the newest line; give it as `after` to `usageFeed` for all that comes later.' })
  readonly startCursor!: Position;
}

@ObjectType()
class UsageLogConnection {
  @Field(() => [UsageLogEdge])
  readonly edges!: readonly UsageLogEdge[];

  @Field(() => PageInfo)
  readonly pageInfo!: PageInfo;
}

@ObjectType('LogStatistics', {
  description: 'Sums over the settled calls that the filter lets through; rates of the last 60 seconds.',
})
class LogStatisticsObject implements LogFigures {
  @Field(() => QuotaScalar)
  readonly quota!: LogFigures['quota'];

  @Field(() => SafeIntScalar)
  readonly requests!: number;

  @Field(() => SafeIntScalar, { name: 'promptTokens' })
  readonly prompt_tokens!: number;

  @Field(() => SafeIntScalar, { name: 'completionTokens' })
  readonly completion_tokens!: number;

  @Field(() => SafeIntScalar, { name: 'cachedTokens' })
  readonly cached_tokens!: number;

  @Field(() => SafeIntScalar, { name: 'reasoningTokens' })
  readonly reasoning_tokens!: number;

  @Field(() => SafeIntScalar, { description: 'Requests per minute; the time range does not count here.' })
  readonly rpm!: number;

  @Field(() => SafeIntScalar, { description: 'Tokens per minute; the time range does not count here.' })
  readonly tpm!: number;

  @Field(() => QuotaScalar, { description: 'What channel tests would have cost; nobody was charged for them.' })
  readonly testQuota!: LogFigures['testQuota'];

  @Field(() => SafeIntScalar)
  readonly testRequests!: number;
}

@Resolver()
export class UsageLogQueryResolver {
  @Authorized()
  @Query(() => UsageLogConnection, { description: 'Newest first. Lines that are added meanwhile shift no page.' })
  async usageLog(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => UsageLogArgs) { first, after, filter, everyone }: UsageLogArgs,
  ): Promise<UsageLogConnection> {
    const before = after ? Position(after) : undefined;
    // One more than asked for shows whether there is another page.
    const request = { before, limit: first + 1 };
    const found = await application.queries.logBefore(viewer, logFilterOf(filter), request, !everyone);
    const lines = found.slice(0, first);
    return {
      edges: lines.map((node) => ({ cursor: node.id, node })),
      pageInfo: {
        hasNextPage: found.length > first,
        // Where nothing is yet, everything that comes is later than the beginning.
        startCursor: lines.at(0)?.id ?? before ?? beginning,
        endCursor: lines.at(-1)?.id ?? null,
      },
    };
  }

  @Authorized()
  @Query(() => LogStatisticsObject, { complexity: 50 })
  logStatistics(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => LogScopeArgs) { filter, everyone }: LogScopeArgs,
  ): Promise<LogFigures> {
    return application.queries.logFigures(viewer, logFilterOf(filter), !everyone);
  }
}
