import { ArrayMaxSize, Max, Min } from 'class-validator';
import { Args, ArgsType, Authorized, Ctx, Field, InputType, Int, ObjectType, Query, Resolver } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { Counts } from '../../domain/call/usage.js';
import { invalidField } from '../../domain/kernel/failure.js';
import type { Billing } from '../../domain/pricing/billing.js';
import type { ExampleBill, QuantityPrice } from '../../domain/pricing/example-bill.js';
import { isQuantity, quantityNames } from '../../domain/pricing/quantities.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { DecimalScalar, SafeIntScalar } from '../server/scalars.js';
import { BillingObject } from '../usage/billing.js';
import { PricePeriodsScalar } from './price-record.js';

/* What a call would cost by a record that is being edited. */

@InputType()
class UsedQuantityInput {
  @Field(() => String, { description: 'As bills name it: input, output, images, calls:web_search, …' })
  readonly quantity!: string;

  @Field(() => SafeIntScalar)
  readonly count!: number;
}

/** Kinds of what can be used. */
const maxQuantities = 50;

@ArgsType()
class ExampleBillArgs {
  @Field(() => String)
  readonly model!: string;

  @Field(() => PricePeriodsScalar, { description: 'The record, which need not be stored.' })
  readonly periods!: unknown;

  @Field(() => Int, { defaultValue: 0, description: 'Which of its periods, from 0.' })
  @Min(0)
  @Max(100)
  readonly period!: number;

  @Field(() => [UsedQuantityInput])
  @ArrayMaxSize(maxQuantities)
  readonly usage!: UsedQuantityInput[];

  @Field(() => String, { defaultValue: '', description: 'Empty: one whose ratio is 1.' })
  readonly group!: string;

  @Field(() => String, { nullable: true, description: 'The tier of service; null: the usual one.' })
  readonly serviceTier?: string | null;
}

@ObjectType('QuantityPrice', { description: 'What one of a kind costs, at both sides.' })
class QuantityPriceObject implements QuantityPrice {
  @Field(() => String, { description: 'As bills name it.' })
  readonly quantity!: QuantityPrice['quantity'];

  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Quota for one, for a group whose ratio is 1; null: no price.',
  })
  readonly unitPrice!: string | null;

  @Field(() => DecimalScalar, { nullable: true, description: 'What the provider takes; null: no purchase price.' })
  readonly purchaseUnitPrice!: string | null;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Relative to what is paid: 0.2 is 20 %. null: there is none.',
  })
  readonly margin!: string | null;
}

@ObjectType('ExampleBill', { description: 'What a call would cost, and what the provider would take for it.' })
class ExampleBillObject implements ExampleBill {
  @Field(() => BillingObject, { nullable: true, description: 'null: the record has no price.' })
  readonly billing!: Billing | null;

  @Field(() => BillingObject, { nullable: true, description: 'null: no purchase price is stated.' })
  readonly purchase!: Billing | null;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Relative to the purchase: 0.2 is 20 %. null: there is none.',
  })
  readonly margin!: string | null;

  @Field(() => [QuantityPriceObject], { description: 'Below the first context tier.' })
  readonly quantities!: readonly QuantityPrice[];
}

function usageOf(used: readonly UsedQuantityInput[]): Counts {
  const usage: Counts = {};
  used.forEach(({ quantity, count }, index) => {
    if (!isQuantity(quantity)) throw invalidField(`usage[${index}].quantity`, `one of ${quantityNames.join(', ')}`);
    if (count < 0) throw invalidField(`usage[${index}].count`, 'a whole number from 0');
    usage[quantity] = count;
  });
  return usage;
}

@Resolver()
export class ExampleBillResolver {
  @Authorized('root-reading')
  @Query(() => ExampleBillObject, { description: 'Worked out as calls are charged. Nothing is stored.' })
  exampleBill(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ExampleBillArgs) { model, periods, period, usage, group, serviceTier }: ExampleBillArgs,
  ): ExampleBill {
    const call = { model, periods, period, usage: usageOf(usage), group, serviceTier: serviceTier ?? null };
    return application.queries.exampleBill(viewer, call);
  }
}
