import { Arg, Authorized, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { UserRow } from '../../projections/models/users.js';
import { attempting, type GraphqlContext, Viewer } from '../server/context.js';
import { OrderKeyArg, orderKeyIn } from '../server/order-key.js';
import { StepUpArg, sessionProofOf } from '../server/proof.js';
import { QuotaScalar } from '../server/scalars.js';
import { UserObject } from './user.js';

@Resolver()
export class OwnAccountResolver {
  @Authorized()
  @Mutation(() => UserObject, {
    description: 'Makes an address one’s own, with the code `sendEmailCode` has sent there.',
  })
  async bindEmail(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('email', () => String) email: string,
    @Arg('code', () => String) code: string,
    @StepUpArg() stepUp?: string | null,
  ): Promise<UserRow> {
    attempting(context);
    const sessionProof = sessionProofOf(context, stepUp);
    const { ownEmail, queries, visible } = context.application;
    await visible(await ownEmail.change(viewer, email, code, sessionProof));
    return queries.self(viewer);
  }

  @Authorized()
  @Mutation(() => String, { description: 'The code by which one invites others; made at the first time, for ever.' })
  async issueInviteCode(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): Promise<string> {
    const { users, visible } = application;
    const { code, position } = await users.invites.ownCode(viewer);
    if (position !== null) await visible(position);
    return code;
  }

  @Authorized()
  @Mutation(() => UserObject, {
    description: 'Moves what was earned by inviting into the balance: at least a unit (`Status.quotaPerUnit`).',
  })
  async transferInviteReward(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('quota', () => QuotaScalar) quota: number,
    @OrderKeyArg() key?: string | null,
  ): Promise<UserRow> {
    const { users, queries, visible } = application;
    await visible(await users.inviteRewards.transfer(viewer, quota, orderKeyIn(key)));
    return queries.self(viewer);
  }

  @Authorized()
  @Query(() => Int, { description: 'How many responses the gateway stores of oneself, each with its conversation.' })
  storedResponses(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): Promise<number> {
    return application.storedResponses.count(viewer);
  }

  @Authorized()
  @Mutation(() => Int, {
    description: 'Deletes all responses that the gateway stores of oneself. The answer is how many there were.',
  })
  deleteStoredResponses(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): Promise<number> {
    return application.storedResponses.removeAll(viewer);
  }

  @Authorized()
  @Mutation(() => UserObject, { description: 'From now on one has no address.' })
  async removeEmail(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @StepUpArg() stepUp?: string | null,
  ): Promise<UserRow> {
    const { ownEmail, queries, visible } = context.application;
    await visible(await ownEmail.remove(viewer, sessionProofOf(context, stepUp)));
    return queries.self(viewer);
  }
}
