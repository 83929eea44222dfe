import { Arg, Authorized, Ctx, Field, FieldResolver, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { SettingAt } from '../../application/audit/settings-at.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { Position } from '../../domain/events/events.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import type { UserRow } from '../../projections/models/users.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { UserObject } from '../users/user.js';
import { MomentInput, momentIn } from './audited.js';

@ObjectType('SettingAt', { description: 'What an option was set to.' })
class SettingAtObject {
  @Field(() => String)
  readonly key!: string;

  @Field(() => String, { nullable: true, description: 'null: a secret.' })
  readonly value!: string | null;

  @Field(() => Boolean, { description: 'It held something; of a secret, all that is told.' })
  readonly isSet!: boolean;
}

@Resolver(() => SettingAtObject)
export class SettingsAtResolver {
  @Authorized('root-reading')
  @Query(() => [SettingAtObject], { description: 'Every option as it was, sorted by key.' })
  settingsAt(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('moment', () => MomentInput) moment: MomentInput,
  ): Promise<readonly SettingAt[]> {
    return application.queries.settingsAt(viewer, momentIn(moment));
  }

  @FieldResolver(() => SafeIntScalar, {
    nullable: true,
    description: 'Of the change that set it; null: nobody had changed it, and it is what this release begins with.',
  })
  position(@Root() { change }: SettingAt): Position | null {
    return change?.position ?? null;
  }

  @FieldResolver(() => TimestampScalar, { nullable: true })
  changedAt(@Root() { change }: SettingAt): number | null {
    return change === null ? null : unixSeconds(change.at);
  }

  @FieldResolver(() => UserObject, { nullable: true, description: 'null: not known, or erased.' })
  async by(@Root() { change }: SettingAt, @Ctx() { userById }: GraphqlContext): Promise<UserRow | null> {
    return change === null || change.by === null ? null : userById(change.by);
  }
}
