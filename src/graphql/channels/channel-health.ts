import {
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  Float,
  ID,
  ObjectType,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import type { Tail } from '../../application/memory/tail.js';
import { WakeUpSignal } from '../../concurrency/wake-up-signal.js';
import { type ChannelChange, type ChannelChangeKind, channelChangeIn } from '../../domain/channel/channel-change.js';
import type { Position } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import type { ChannelRow } from '../../projections/models/channels.js';
import type { UserRow } from '../../projections/models/users.js';
import { stoppable } from '../live/live.js';
import type { SubscriptionData } from '../live/subscription-data.js';
import { type GraphqlContext, signedIn } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { DecimalScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { UserObject } from '../users/user.js';
import { ChannelObject } from './channel.js';

const ChangeKindEnum = enumeration<ChannelChangeKind>('ChannelChangeKind', 'What happened to a channel.', {
  ADDED: 'added',
  EDITED: 'edited',
  ENABLED: 'enabled',
  DISABLED: 'disabled',
  TESTED: 'tested',
  BALANCE_TOLD: 'balance-told',
  REMOVED: 'removed',
});

@ObjectType('ChannelChange', { description: 'Something happened to a channel. For administrators.' })
export class ChannelChangeObject implements Omit<ChannelChange, 'at' | 'by'> {
  @Field(() => SafeIntScalar, { description: 'Its place in the log of events.' })
  readonly position!: Position;

  @Field(() => ChangeKindEnum)
  readonly kind!: ChannelChangeKind;

  @Field(() => ID)
  readonly channelId!: ChannelId;

  @Field(() => Boolean, { nullable: true, description: 'Switched by the gateway itself; null: not switched.' })
  readonly automatic!: boolean | null;

  @Field(() => String, { nullable: true, description: 'Why it was switched off, or why its test failed.' })
  readonly reason!: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether the test passed; null: no test.' })
  readonly ok!: boolean | null;

  @Field(() => Float, { nullable: true, description: 'Of the test; null: no test.' })
  readonly responseTimeMs!: number | null;

  @Field(() => DecimalScalar, { nullable: true, description: 'Of the account, as told; null: not about it.' })
  readonly balance!: string | null;
}

@Resolver(() => ChannelChangeObject)
export class ChannelHealthResolver {
  @FieldResolver(() => TimestampScalar)
  at(@Root() { at }: ChannelChange): number {
    return unixSeconds(at);
  }

  @Authorized('admin-reading')
  @FieldResolver(() => UserObject, {
    nullable: true,
    description: "null: the gateway's own doing, or not known, or erased.",
  })
  async by(@Root() { by }: ChannelChange, @Ctx() { userById }: GraphqlContext): Promise<UserRow | null> {
    return by === null ? null : userById(by);
  }

  @Authorized('admin-reading')
  @FieldResolver(() => ChannelObject, { nullable: true, description: 'As it is now; null: gone.' })
  async channel(
    @Root() { channelId, position }: ChannelChange,
    @Ctx() { application, caller }: GraphqlContext,
  ): Promise<ChannelRow | null> {
    await application.visible(position);
    try {
      return await application.queries.channel(await signedIn(caller), channelId);
    } catch (error) {
      if (error instanceof Failure && error.code === 'channel-not-found') return null;
      throw error;
    }
  }

  @Authorized('admin-reading')
  @Subscription(() => ChannelChangeObject, {
    description: 'As it happens. Of changes of one kind to one channel, a slow reader sees the newest.',
    subscribe: ({ context }: SubscriptionData) => stoppable((signal) => changes(context.application.tail, signal)),
  })
  channelHealth(@Root() change: ChannelChange): ChannelChange {
    return change;
  }
}

async function* changes(tail: Pick<Tail, 'add'>, signal: AbortSignal): AsyncGenerator<ChannelChange, void, undefined> {
  // One entry per channel and kind, however long the reader takes.
  const waiting = new Map<string, ChannelChange>();
  const news = new WakeUpSignal();
  const forget = tail.add({
    take(batch) {
      for (const recorded of batch) {
        const change = channelChangeIn(recorded);
        if (change === null) continue;
        const key = `${change.channelId} ${change.kind}`;
        // Put at the end anew: readers see changes in the order of the newest of each.
        waiting.delete(key);
        waiting.set(key, change);
        news.ring();
      }
    },
  });
  try {
    while (await news.received(signal)) {
      for (const [key, change] of waiting) {
        waiting.delete(key);
        yield change;
      }
    }
  } finally {
    forget();
  }
}
