import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  ID,
  InputType,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from 'type-graphql';
import type { UserView } from '../application/ports.js';
import type { NewUser, UserAction, UserPatch } from '../application/users.js';
import type { Position } from '../domain/events.js';
import { Failure } from '../domain/failure.js';
import { UserId } from '../domain/ids.js';
import type { Role } from '../domain/user.js';
import type { Page } from '../projections/page.js';
import type { UserFilter, UserRow, UserSort } from '../projections/users.js';
import { type GraphqlContext, Viewer } from './context.js';
import { enumeration } from './enumeration.js';
import { PageArgs } from './page.js';
import { QuotaScalar, SafeIntScalar, TimestampScalar } from './scalars.js';

const RoleEnum = enumeration<Role>('Role', 'What a user may do.', {
  ORDINARY: 'ordinary',
  ADMIN: 'admin',
  ROOT: 'root',
});

const UserStatusEnum = enumeration<UserRow['status']>('UserStatus', 'Whether a user may sign in and call.', {
  ENABLED: 'enabled',
  DISABLED: 'disabled',
});

const UserSortEnum = enumeration<UserSort>('UserSort', 'The order of a list of users.', {
  ID_DESC: 'id_desc',
  QUOTA_DESC: 'quota_desc',
  QUOTA_ASC: 'quota_asc',
  USED_QUOTA_DESC: 'used_quota_desc',
  USED_QUOTA_ASC: 'used_quota_asc',
  REQUEST_COUNT_DESC: 'request_count_desc',
  REQUEST_COUNT_ASC: 'request_count_asc',
});

const UserActionEnum = enumeration<UserAction>('UserAction', 'What an administrator may do to a user.', {
  ENABLE: 'enable',
  DISABLE: 'disable',
  DELETE: 'delete',
  PROMOTE: 'promote',
  DEMOTE: 'demote',
});

@ObjectType('User', { description: 'A person with a wallet. Users see themselves; administrators see everybody.' })
export class UserObject
  implements
    Pick<
      UserRow,
      | 'id'
      | 'username'
      | 'display_name'
      | 'email'
      | 'role'
      | 'status'
      | 'group'
      | 'quota'
      | 'used_quota'
      | 'request_count'
      | 'created_at'
      | 'deleted_at'
    >
{
  @Field(() => ID)
  readonly id!: UserRow['id'];

  @Field(() => String)
  readonly username!: string;

  @Field(() => String, {
    name: 'displayName',
    description: 'Empty once the user is deleted; so is the e-mail address.',
  })
  readonly display_name!: string;

  @Field(() => String)
  readonly email!: string;

  @Field(() => RoleEnum)
  readonly role!: Role;

  @Field(() => UserStatusEnum)
  readonly status!: UserRow['status'];

  @Field(() => String)
  readonly group!: string;

  @Field(() => QuotaScalar, { description: 'What may be spent now: holds of calls under way are taken off.' })
  readonly quota!: UserRow['quota'];

  @Field(() => QuotaScalar, { name: 'usedQuota' })
  readonly used_quota!: UserRow['used_quota'];

  @Field(() => SafeIntScalar, { name: 'requestCount', description: 'Settled calls that used tokens.' })
  readonly request_count!: number;

  @Field(() => TimestampScalar, { name: 'createdAt' })
  readonly created_at!: number;

  @Field(() => TimestampScalar, { name: 'deletedAt', nullable: true })
  readonly deleted_at!: number | null;
}

@ObjectType('UserPage')
class UserPage implements Page<UserRow> {
  @Field(() => [UserObject])
  readonly items!: readonly UserRow[];

  @Field(() => SafeIntScalar)
  readonly total!: number;
}

@ArgsType()
class UserListArgs extends PageArgs implements UserFilter {
  @Field(() => UserSortEnum, { defaultValue: 'id_desc' })
  readonly sort!: UserSort;

  @Field(() => String, { nullable: true, description: 'Part of user name, e-mail address or display name; or an id.' })
  readonly keyword?: string;

  @Field(() => String, { nullable: true })
  readonly group?: string;
}

@InputType()
class NewUserInput implements NewUser {
  @Field(() => String)
  readonly username!: string;

  @Field(() => String)
  readonly password!: string;

  @Field(() => String, { defaultValue: '', description: 'Empty: the user name.' })
  readonly displayName!: string;

  @Field(() => RoleEnum, { defaultValue: 'ordinary' })
  readonly role!: Role;
}

@InputType({ description: 'What is missing or null stays as it is.' })
class UserPatchInput implements Partial<Omit<UserPatch, 'role'>> {
  @Field(() => String, { nullable: true })
  readonly username?: string | null;

  @Field(() => String, { nullable: true })
  readonly password?: string | null;

  @Field(() => String, { nullable: true })
  readonly displayName?: string | null;

  @Field(() => String, { nullable: true })
  readonly group?: string | null;

  @Field(() => QuotaScalar, { nullable: true, description: 'The balance the user shall have.' })
  readonly quota?: number | null;
}

@InputType({ description: 'What is missing or null stays as it is.' })
class ProfilePatchInput implements Partial<Pick<UserPatch, 'username' | 'password' | 'displayName'>> {
  @Field(() => String, { nullable: true })
  readonly username?: string | null;

  @Field(() => String, { nullable: true })
  readonly password?: string | null;

  @Field(() => String, { nullable: true })
  readonly displayName?: string | null;
}

/** A password is hashed slowly on purpose: a few of these are all an operation may hold. */
const hashingCost = 500;

@Resolver(() => UserObject)
export class UserResolver {
  @Query(() => UserObject, { nullable: true, description: 'Oneself; null when nobody is signed in.' })
  async me(@Ctx() { application, caller }: GraphqlContext): Promise<UserRow | null> {
    const user = await caller.identified();
    if (user === null) return null;
    if (user.status !== 'enabled') throw new Failure('user-disabled');
    return application.queries.self(user);
  }

  @Authorized('admin')
  @Query(() => UserPage)
  users(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => UserListArgs) { keyword, group, ...request }: UserListArgs,
  ): Promise<Page<UserRow>> {
    return application.queries.users(viewer, request, { keyword: keyword ?? '', group: group ?? '' });
  }

  @Authorized('admin')
  @Query(() => UserObject)
  user(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
  ): Promise<UserRow> {
    return application.queries.user(viewer, UserId(id));
  }

  @Authorized('admin')
  @Mutation(() => UserObject, { complexity: hashingCost })
  async createUser(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('input', () => NewUserInput) input: NewUserInput,
  ): Promise<UserRow> {
    const { id, position } = await context.application.users.create(viewer, input);
    return written(context, viewer, id, position);
  }

  @Authorized('admin')
  @Mutation(() => UserObject, { complexity: hashingCost })
  async editUser(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
    @Arg('patch', () => UserPatchInput) { username, password, displayName, group, quota }: UserPatchInput,
  ): Promise<UserRow> {
    const id = UserId(rawId);
    const position = await context.application.users.edit(viewer, id, {
      username: username ?? null,
      password: password ?? null,
      displayName: displayName ?? null,
      group: group ?? null,
      quota: quota ?? null,
      role: null,
    });
    return written(context, viewer, id, position);
  }

  @Authorized('admin')
  @Mutation(() => UserObject)
  async manageUser(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
    @Arg('action', () => UserActionEnum) action: UserAction,
  ): Promise<UserRow> {
    const id = UserId(rawId);
    return written(context, viewer, id, await context.application.users.manage(viewer, id, action));
  }

  @Authorized('admin')
  @Mutation(() => UserObject)
  async adjustQuota(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
    @Arg('delta', () => QuotaScalar, { description: 'Added to the balance; negative: taken off.' }) delta: number,
    @Arg('gift', () => QuotaScalar, { defaultValue: 0, description: 'Given on top of it.' }) gift: number,
  ): Promise<UserRow> {
    const id = UserId(rawId);
    return written(context, viewer, id, await context.application.users.adjustQuota(viewer, id, delta, gift));
  }

  @Authorized()
  @Mutation(() => UserObject, { complexity: hashingCost })
  async changeOwnProfile(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('patch', () => ProfilePatchInput) { username, password, displayName }: ProfilePatchInput,
  ): Promise<UserRow> {
    const position = await application.users.changeOwnProfile(viewer, {
      username: username ?? null,
      password: password ?? null,
      displayName: displayName ?? null,
    });
    await application.visible(position);
    return application.queries.self(viewer);
  }
}

/** The user after a change, deleted ones included. */
async function written(
  { application }: GraphqlContext,
  viewer: UserView,
  id: UserId,
  position: Position,
): Promise<UserRow> {
  await application.visible(position);
  const [row] = await application.queries.usersById(viewer, [id]);
  if (row === undefined) throw new Failure('user-not-found');
  return row;
}
