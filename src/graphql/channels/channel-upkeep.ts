import {
  Arg,
  Authorized,
  Ctx,
  Field,
  ID,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import type { BalancesUpdated } from '../../application/channels/channel-balances.js';
import type { ChannelTestRun } from '../../application/channels/channel-test-run.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import type { ChannelRow } from '../../projections/models/channels.js';
import { pause, stoppable } from '../live/live.js';
import type { SubscriptionData } from '../live/subscription-data.js';
import { type GraphqlContext, signedIn, Viewer } from '../server/context.js';
import { ChannelObject } from './channel.js';

@ObjectType('ChannelTestRun', {
  description: 'The last test of all channels since this node started; all is 0 before the first.',
})
class ChannelTestRunObject implements ChannelTestRun {
  @Field(() => Int, { description: 'Which one it is, from 1 since the node began; 0: there was none.' })
  readonly number!: number;

  @Field(() => Boolean)
  readonly running!: boolean;

  @Field(() => Int, { description: 'Channels to be tested.' })
  readonly total!: number;

  @Field(() => Int, { description: 'Channels that have been looked at.' })
  readonly done!: number;

  @Field(() => Int, { description: 'Without those that were removed meanwhile.' })
  readonly tested!: number;

  @Field(() => Int, { description: 'Did not pass.' })
  readonly failed!: number;

  @Field(() => Int, { description: 'Switched off because of it.' })
  readonly disabled!: number;

  @Field(() => Int, { description: 'Switched on again because of it.' })
  readonly enabled!: number;
}

@ObjectType({ description: 'What came of asking for the balances of all enabled channels whose providers tell them.' })
class ChannelBalancesUpdated implements Omit<BalancesUpdated, 'position'> {
  @Field(() => Int)
  readonly updated!: number;

  @Field(() => Int, { description: 'Providers that did not tell.' })
  readonly failed!: number;

  @Field(() => Int, { description: 'Switched off, as nothing is left in their accounts.' })
  readonly disabled!: number;
}

/** An order that waits for upstreams. */
const heavy = 200;
const lookEveryMs = 500;

@Resolver()
export class ChannelUpkeepResolver {
  @Authorized('admin-reading')
  @Query(() => ChannelTestRunObject)
  channelTestRun(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): ChannelTestRun {
    return application.channels.testRun(viewer);
  }

  @Authorized('admin')
  @Mutation(() => ChannelTestRunObject, {
    complexity: heavy,
    description: 'Begins to test all channels, and does not wait for it: `channelTestRun` tells how far it has come.',
  })
  testAllChannels(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): ChannelTestRun {
    return application.channels.testAll(viewer);
  }

  @Authorized('admin')
  @Mutation(() => ChannelObject, { complexity: heavy, description: "Asks the provider for the account's balance." })
  async updateChannelBalance(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
  ): Promise<ChannelRow> {
    const id = ChannelId(rawId);
    await application.visible((await application.channels.updateBalance(viewer, id)).position);
    return application.queries.channel(viewer, id);
  }

  @Authorized('admin')
  @Mutation(() => ChannelBalancesUpdated, { complexity: heavy })
  async updateChannelBalances(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
  ): Promise<BalancesUpdated> {
    const updated = await application.channels.updateBalances(viewer);
    await application.visible(updated.position);
    return updated;
  }

  @Authorized('admin-reading')
  @Subscription(() => ChannelTestRunObject, {
    name: 'channelTestRun',
    description: 'How it stands now, and whenever it has come further.',
    subscribe: ({ context }: SubscriptionData) => stoppable((signal) => progress(context, signal)),
  })
  watchTestRun(@Root() run: ChannelTestRun): ChannelTestRun {
    return run;
  }
}

async function* progress(
  { application, caller }: GraphqlContext,
  signal: AbortSignal,
): AsyncGenerator<ChannelTestRun, void, undefined> {
  let published: ChannelTestRun | null = null;
  do {
    const run = application.channels.testRun(await signedIn(caller));
    if (run !== published) yield run;
    published = run;
  } while (await pause(lookEveryMs, signal));
}
