import { Args, ArgsType, Authorized, Field, ID, Resolver, Root, Subscription } from 'type-graphql';
import type { LogFilter } from '../../application/queries/usage.js';
import { Position } from '../../domain/events.js';
import type { UsageLogEntry } from '../../projections/models/usage-log/usage-log-queries.js';
import { Bell } from '../../waiting/bell.js';
import { behindPauseMs, pause, stoppable } from '../live/live.js';
import type { SubscriptionContext, SubscriptionData } from '../live/subscription-data.js';
import { signedIn } from '../server/context.js';
import { maxPageSize } from '../server/page.js';
import { UsageLogLine } from './usage-log.js';
import { LogScopeArgs, logFilterOf } from './usage-log-queries.js';

/*
 * The usage log as it grows. The tail of the log of events only says that there is something new; the lines themselves
 * are read from the read model, after the last one delivered. So the feed and the list show the same lines, a reader
 * that comes back misses nothing and sees nothing twice, and a slow reader makes nobody keep anything for it.
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
  { application, caller, wallets }: SubscriptionContext,
  { filter, everyone, start }: Feed,
  signal: AbortSignal,
): AsyncGenerator<UsageLogEntry, void, undefined> {
  const { tail, queries } = application;
  const viewer = await signedIn(caller);
  const news = new Bell();
  let newest = start;
  const forget = wallets.add(everyone ? null : viewer.id, (position) => {
    newest = position;
    news.ring();
  });
  try {
    let delivered = start;
    // What came since `start`, before anybody watched.
    if (tail.position() > newest) newest = tail.position();
    news.ring();
    while (await news.heard(signal)) {
      const upTo = newest;
      const whole = await application.visible(upTo);
      // Nobody follows a log that is being made anew: all of the past would come as if it had just happened.
      const isFollowed = application.readModels.rebuiltPercent() === null;
      while (isFollowed) {
        const page = { after: delivered, limit: maxPageSize };
        const lines = await queries.logAfter(await signedIn(caller), filter, page, !everyone);
        for (const line of lines) {
          delivered = line.id;
          yield line;
        }
        if (lines.length < maxPageSize || signal.aborted) break;
      }
      if (whole) continue;
      // The read model is behind: what is missing must not wait for the next event. Or it is stopped: that is said at once.
      news.ring();
      if (!(await pause(behindPauseMs, signal))) return;
    }
  } finally {
    forget();
  }
}
