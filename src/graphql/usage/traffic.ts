import {
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
  Subscription,
} from 'type-graphql';
import type { TrafficSnapshot } from '../../application/memory/live-traffic.js';
import type { RefusedFigures } from '../../application/memory/refused-traffic.js';
import type { TrafficFigures } from '../../application/memory/traffic-tally.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import { pause, stoppable } from '../live/live.js';
import type { SubscriptionData } from '../live/subscription-data.js';
import { type GraphqlContext, signedIn, Viewer } from '../server/context.js';
import { QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';

const pushEveryMs = 1000;

@ObjectType('TrafficFigures', { description: 'The last 60 seconds.' })
class TrafficFiguresObject implements TrafficFigures {
  @Field(() => SafeIntScalar)
  readonly requestsPerMinute!: number;

  @Field(() => SafeIntScalar)
  readonly tokensPerMinute!: number;

  @Field(() => QuotaScalar)
  readonly quotaPerMinute!: number;

  @Field(() => Float, { description: '0 to 1: the share of calls that were reserved and could not be served.' })
  readonly errorRate!: number;

  @Field(() => Int, { nullable: true, description: 'Durations are exact to about 5 %; null: no sample.' })
  readonly latencyP50Ms!: number | null;

  @Field(() => Int, { nullable: true })
  readonly latencyP95Ms!: number | null;

  @Field(() => Int, { nullable: true })
  readonly firstTokenP50Ms!: number | null;

  @Field(() => Int, { nullable: true })
  readonly firstTokenP95Ms!: number | null;
}

type OfChannel = TrafficSnapshot['channels'][number];
type OfModel = TrafficSnapshot['models'][number];

@ObjectType()
class ChannelTraffic extends TrafficFiguresObject implements OfChannel {
  @Field(() => ID)
  readonly channelId!: ChannelId;
}

@ObjectType()
class ModelTraffic extends TrafficFiguresObject implements OfModel {
  @Field(() => String)
  readonly model!: string;
}

@ObjectType({ description: 'Calls that were refused before anything was reserved for them, by what they were told.' })
class RefusedTraffic implements RefusedFigures {
  @Field(() => Int)
  readonly status!: number;

  @Field(() => String)
  readonly code!: string;

  @Field(() => SafeIntScalar, { description: 'Of the last 60 seconds.' })
  readonly perMinute!: number;
}

@ObjectType({ description: 'What goes through the gateway. For administrators.' })
class Traffic implements Omit<TrafficSnapshot, 'at'> {
  @Field(() => TrafficFiguresObject)
  readonly total!: TrafficFigures;

  @Field(() => [RefusedTraffic], { description: 'In none of the other figures. Most frequent first.' })
  readonly refused!: readonly RefusedFigures[];

  @Field(() => [ChannelTraffic], { description: 'Channels that had calls.' })
  readonly channels!: readonly OfChannel[];

  @Field(() => [ModelTraffic], { description: 'Models that were asked for.' })
  readonly models!: readonly OfModel[];
}

@Resolver(() => Traffic)
export class TrafficResolver {
  @FieldResolver(() => TimestampScalar)
  at(@Root() { at }: TrafficSnapshot): number {
    return Math.floor(at / 1000);
  }

  @Authorized('admin-reading')
  @Query(() => Traffic)
  traffic(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): TrafficSnapshot {
    return application.queries.traffic(viewer);
  }

  @Authorized('admin-reading')
  @Subscription(() => Traffic, {
    description: 'Every second.',
    subscribe: ({ context }: SubscriptionData) => stoppable((signal) => snapshots(context, signal)),
  })
  liveTraffic(@Root() snapshot: TrafficSnapshot): TrafficSnapshot {
    return snapshot;
  }
}

@Resolver(() => ChannelTraffic)
export class ChannelTrafficResolver {
  @FieldResolver(() => String, { nullable: true, description: 'null: the channel is gone.' })
  channelName(@Root() { channelId }: OfChannel, @Ctx() { application }: GraphqlContext): string | null {
    return application.directory.channel(channelId)?.settings.name ?? null;
  }
}

async function* snapshots(
  { application, caller }: GraphqlContext,
  signal: AbortSignal,
): AsyncGenerator<TrafficSnapshot, void, undefined> {
  do yield application.queries.watchedTraffic(await signedIn(caller));
  while (await pause(pushEveryMs, signal));
}
