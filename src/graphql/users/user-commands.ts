import { Arg, Authorized, Ctx, Field, ID, InputType, Mutation, Resolver } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { UserPatch } from '../../application/users/user-profile.js';
import type { NewUser } from '../../application/users/user-registration.js';
import type { UserAction } from '../../application/users/user-status.js';
import type { Position } from '../../domain/events/events.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';
import { UserId } from '../../domain/kernel/ids.js';
import type { Role } from '../../domain/user/role.js';
import type { UserRow } from '../../projections/models/users.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { OrderKeyArg, orderKeyIn } from '../server/order-key.js';
import { StepUpArg, sessionProofOf } from '../server/proof.js';
import { QuotaScalar } from '../server/scalars.js';
import { RoleEnum, UserObject } from './user.js';

const UserActionEnum = enumeration<UserAction>('UserAction', 'What an administrator may do to a user.', {
  ENABLE: 'enable',
  DISABLE: 'disable',
  DELETE: 'delete',
  PROMOTE: 'promote',
  DEMOTE: 'demote',
  APPOINT_AUDITOR: 'appoint-auditor',
});

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
class ProfilePatchInput implements Partial<Pick<UserPatch, 'username' | 'password' | 'displayName'>> {
  @Field(() => String, { nullable: true })
  readonly username?: string | null;

  @Field(() => String, { nullable: true })
  readonly password?: string | null;

  @Field(() => String, { nullable: true })
  readonly displayName?: string | null;
}

@InputType({ description: 'What is missing or null stays as it is.' })
class UserPatchInput extends ProfilePatchInput implements Partial<Omit<UserPatch, 'role'>> {
  @Field(() => String, { nullable: true })
  readonly group?: string | null;

  @Field(() => QuotaScalar, {
    nullable: true,
    description: 'The balance the user shall have; goes with `shownQuota`.',
  })
  readonly quota?: number | null;

  @Field(() => QuotaScalar, {
    nullable: true,
    description: 'The balance the form showed: what is added is the difference, whatever was spent meanwhile.',
  })
  readonly shownQuota?: number | null;
}

/** A password is hashed slowly on purpose: a few of these are all an operation may hold. */
const hashingCost = 500;

@Resolver()
export class UserCommandResolver {
  @Authorized('admin')
  @Mutation(() => UserObject, { complexity: hashingCost })
  async createUser(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('input', () => NewUserInput) input: NewUserInput,
    @OrderKeyArg() key?: string | null,
  ): Promise<UserRow> {
    const { id, position } = await context.application.users.create(viewer, input, orderKeyIn(key));
    return written(context, viewer, id, position);
  }

  @Authorized('admin')
  @Mutation(() => UserObject, {
    complexity: hashingCost,
    description: 'A new password ends all sessions and the access token of the user.',
  })
  async editUser(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
    @Arg('patch', () => UserPatchInput) patch: UserPatchInput,
    @OrderKeyArg() key?: string | null,
    @StepUpArg() stepUp?: string | null,
  ): Promise<UserRow> {
    const id = UserId(rawId);
    const { username, password, displayName, group, quota, shownQuota } = patch;
    if (typeof quota === 'number' && typeof shownQuota !== 'number')
      throw invalidField('patch.shownQuota', 'the balance that the form showed; required together with quota');
    const edited: UserPatch = {
      username: username ?? null,
      password: password ?? null,
      displayName: displayName ?? null,
      group: group ?? null,
      quota: quota ?? null,
      shownQuota: shownQuota ?? null,
      role: null,
    };
    const position = await context.application.users.edit(viewer, id, edited, {
      key: orderKeyIn(key),
      sessionProof: sessionProofOf(context, stepUp),
    });
    if (password && id === viewer.id) await goOn(context, viewer, position);
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
  @Mutation(() => Boolean, {
    description:
      'Deletes the user and the key of their personal data for good: name, address and identities are free, nothing of them is shown any more. What was charged stays in the books.',
  })
  async eraseUser(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
  ): Promise<boolean> {
    await application.visible(await application.users.erase(viewer, UserId(id)));
    return true;
  }

  @Authorized('admin')
  @Mutation(() => UserObject, { description: 'Ends each session of the user, and the access token.' })
  async endSignIns(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
  ): Promise<UserRow> {
    const id = UserId(rawId);
    return written(context, viewer, id, await context.application.users.endSignIns(viewer, id));
  }

  @Authorized('admin')
  @Mutation(() => UserObject)
  async adjustQuota(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
    @Arg('delta', () => QuotaScalar, { description: 'Added to the balance; negative: taken off.' }) delta: number,
    @Arg('gift', () => QuotaScalar, { defaultValue: 0, description: 'Given on top of it.' }) gift: number,
    @OrderKeyArg() key?: string | null,
  ): Promise<UserRow> {
    const id = UserId(rawId);
    const position = await context.application.users.adjustQuota(viewer, id, { delta, gift }, orderKeyIn(key));
    return written(context, viewer, id, position);
  }

  @Authorized()
  @Mutation(() => UserObject, {
    complexity: hashingCost,
    description:
      'A new password ends all sessions and the access token of the user. Who came with a session goes on with a new one.',
  })
  async changeOwnProfile(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('patch', () => ProfilePatchInput) { username, password, displayName }: ProfilePatchInput,
    @StepUpArg() stepUp?: string | null,
  ): Promise<UserRow> {
    const { application } = context;
    const patch = { username: username ?? null, password: password ?? null, displayName: displayName ?? null };
    const position = await application.users.changeOwnProfile(viewer, patch, sessionProofOf(context, stepUp));
    if (password) await goOn(context, viewer, position);
    await application.visible(position);
    return application.queries.self(viewer);
  }

  @Authorized()
  @Mutation(() => Boolean, {
    description: 'Deletes oneself: name, address and identities stay reserved, all sessions and API keys end.',
  })
  async deleteOwnAccount(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('username', () => String, { description: 'One’s own, typed: it cannot be undone.' }) username: string,
    @StepUpArg() stepUp?: string | null,
  ): Promise<boolean> {
    const { application, browser } = context;
    const sessionProof = sessionProofOf(context, stepUp);
    if (username !== viewer.username) throw invalidField('username', 'your own user name');
    await application.visible(await application.users.deleteOwnAccount(viewer, sessionProof));
    browser?.signOut();
    return true;
  }
}

/** A new password has ended all of the user's sessions: the browser that gave it gets another one. */
async function goOn(
  { application, caller, browser }: GraphqlContext,
  viewer: UserView,
  position: Position,
): Promise<void> {
  if (caller.credentials.kind === 'session' && browser !== null)
    browser.signIn(viewer, await application.identity.reopen(viewer.id, position, browser.client));
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
