import { Arg, Authorized, Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';
import type { UsableGroup } from '../../application/payments/offers.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { DecimalScalar } from '../server/scalars.js';

@ObjectType('UsableGroup', { description: 'A group somebody may use for a call, and what it does to the price.' })
export class UsableGroupObject implements UsableGroup {
  @Field(() => String)
  readonly name!: string;

  @Field(() => DecimalScalar)
  readonly ratio!: string;

  @Field(() => String)
  readonly description!: string;
}

@Resolver()
export class GroupResolver {
  @Authorized('admin-reading')
  @Query(() => [String], { description: 'Every group that has a ratio.' })
  groups(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): readonly string[] {
    return application.queries.groupNames(viewer);
  }

  @Authorized()
  @Query(() => [UsableGroupObject])
  ownGroups(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): Promise<readonly UsableGroup[]> {
    return application.queries.ownGroups(viewer);
  }

  @Authorized()
  @Query(() => [String], { description: 'Models some enabled channel serves for a group one may use.' })
  ownModels(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('group', () => String, { nullable: true, description: 'Missing: for any of them.' }) group?: string | null,
  ): Promise<readonly string[]> {
    return application.queries.ownModels(viewer, group ?? null);
  }

  @Authorized('admin-reading')
  @Query(() => [String], { description: 'Models some enabled channel serves.' })
  enabledModels(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): readonly string[] {
    return application.queries.enabledModels(viewer);
  }

  @Authorized('root-reading')
  @Query(() => [String], { description: 'Those of them that have no price.' })
  unpricedModels(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): readonly string[] {
    return application.queries.unpricedModels(viewer);
  }
}
