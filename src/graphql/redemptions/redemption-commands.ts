import { Arg, Authorized, Ctx, Field, ID, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { RedemptionInput } from '../../application/redemptions/issue-codes.js';
import type { ReadableRedemption } from '../../application/redemptions/redemption-queries.js';
import type { Position } from '../../domain/events/events.js';
import { RedemptionId } from '../../domain/kernel/ids.js';
import type { Quota } from '../../domain/kernel/quota.js';
import { rateLimitKey } from '../../http/client-network.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { OrderKeyArg, orderKeyIn } from '../server/order-key.js';
import { QuotaScalar } from '../server/scalars.js';
import { RedemptionCodeObject } from './redemption.js';

@InputType('RedemptionCodeInput')
class RedemptionCodeInput implements RedemptionInput {
  @Field(() => String, { description: 'For administrators; 1 to 20 bytes.' })
  readonly name!: string;

  @Field(() => QuotaScalar, { description: 'What the code is worth; from 1.' })
  readonly quota!: number;
}

@ObjectType({ description: 'What has become of a batch.' })
class IssuedRedemptionCodes {
  @Field(() => [String], { description: 'Those there are now.' })
  readonly codes!: readonly string[];

  @Field(() => String, {
    nullable: true,
    description:
      'Why the others are missing, as a code of errors; null: none is. The same order with its key makes them.',
  })
  readonly failure!: string | null;
}

/** Every code is written by itself: a batch may hold few others beside it. */
const batchCost = 500;

@Resolver()
export class RedemptionCommandResolver {
  @Authorized('admin')
  @Mutation(() => IssuedRedemptionCodes, { complexity: batchCost })
  async issueRedemptionCodes(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('input', () => RedemptionCodeInput) input: RedemptionCodeInput,
    @Arg('count', () => Int, { defaultValue: 1, description: '1 to 100.' }) count: number,
    @OrderKeyArg() key?: string | null,
  ): Promise<IssuedRedemptionCodes> {
    const { codes, position, failure } = await application.redemptions.issue(viewer, input, count, orderKeyIn(key));
    await application.visible(position);
    return { codes: codes.map(({ code }) => code), failure: failure?.code ?? null };
  }

  @Authorized('admin')
  @Mutation(() => RedemptionCodeObject, { description: 'Only unused codes can be edited.' })
  async editRedemptionCode(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
    @Arg('input', () => RedemptionCodeInput) input: RedemptionCodeInput,
  ): Promise<ReadableRedemption> {
    const id = RedemptionId(rawId);
    return written(context, viewer, id, await context.application.redemptions.edit(viewer, id, input));
  }

  @Authorized('admin')
  @Mutation(() => RedemptionCodeObject, { description: 'A code that has been used stays as it is.' })
  async setRedemptionCodeEnabled(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
    @Arg('enabled', () => Boolean) enabled: boolean,
  ): Promise<ReadableRedemption> {
    const id = RedemptionId(rawId);
    return written(context, viewer, id, await context.application.redemptions.setEnabled(viewer, id, enabled));
  }

  @Authorized('admin')
  @Mutation(() => ID, { description: 'Answers with the id of the code that is gone; what it has credited stays.' })
  async deleteRedemptionCode(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
  ): Promise<RedemptionId> {
    const id = RedemptionId(rawId);
    await application.visible(await application.redemptions.remove(viewer, id));
    return id;
  }

  @Authorized()
  @Mutation(() => QuotaScalar, { description: 'Adds what a code is worth to one’s own balance; answers with it.' })
  async redeem(
    @Ctx() { application, address }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('code', () => String) code: string,
    @OrderKeyArg() key?: string | null,
  ): Promise<Quota> {
    const order = orderKeyIn(key);
    const { quota, position } = await application.redemptions.redeem(viewer, code, rateLimitKey(address), order);
    await application.visible(position);
    return quota;
  }
}

/** The code as it is now that it has been changed. */
async function written(
  { application }: GraphqlContext,
  viewer: UserView,
  id: RedemptionId,
  position: Position,
): Promise<ReadableRedemption> {
  await application.visible(position);
  return application.queries.redemption(viewer, id);
}
