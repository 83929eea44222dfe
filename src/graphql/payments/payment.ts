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
import type { RefusalReason, RefusedWebhooks } from '../../application/notifications/refused-webhooks.js';
import type { TopUpMethod } from '../../application/payments/payment-queries.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { PaymentId, UserId } from '../../domain/kernel/ids.js';
import type { ExpiryReason, Learned, PaymentProviderName } from '../../domain/payment/payment.js';
import type { TopUpOffer } from '../../domain/payment/top-up-price.js';
import type { Page } from '../../projections/engine/page.js';
import type { PaymentRow, PaymentStatus } from '../../projections/models/payments.js';
import type { UserRow } from '../../projections/models/users.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { CountedPage, PageArgs } from '../server/page.js';
import { DecimalScalar, QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { UserObject } from '../users/user.js';

const PaymentProviderEnum = enumeration<PaymentProviderName>('PaymentProvider', 'Who takes the money.', {
  EPAY: 'epay',
  STRIPE: 'stripe',
});

const PaymentStatusEnum = enumeration<PaymentStatus>(
  'PaymentStatus',
  'EXPIRED: nobody waits for the money any more; if it comes all the same, it is credited.',
  { OPEN: 'open', COMPLETED: 'completed', EXPIRED: 'expired' },
);

const LearnedEnum = enumeration<Learned['by']>('PaymentLearned', 'By what the gateway learned of the money.', {
  NOTICE: 'notice',
  POLL: 'poll',
  HAND: 'hand',
});

const ExpiryEnum = enumeration<ExpiryReason>('PaymentExpiry', 'Why nobody waits for the money any more.', {
  TIME: 'time',
  PROVIDER: 'provider',
});

const RefusalEnum = enumeration<RefusalReason>('NoticeRefusal', 'Why a notice of a payment was not believed.', {
  NOT_CONFIGURED: 'not-configured',
  MALFORMED: 'malformed',
  WRONG_SIGNATURE: 'wrong-signature',
  WRONG_MERCHANT: 'wrong-merchant',
  DIFFERS: 'differs',
  UNANSWERED: 'unanswered',
  UNKNOWN_ORDER: 'unknown-order',
});

@ObjectType('Payment', { description: 'An order of quota for money.' })
export class PaymentObject
  implements Omit<PaymentRow, 'position' | 'session' | 'completed_by' | 'user_id' | 'disputes'>
{
  @Field(() => ID, { description: 'The trade number.' })
  readonly id!: PaymentRow['id'];

  @Field(() => PaymentProviderEnum)
  readonly provider!: PaymentProviderName;

  @Field(() => String, { description: 'By which the money is to come, as the provider calls it.' })
  readonly method!: string;

  @Field(() => PaymentStatusEnum)
  readonly status!: PaymentStatus;

  @Field(() => SafeIntScalar, { description: 'As it was asked for: dollars, or quota where that is what is shown.' })
  readonly amount!: number;

  @Field(() => QuotaScalar)
  readonly quota!: PaymentRow['quota'];

  @Field(() => DecimalScalar)
  readonly money!: string;

  @Field(() => String, { description: 'ISO 4217.' })
  readonly currency!: string;

  @Field(() => String, { description: 'The provider’s own number of the payment; empty: none is known.' })
  readonly reference!: string;

  @Field(() => LearnedEnum, { nullable: true, description: 'null: the money has not come.' })
  readonly learned!: Learned['by'] | null;

  @Authorized('admin-reading')
  @Field(() => String, { nullable: true, description: 'Why it was completed by hand; for administrators.' })
  readonly reason!: string | null;

  @Field(() => Boolean, { description: 'It was paid after it had expired.' })
  readonly late!: boolean;

  @Field(() => ExpiryEnum, { nullable: true })
  readonly expiry!: ExpiryReason | null;

  @Field(() => DecimalScalar, { nullable: true, description: 'All that was refunded of the money; null: nothing.' })
  readonly refunded!: string | null;

  @Field(() => QuotaScalar, { name: 'takenBack', description: 'Of the quota, for money that has gone back.' })
  readonly taken_back!: PaymentRow['taken_back'];

  @Field(() => TimestampScalar, { name: 'createdAt' })
  readonly created_at!: number;

  @Field(() => TimestampScalar, { name: 'changedAt', description: 'When its status last changed.' })
  readonly changed_at!: number;
}

@ObjectType()
class PaymentPage extends CountedPage implements Page<PaymentRow> {
  @Field(() => [PaymentObject])
  readonly items!: readonly PaymentRow[];
}

@ObjectType('TopUpMethod')
class TopUpMethodObject implements TopUpMethod {
  @Field(() => PaymentProviderEnum)
  readonly provider!: PaymentProviderName;

  @Field(() => String, { description: 'With this an order is begun.' })
  readonly method!: string;

  @Field(() => String, { description: 'ISO 4217.' })
  readonly currency!: string;
}

@ObjectType({ description: 'How quota can be bought.' })
class TopUpOffers {
  @Field(() => [TopUpMethodObject], { description: 'None: it cannot be bought here.' })
  readonly methods!: readonly TopUpMethod[];

  @Field(() => SafeIntScalar, { description: 'The least at once, in the unit of amounts.' })
  readonly minimum!: number;
}

@ObjectType('TopUpPrice')
class TopUpPriceObject implements TopUpOffer {
  @Field(() => QuotaScalar)
  readonly quota!: TopUpOffer['quota'];

  @Field(() => DecimalScalar)
  readonly money!: string;

  @Field(() => String, { description: 'ISO 4217.' })
  readonly currency!: string;
}

@ObjectType('RefusedNotices')
class RefusedNoticesObject implements RefusedWebhooks {
  @Field(() => PaymentProviderEnum)
  readonly provider!: PaymentProviderName;

  @Field(() => RefusalEnum)
  readonly reason!: RefusalReason;

  @Field(() => SafeIntScalar, { description: 'Since the process began.' })
  readonly count!: number;
}

@ArgsType()
class PaymentsArgs extends PageArgs {
  @Field(() => PaymentStatusEnum, { nullable: true })
  readonly status?: PaymentStatus;

  @Field(() => ID, { nullable: true, description: 'Who ordered.' })
  readonly userId?: string;

  @Field(() => ID, { nullable: true, description: 'The whole trade number.' })
  readonly id?: string;
}

@Resolver(() => PaymentObject)
export class PaymentResolver {
  @Authorized()
  @Query(() => TopUpOffers)
  topUpOffers(@Ctx() { application }: GraphqlContext): TopUpOffers {
    return application.queries.topUpOffers();
  }

  @Authorized()
  @Query(() => TopUpPriceObject, { description: 'What an amount costs.' })
  topUpPrice(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('amount', () => SafeIntScalar, { description: 'Dollars, or quota where that is what is shown.' })
    amount: number,
    @Arg('method', () => String, { nullable: true }) method?: string | null,
  ): TopUpPriceObject {
    return application.payments.price(viewer, amount, method ?? null);
  }

  @Authorized()
  @Query(() => PaymentPage, { description: 'One’s own, newest first.' })
  ownPayments(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => PageArgs) request: PageArgs,
  ): Promise<Page<PaymentRow>> {
    return application.queries.ownPayments(viewer, request);
  }

  @Authorized('admin-reading')
  @Query(() => PaymentPage, { description: 'Everybody’s, newest first.' })
  payments(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => PaymentsArgs) { page, size, status, userId, id }: PaymentsArgs,
  ): Promise<Page<PaymentRow>> {
    const filter = {
      ...(status && { status }),
      ...(userId && { userId: UserId(userId) }),
      ...(id && { id: PaymentId(id) }),
    };
    return application.queries.payments(viewer, { page, size }, filter);
  }

  @Authorized('admin-reading')
  @Query(() => [RefusedNoticesObject], { description: 'Notices of payments that were not believed.' })
  refusedNotices(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): readonly RefusedWebhooks[] {
    return application.payments.refusedWebhooks(viewer);
  }

  @FieldResolver(() => Boolean, { description: 'The money is gone by a dispute, which is open or lost.' })
  disputed(@Root() { disputes }: PaymentRow): boolean {
    return disputes > 0;
  }

  @Authorized('admin-reading')
  @FieldResolver(() => UserObject, { nullable: true, description: 'Who ordered; for administrators.' })
  user(@Root() { user_id }: PaymentRow, @Ctx() { userById }: GraphqlContext): Promise<UserRow | null> {
    return userById(user_id);
  }

  @Authorized('admin-reading')
  @FieldResolver(() => UserObject, { nullable: true, description: 'Who completed it by hand; for administrators.' })
  completedBy(
    @Root() { completed_by }: PaymentRow,
    @Ctx() { userById }: GraphqlContext,
  ): Promise<UserRow | null> | null {
    return completed_by === null ? null : userById(completed_by);
  }
}
