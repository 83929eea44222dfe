import { Authorized, Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';
import type { LatestRelease } from '../../application/latest-release.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { TimestampScalar } from '../server/scalars.js';

@ObjectType('LatestRelease', { description: 'The latest release, as its publisher tells, beside the one that runs.' })
class LatestReleaseObject implements Omit<LatestRelease, 'publishedAt'> {
  @Field(() => String, { description: 'The version that runs.' })
  readonly current!: string;

  @Field(() => String, { description: 'As the release is tagged.' })
  readonly latest!: string;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Than the one that runs; null: one of the two is no version, so nobody can tell.',
  })
  readonly isNewer!: boolean | null;

  @Field(() => String, { nullable: true, description: 'Its page, http or https; null: none is told.' })
  readonly url!: string | null;

  @Field(() => TimestampScalar, { nullable: true, description: 'null: it is not told.' })
  readonly publishedAt!: number | null;
}

@Resolver()
export class ReleaseResolver {
  @Authorized('root')
  @Query(() => String, {
    nullable: true,
    description: 'The host that is asked for the latest release; null: RELEASES_URL names none.',
  })
  releaseSource(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): string | null {
    return application.releases.releaseSource(viewer);
  }

  @Authorized('root')
  @Query(() => LatestReleaseObject, {
    description: 'Asks for it now; an answer is given again for a minute. Fails where no source is configured.',
  })
  async latestRelease(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
  ): Promise<LatestReleaseObject> {
    const { publishedAt, ...release } = await application.releases.latestRelease(viewer);
    return { ...release, publishedAt: publishedAt === null ? null : unixSeconds(publishedAt) };
  }
}
