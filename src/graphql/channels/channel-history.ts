import { Max, Min } from 'class-validator';
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
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { ChannelChange } from '../../domain/channel/channel-change.js';
import type { ChannelField, ChannelFieldChange } from '../../domain/channel/channel-edits.js';
import { Position } from '../../domain/events/events.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import type { ChannelChangeRow, ChannelHistoryPart } from '../../projections/models/channel-history.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { maxPageSize } from '../server/page.js';
import { DecimalScalar, SafeIntScalar } from '../server/scalars.js';
import { ChannelChangeObject } from './channel-health.js';

const HistoryPartEnum = enumeration<ChannelHistoryPart>('ChannelHistoryPart', 'What of a history is to be told.', {
  SWITCHED: 'switched',
  CHANGED: 'changed',
  TESTED: 'tested',
  BALANCE: 'balance',
});

@ObjectType('ChannelFieldChange', { description: 'A field of a channel that an edit has changed.' })
class ChannelFieldChangeObject implements ChannelFieldChange {
  @Field(() => String, { description: 'As the input of `editChannel` calls it.' })
  readonly field!: ChannelField;

  @Field(() => String, {
    nullable: true,
    description: 'Of a list: what went, a line each. null: a secret, of which nothing but that it changed is told.',
  })
  readonly from!: string | null;

  @Field(() => String, { nullable: true, description: 'Of a list: what came, a line each. null: a secret.' })
  readonly to!: string | null;

  @Field(() => Boolean, { description: 'There was more of `from` or `to`.' })
  readonly isCut!: boolean;
}

@ObjectType('ChannelHistoryEntry', { description: 'What happened to a channel, as it is kept.' })
class ChannelHistoryEntryObject implements Pick<ChannelChangeRow, 'name' | 'balance_before'> {
  @Field(() => String, { description: 'How the channel was called then.' })
  readonly name!: string;

  @Field(() => DecimalScalar, {
    name: 'balanceBefore',
    nullable: true,
    description: 'null: it was told for the first time, or this is not about it.',
  })
  readonly balance_before!: string | null;
}

@ObjectType()
class ChannelHistory {
  @Field(() => [ChannelHistoryEntryObject])
  readonly items!: readonly ChannelChangeRow[];

  @Field(() => Boolean, { description: "Give the last change's `position` as `before` for older ones." })
  readonly hasMore!: boolean;
}

@ArgsType()
class ChannelHistoryArgs {
  @Field(() => ID, { nullable: true, description: 'null: of all channels, also those that are gone.' })
  readonly channelId?: string | null;

  @Field(() => HistoryPartEnum, { nullable: true, description: 'null: everything.' })
  readonly part?: ChannelHistoryPart | null;

  @Field(() => SafeIntScalar, { nullable: true, description: 'Only what is older than the change at this position.' })
  readonly before?: number | null;

  @Field(() => Int, { defaultValue: 20, description: '1 to 100.' })
  @Min(1)
  @Max(maxPageSize)
  readonly first!: number;
}

@Resolver(() => ChannelHistoryEntryObject)
export class ChannelHistoryResolver {
  @Authorized('admin-reading')
  @Query(() => ChannelHistory, {
    description: 'Newest first. Of tests and balances, the newest thousand of each channel are kept.',
  })
  channelHistory(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ChannelHistoryArgs) { channelId, part, before, first }: ChannelHistoryArgs,
  ): Promise<ChannelHistory> {
    return application.queries.channelHistory(viewer, {
      channelId: channelId ? ChannelId(channelId) : null,
      part: part ?? null,
      before: before === null || before === undefined ? null : Position(before),
      first,
    });
  }

  @FieldResolver(() => ChannelChangeObject)
  change(@Root() { channel_id, by_user, response_time_ms, ...row }: ChannelChangeRow): ChannelChange {
    return { ...row, channelId: channel_id, by: by_user, responseTimeMs: response_time_ms };
  }

  @FieldResolver(() => [ChannelFieldChangeObject], { description: 'What an edit changed.' })
  fields(@Root() { fields }: ChannelChangeRow): readonly ChannelFieldChange[] {
    return fields ?? [];
  }
}
