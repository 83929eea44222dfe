import { Arg, Authorized, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import { instantOf } from '../../domain/kernel/instant.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { SafeIntScalar, TimestampScalar } from '../server/scalars.js';

/** Counting, or waiting for the log. */
const heavy = 100;

@Resolver()
export class UsageLogCommandResolver {
  @Authorized('admin-reading')
  @Query(() => SafeIntScalar, {
    complexity: heavy,
    description: 'How many lines `clearUsageLog` would take away now.',
  })
  usageLogLinesBefore(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('before', () => TimestampScalar) seconds: number,
  ): Promise<number> {
    return application.queries.linesBefore(viewer, instantOf('before', seconds));
  }

  @Authorized('admin')
  @Mutation(() => SafeIntScalar, {
    complexity: heavy,
    description:
      'Takes what happened before out of the usage log, for everybody, and tells how many lines that were. Balances, statements and statistics stay as they are.',
  })
  async clearUsageLog(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('before', () => TimestampScalar, { description: 'No moment to come.' }) seconds: number,
  ): Promise<number> {
    const { lines } = await application.usageLog.clear(viewer, instantOf('before', seconds));
    return lines;
  }
}
