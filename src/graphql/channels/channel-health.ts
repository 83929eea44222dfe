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
import type { ChannelEvent } from '../../domain/channel.js';
import { type Position, type Recorded, streamKey } from '../../domain/events.js';
import { Failure } from '../../domain/failure.js';
import { ChannelId } from '../../domain/ids.js';
import { unixSeconds } from '../../domain/instant.js';
import type { ChannelRow } from '../../projections/models/channels.js';
import { Bell } from '../../waiting/bell.js';
import { stoppable } from '../live/live.js';
import type { SubscriptionData } from '../live/subscription-data.js';
import { type GraphqlContext, signedIn } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { TimestampScalar } from '../server/scalars.js';
import { ChannelObject } from './channel.js';

type ChangeKind = 'added' | 'edited' | 'enabled' | 'disabled' | 'tested' | 'removed';

const ChangeKindEnum = enumeration<ChangeKind>('ChannelChangeKind', 'What happened to a channel.', {
  ADDED: 'added',
  EDITED: 'edited',
  ENABLED: 'enabled',
  DISABLED: 'disabled',
  TESTED: 'tested',
  REMOVED: 'removed',
});

const kinds: Record<ChannelEvent['type'], ChangeKind> = {
  ChannelAdded: 'added',
  ChannelEdited: 'edited',
  ChannelEnabled: 'enabled',
  ChannelDisabled: 'disabled',
  ChannelTested: 'tested',
  ChannelRemoved: 'removed',
};

@ObjectType({ description: 'Something happened to a channel. For administrators.' })
class ChannelChange {
  readonly position!: Position;

  @Field(() => ChangeKindEnum)
  readonly kind!: ChangeKind;

  @Field(() => TimestampScalar)
  readonly at!: number;

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
}

@Resolver(() => ChannelChange)
export class ChannelHealthResolver {
  @Authorized('admin')
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

  @Authorized('admin')
  @Subscription(() => ChannelChange, {
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
  const news = new Bell();
  const forget = tail.add({
    take(batch) {
      for (const recorded of batch) {
        const change = changeIn(recorded);
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
    while (await news.heard(signal)) {
      for (const [key, change] of waiting) {
        waiting.delete(key);
        yield change;
      }
    }
  } finally {
    forget();
  }
}

function changeIn({ event, stream, at, position }: Recorded): ChannelChange | null {
  if (!(event.type in kinds)) return null;
  const happened = event as ChannelEvent;
  const change = {
    position,
    kind: kinds[happened.type],
    at: unixSeconds(at),
    channelId: ChannelId(streamKey(stream)),
    automatic: null,
    reason: null,
    ok: null,
    responseTimeMs: null,
  };
  switch (happened.type) {
    case 'ChannelEnabled':
      return { ...change, automatic: happened.automatic };
    case 'ChannelDisabled':
      return { ...change, automatic: happened.automatic, reason: happened.reason };
    case 'ChannelTested':
      return { ...change, ok: happened.ok, responseTimeMs: happened.responseTimeMs, reason: happened.error };
    default:
      return change;
  }
}
