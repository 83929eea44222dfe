import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  ID,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import { type IdentityProvider, identityProviders } from '../../domain/kernel/claim.js';
import { Failure } from '../../domain/kernel/failure.js';
import { UserId } from '../../domain/kernel/ids.js';
import type { Role } from '../../domain/user/role.js';
import type { Page } from '../../projections/engine/page.js';
import type { UserFilter, UserSort } from '../../projections/models/user-queries.js';
import type { UserRow } from '../../projections/models/users.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { CountedPage, PageArgs } from '../server/page.js';
import { QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';

export const RoleEnum = enumeration<Role>('Role', 'What a user may do.', {
  ORDINARY: 'ordinary',
  AUDITOR: 'auditor',
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

export const IdentityProviderEnum = enumeration<IdentityProvider>(
  'IdentityProvider',
  'Where else somebody may be known, and sign in.',
  { GITHUB: 'github', OIDC: 'oidc', LINUXDO: 'linuxdo', WECHAT: 'wechat', TELEGRAM: 'telegram' },
);

@ObjectType({ description: 'An account elsewhere by which the user may sign in.' })
class BoundIdentity {
  @Field(() => IdentityProviderEnum)
  readonly provider!: IdentityProvider;

  @Field(() => String, { description: 'What it is known by there; of others as `a***`.' })
  readonly name!: string;
}

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
      | 'invite_code'
      | 'invited_count'
      | 'invite_quota'
      | 'invite_quota_ever'
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

  @Field(() => String, { description: 'Of others as `a***@example.org`.' })
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

  @Field(() => String, {
    name: 'inviteCode',
    nullable: true,
    description: 'By which the user invites others; null: not asked for yet.',
  })
  readonly invite_code!: string | null;

  @Field(() => SafeIntScalar, { name: 'invitedCount', description: 'Users who came by the code.' })
  readonly invited_count!: number;

  @Field(() => QuotaScalar, {
    name: 'inviteQuota',
    description: 'Earned by inviting, and not to be spent before it is transferred.',
  })
  readonly invite_quota!: UserRow['invite_quota'];

  @Field(() => QuotaScalar, { name: 'inviteQuotaEver', description: 'Earned by inviting, transferred or not.' })
  readonly invite_quota_ever!: UserRow['invite_quota_ever'];
}

@ObjectType('UserPage')
class UserPage extends CountedPage implements Page<UserRow> {
  @Field(() => [UserObject])
  readonly items!: readonly UserRow[];
}

@ArgsType()
class UserListArgs extends PageArgs implements UserFilter {
  @Field(() => UserSortEnum, { defaultValue: 'id_desc' })
  readonly sort!: UserSort;

  @Field(() => String, {
    nullable: true,
    description: 'Part of the user name, the beginning of a word of e-mail address or display name, or an id.',
  })
  readonly keyword?: string;

  @Field(() => String, { nullable: true })
  readonly group?: string;
}

@Resolver(() => UserObject)
export class UserResolver {
  @Query(() => UserObject, { nullable: true, description: 'Oneself; null when nobody is signed in.' })
  async me(@Ctx() { application, caller }: GraphqlContext): Promise<UserRow | null> {
    const user = await caller.identified();
    if (user === null) return null;
    if (user.status !== 'enabled') throw new Failure('user-disabled');
    return application.queries.self(user);
  }

  @FieldResolver(() => [BoundIdentity])
  identities(@Root() user: UserRow): BoundIdentity[] {
    return identityProviders
      .filter((provider) => user[provider] !== '')
      .map((provider) => ({ provider, name: user[provider] }));
  }

  @Authorized('admin-reading')
  @FieldResolver(() => UserObject, {
    nullable: true,
    description: 'Who has invited the user; null: nobody, or somebody who has been erased. For administrators.',
  })
  async inviter(@Root() { inviter_id }: UserRow, @Ctx() { userById }: GraphqlContext): Promise<UserRow | null> {
    const inviter = inviter_id === null ? null : await userById(inviter_id);
    return inviter === null || inviter.erased ? null : inviter;
  }

  @FieldResolver(() => Boolean, { description: 'Whether there is a password to sign in with.' })
  hasPassword(@Root() user: UserRow): boolean {
    return user.password_secret !== null;
  }

  @Authorized('admin-reading')
  @Query(() => UserPage)
  users(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => UserListArgs) { keyword, group, ...request }: UserListArgs,
  ): Promise<Page<UserRow>> {
    return application.queries.users(viewer, request, { keyword: keyword ?? '', group: group ?? '' });
  }

  @Authorized('admin-reading')
  @Query(() => UserObject)
  user(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
  ): Promise<UserRow> {
    return application.queries.user(viewer, UserId(id));
  }
}
