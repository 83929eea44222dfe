import { Max, Min } from 'class-validator';
import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { OptionChange } from '../../application/options/option-queries.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { Position } from '../../domain/events/events.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import { isSecretOption } from '../../domain/options/option-table.js';
import type { UserRow } from '../../projections/models/users.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { maxPageSize } from '../server/page.js';
import { SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { UserObject } from '../users/user.js';

@ObjectType('OptionChange', { description: 'What an option was changed from and to.' })
class OptionChangeObject implements Pick<OptionChange, 'position' | 'key' | 'from' | 'to' | 'isFirst' | 'isCut'> {
  @Field(() => SafeIntScalar, { description: 'Its place in the log of events.' })
  readonly position!: Position;

  @Field(() => String)
  readonly key!: string;

  @Field(() => String, { nullable: true, description: 'null: a secret.' })
  readonly from!: string | null;

  @Field(() => String, { nullable: true, description: 'null: a secret.' })
  readonly to!: string | null;

  @Field(() => Boolean, { description: 'Nobody had changed it before: `from` is what it holds by itself.' })
  readonly isFirst!: boolean;

  @Field(() => Boolean, { description: 'There is more of `from` or `to`: ask for this change alone.' })
  readonly isCut!: boolean;
}

@ObjectType()
class OptionHistory {
  @Field(() => [OptionChangeObject])
  readonly items!: readonly OptionChange[];

  @Field(() => Boolean, { description: 'Give the last `position` as `before` for older ones.' })
  readonly hasMore!: boolean;
}

@ArgsType()
class OptionHistoryArgs {
  @Field(() => String, { nullable: true, description: 'null: of all options.' })
  readonly key?: string | null;

  @Field(() => SafeIntScalar, { nullable: true, description: 'Only what is older than the change at this position.' })
  readonly before?: number | null;

  @Field(() => Int, { defaultValue: 20, description: '1 to 100.' })
  @Min(1)
  @Max(maxPageSize)
  readonly first!: number;
}

@Resolver(() => OptionChangeObject)
export class OptionHistoryResolver {
  @Authorized('root-reading')
  @Query(() => OptionHistory, { description: 'Newest first; long texts are cut.' })
  optionHistory(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => OptionHistoryArgs) { key, before, first }: OptionHistoryArgs,
  ): Promise<OptionHistory> {
    const olderThan = before === null || before === undefined ? null : Position(before);
    return application.queries.optionHistory(viewer, { key: key ?? null, before: olderThan, first });
  }

  @Authorized('root-reading')
  @Query(() => OptionChangeObject, { description: 'One change, with its whole texts.' })
  optionChange(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('position', () => SafeIntScalar) position: number,
  ): Promise<OptionChange> {
    return application.queries.optionChange(viewer, Position(position));
  }

  @FieldResolver(() => TimestampScalar)
  at(@Root() { at }: OptionChange): number {
    return unixSeconds(at);
  }

  @FieldResolver(() => Boolean, { description: 'Its values are told to nobody.' })
  isHidden(@Root() { key }: OptionChange): boolean {
    return isSecretOption(key);
  }

  @FieldResolver(() => UserObject, { nullable: true, description: 'null: not known, or erased.' })
  async by(@Root() { by }: OptionChange, @Ctx() { userById }: GraphqlContext): Promise<UserRow | null> {
    return by === null ? null : userById(by);
  }
}
