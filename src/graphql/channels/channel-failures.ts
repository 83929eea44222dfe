import { Args, ArgsType, Authorized, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import type { ChannelFailureCause } from '../../projections/models/channel-failures.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { SafeIntScalar, TimestampScalar } from '../server/scalars.js';

@ObjectType('ChannelFailures', { description: 'Attempts of a channel that failed for one cause.' })
class ChannelFailuresObject implements ChannelFailureCause {
  @Field(() => Int, { description: 'What upstream answered with; 0: it gave no answer.' })
  readonly status!: number;

  @Field(() => String, { description: 'The code its caller would have been given; empty: none.' })
  readonly code!: string;

  @Field(() => SafeIntScalar)
  readonly failures!: number;

  @Field(() => SafeIntScalar, { description: 'Those of them whose callers another channel answered.' })
  readonly rescued!: number;

  @Field(() => TimestampScalar, { name: 'lastAt' })
  readonly last_at!: number;

  @Field(() => ID, { name: 'lastRequestId', description: 'Of the call that failed last.' })
  readonly last_request_id!: string;
}

@ArgsType()
class ChannelFailuresArgs {
  @Field(() => ID)
  readonly channelId!: string;

  @Field(() => TimestampScalar, { description: 'Inclusive; hours count by their start.' })
  readonly from!: number;

  @Field(() => TimestampScalar, { description: 'Inclusive.' })
  readonly to!: number;
}

@Resolver()
export class ChannelFailuresResolver {
  @Authorized('admin-reading')
  @Query(() => [ChannelFailuresObject], {
    complexity: 100,
    description:
      'By cause, the most frequent first; at most a hundred. Each attempt counts, whoever answered in the end.',
  })
  channelFailures(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ChannelFailuresArgs) { channelId, from, to }: ChannelFailuresArgs,
  ): Promise<readonly ChannelFailureCause[]> {
    return application.queries.channelFailures(viewer, { channelId: ChannelId(channelId), from, to });
  }
}
