import { Args, ArgsType, Authorized, Field, ID, Resolver, Root, Subscription } from 'type-graphql';
import type { LogFilter } from '../../application/usage/visible-log.js';
import { Position } from '../../domain/events/events.js';
import type { UsageLogEntry } from '../../projections/models/usage-log/usage-log-queries.js';
import { stoppable } from '../live/live.js';
import type { SubscriptionContext, SubscriptionData } from '../live/subscription-data.js';
import { signedIn } from '../server/context.js';
import { UsageLogLine } from './usage-log.js';
import { LogScopeArgs, logFilterOf } from './usage-log-queries.js';

/*
 * The usage log as it grows. Its lines are read once for all who follow; what each may see is asked as it is delivered. A
 * reader that comes back misses nothing and sees nothing twice, and a slow one keeps nobody waiting.
 */

@ArgsType()
class UsageFeedArgs extends LogScopeArgs {
  @Field(() => ID, {
    nullable: true,
    description: 'Lines after this one, beginning with those there are already. Missing: only what comes from now on.',
  })
  readonly after?: string | null;
}

@Resolver()
export class UsageFeedResolver {
  @Authorized()
  @Subscription(() => UsageLogLine, {
    description: 'Lines of the usage log, oldest first, as they are written.',
    subscribe: ({ args, context }: SubscriptionData<UsageFeedArgs>) => openUsageFeed(context, args),
  })
  usageFeed(@Root() line: UsageLogEntry, @Args(() => UsageFeedArgs) _args: UsageFeedArgs): UsageLogEntry {
    return line;
  }
}

async function openUsageFeed(
  context: SubscriptionContext,
  { filter: input, everyone, after }: UsageFeedArgs,
): Promise<AsyncIterable<UsageLogEntry>> {
  const viewer = await signedIn(context.caller);
  const filter = logFilterOf(input);
  context.application.queries.mayAskLog(viewer, filter, !everyone);
  const start = after ? Position(after) : context.application.tail.position();
  return stoppable((signal) => usageLines(context, { filter, everyone, start }, signal));
}

interface Feed {
  readonly filter: LogFilter;
  readonly everyone: boolean;
  readonly start: Position;
}

async function* usageLines(
  { application, caller }: SubscriptionContext,
  { filter, everyone, start }: Feed,
  signal: AbortSignal,
): AsyncGenerator<UsageLogEntry, void, undefined> {
  const { queries } = application;
  const follower = queries.followLog(await signedIn(caller), filter, start, !everyone);
  try {
    for (let lines = await follower.next(signal); lines !== null; lines = await follower.next(signal)) {
      queries.mayAskLog(await signedIn(caller), filter, !everyone);
      yield* lines;
    }
  } finally {
    follower.leave();
  }
}
