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
import type { ReadableRedemption } from '../../application/redemptions/redemption-queries.js';
import { RedemptionId } from '../../domain/kernel/ids.js';
import type { RedemptionStatus } from '../../domain/payment/redemption.js';
import type { Page } from '../../projections/engine/page.js';
import type { UserRow } from '../../projections/models/users.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { CountedPage, PageArgs } from '../server/page.js';
import { QuotaScalar, TimestampScalar } from '../server/scalars.js';
import { UserObject } from '../users/user.js';

const RedemptionStatusEnum = enumeration<RedemptionStatus>('RedemptionStatus', 'What has become of a code.', {
  UNUSED: 'unused',
  DISABLED: 'disabled',
  USED: 'used',
});

@ObjectType('RedemptionCode', { description: 'Worth quota to whoever redeems it first.' })
export class RedemptionCodeObject
  implements
    Pick<
      ReadableRedemption,
      'id' | 'code' | 'name' | 'status' | 'quota' | 'created_at' | 'created_by' | 'redeemed_at' | 'redeemed_by'
    >
{
  @Field(() => ID)
  readonly id!: RedemptionId;

  @Authorized('admin-reading')
  @Field(() => String, { description: '32 characters; empty: its text is lost.' })
  readonly code!: string;

  @Field(() => String)
  readonly name!: string;

  @Field(() => RedemptionStatusEnum)
  readonly status!: RedemptionStatus;

  @Field(() => QuotaScalar)
  readonly quota!: ReadableRedemption['quota'];

  @Field(() => TimestampScalar, { name: 'createdAt' })
  readonly created_at!: number;

  @Field(() => ID, { name: 'createdById' })
  readonly created_by!: ReadableRedemption['created_by'];

  @Field(() => TimestampScalar, { name: 'redeemedAt', nullable: true })
  readonly redeemed_at!: number | null;

  @Field(() => ID, { name: 'redeemedById', nullable: true })
  readonly redeemed_by!: ReadableRedemption['redeemed_by'];
}

@ObjectType()
class RedemptionCodePage extends CountedPage implements Page<ReadableRedemption> {
  @Field(() => [RedemptionCodeObject])
  readonly items!: readonly ReadableRedemption[];
}

@ArgsType()
class RedemptionCodesArgs extends PageArgs {
  @Field(() => String, { nullable: true, description: 'The beginning of the name, or an id.' })
  readonly keyword?: string;

  @Field(() => RedemptionStatusEnum, { nullable: true })
  readonly status?: RedemptionStatus;
}

@Resolver(() => RedemptionCodeObject)
export class RedemptionResolver {
  @Authorized('admin-reading')
  @FieldResolver(() => UserObject, { nullable: true, description: 'null: nobody has.' })
  redeemedBy(
    @Root() { redeemed_by }: ReadableRedemption,
    @Ctx() { userById }: GraphqlContext,
  ): Promise<UserRow | null> {
    return redeemed_by === null ? Promise.resolve(null) : userById(redeemed_by);
  }

  @Authorized('admin-reading')
  @Query(() => RedemptionCodePage, { description: 'Newest first.' })
  redemptionCodes(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => RedemptionCodesArgs) { page, size, keyword, status }: RedemptionCodesArgs,
  ): Promise<Page<ReadableRedemption>> {
    const filter = { keyword: keyword ?? undefined, status: status ?? undefined };
    return application.queries.redemptions(viewer, { page, size }, filter);
  }

  @Authorized('admin-reading')
  @Query(() => RedemptionCodeObject)
  redemptionCode(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
  ): Promise<ReadableRedemption> {
    return application.queries.redemption(viewer, RedemptionId(id));
  }
}
