import { Authorized, Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { SafeIntScalar, TimestampScalar } from '../server/scalars.js';

@ObjectType({ description: 'How notifications get through to users.' })
class Notifications {
  @Field(() => SafeIntScalar, { description: 'To be told, or to be tried again.' })
  readonly waiting!: number;

  @Field(() => TimestampScalar, { nullable: true, description: 'null: none waits.' })
  readonly oldestWaitingSince!: number | null;

  @Field(() => SafeIntScalar, { description: 'In the last seven days; the log says whose, and why.' })
  readonly givenUp!: number;
}

@Resolver()
export class NotificationsResolver {
  @Authorized('root-reading')
  @Query(() => Notifications)
  async notifications(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): Promise<Notifications> {
    const { waiting, oldestWaitingSince, givenUp } = await application.queries.notifications(viewer);
    return {
      waiting,
      oldestWaitingSince: oldestWaitingSince === null ? null : unixSeconds(oldestWaitingSince),
      givenUp,
    };
  }
}
