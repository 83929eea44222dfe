import { ArrayMaxSize, ArrayMinSize } from 'class-validator';
import {
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { DifferenceFilter, DifferencePage } from '../../application/prices/price-updates.js';
import type { Position } from '../../domain/events/events.js';
import {
  appliesUnasked,
  type Caution,
  type DifferenceKind,
  type PriceDifference,
  type PriceMove,
} from '../../domain/pricing/sources/price-differences.js';
import type { SkippedModel, SkipReason } from '../../domain/pricing/sources/published-price.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { CountedPage, PageArgs } from '../server/page.js';
import { DecimalScalar, SafeIntScalar } from '../server/scalars.js';
import { seenIn } from './price-record.js';

/* What a source of prices would change, and what is applied of it. */

const KindEnum = enumeration<DifferenceKind>('PriceDifferenceKind', 'What a source would make of a price.', {
  NEW: 'new',
  DEARER: 'dearer',
  CHEAPER: 'cheaper',
  OTHER_KIND: 'other-kind',
  GONE: 'gone',
  SAME: 'same',
});

const CautionEnum = enumeration<Caution>('PriceCaution', 'Why a change of a price waits for a person.', {
  BEYOND_BOUNDS: 'beyond-bounds',
  TO_ZERO: 'to-zero',
  NEW_MODEL: 'new-model',
  NEW_QUANTITY: 'new-quantity',
  OTHER_KIND: 'other-kind',
  SET_BY_HAND: 'set-by-hand',
  BELOW_PURCHASE: 'below-purchase',
});

const SkipReasonEnum = enumeration<SkipReason>('PriceSkipReason', 'Why a model of a price list is left out.', {
  NEGATIVE: 'negative',
  NOT_A_NUMBER: 'not-a-number',
  TOO_LARGE: 'too-large',
  TOO_SMALL: 'too-small',
  ZERO: 'zero',
  OTHER_CURRENCY: 'other-currency',
  NAMED_TWICE: 'named-twice',
  NAME_INVALID: 'name-invalid',
  NOT_COUNTED: 'not-counted',
  SHAPE_INVALID: 'shape-invalid',
  MIXED: 'mixed',
});

@ObjectType('PriceMove', { description: 'One amount of a price.' })
class PriceMoveObject implements PriceMove {
  @Field(() => String, {
    description:
      'A kind of token (USD of a million), `call` or a piece (USD of one); `input>200000`: beyond that length; `tier:flex`: a factor; `picture:1024x1024/hd`.',
  })
  readonly name!: string;

  @Field(() => DecimalScalar, { nullable: true, description: 'null: it has none.' })
  readonly before!: string | null;

  @Field(() => DecimalScalar, { nullable: true, description: 'null: it will have none.' })
  readonly after!: string | null;

  @Field(() => String, { nullable: true, description: 'The day from which it holds, in UTC; null: at once.' })
  readonly from!: string | null;
}

@ObjectType('PriceDifference', { description: 'What a source would change of a model.' })
class PriceDifferenceObject implements Omit<PriceDifference, 'periods' | 'kind' | 'cautions'> {
  @Field(() => String)
  readonly model!: string;

  @Field(() => String, { nullable: true, description: 'As the source names it.' })
  readonly vendor!: string | null;

  @Field(() => KindEnum)
  readonly kind!: DifferenceKind;

  @Field(() => [PriceMoveObject])
  readonly moves!: readonly PriceMove[];

  @Field(() => DecimalScalar, { nullable: true, description: 'The largest move, above 1; null: nothing to compare.' })
  readonly factor!: string | null;

  @Field(() => DecimalScalar, { description: 'Of the selling price over the price of the source.' })
  readonly margin!: string;

  @Field(() => [String], { description: 'Groups of users that would pay less than the source takes.' })
  readonly groupsBelow!: readonly string[];

  @Field(() => Boolean, { description: 'The source says that the model is free.' })
  readonly isFree!: boolean;

  @Field(() => [String], { description: 'Members of the list with a price that the gateway has no quantity for.' })
  readonly unread!: readonly string[];

  @Field(() => [CautionEnum])
  readonly cautions!: readonly Caution[];
}

@ObjectType('SkippedPrice', { description: 'A model of a price list that is left out.' })
class SkippedPriceObject implements SkippedModel {
  @Field(() => String)
  readonly model!: string;

  @Field(() => SkipReasonEnum)
  readonly reason!: SkipReason;

  @Field(() => String, { nullable: true, description: 'The member of the list that is wrong.' })
  readonly member!: string | null;
}

@ObjectType({ description: 'How many models of a source there are of a kind.' })
class PriceDifferenceCount {
  @Field(() => KindEnum)
  readonly kind!: DifferenceKind;

  @Field(() => SafeIntScalar)
  readonly count!: number;
}

/** Of those left out so many are named. */
const maxSkippedNamed = 100;

@ObjectType()
class PriceDifferencePage extends CountedPage implements Pick<DifferencePage, 'items' | 'reading' | 'seenAt'> {
  @Field(() => [PriceDifferenceObject])
  readonly items!: readonly PriceDifference[];

  @Field(() => String, { description: 'What the source said: give it with what is to be applied.' })
  readonly reading!: string;

  @Field(() => SafeIntScalar, { description: 'Of the last change of prices: give it with what is to be applied.' })
  readonly seenAt!: Position;

  @Field(() => SafeIntScalar, { description: 'Of those that are found, how many have a price to apply.' })
  readonly applicable!: number;

  @Field(() => SafeIntScalar, { description: 'Of those, how many sell below the price of the source to some group.' })
  readonly belowPurchase!: number;
}

@InputType()
class PriceDifferenceFilterInput implements DifferenceFilter {
  @Field(() => String, { defaultValue: '', description: 'Part of the name of the model.' })
  readonly search!: string;

  @Field(() => [KindEnum], { nullable: true, description: 'null: all but those that are the same.' })
  @ArrayMaxSize(6)
  readonly kinds!: readonly DifferenceKind[] | null;

  @Field(() => Boolean, { defaultValue: false, description: 'Only models that some channel serves.' })
  readonly servedOnly!: boolean;

  @Field(() => Boolean, { defaultValue: false, description: 'Only what may be applied by itself.' })
  readonly withinBoundsOnly!: boolean;
}

const filterOf = (input: PriceDifferenceFilterInput | null | undefined): DifferenceFilter => ({
  search: input?.search ?? '',
  kinds: input?.kinds ?? null,
  servedOnly: input?.servedOnly ?? false,
  withinBoundsOnly: input?.withinBoundsOnly ?? false,
});

@ArgsType()
class PriceDifferenceArgs extends PageArgs {
  @Field(() => String)
  readonly source!: string;

  @Field(() => PriceDifferenceFilterInput, { nullable: true })
  readonly filter?: PriceDifferenceFilterInput | null;
}

@InputType({ description: 'What was looked at when the order is given.' })
class SeenDifferencesInput {
  @Field(() => String)
  readonly source!: string;

  @Field(() => String)
  readonly reading!: string;

  @Field(() => SafeIntScalar)
  readonly seenAt!: number;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Also prices that some group pays less by than the source takes; without it they are refused.',
  })
  readonly belowPurchase!: boolean;
}

const seenBy = (
  { source, reading, seenAt, belowPurchase }: SeenDifferencesInput,
  { tail }: GraphqlContext['application'],
) => ({
  ...{ source, reading, belowPurchase },
  seenAt: seenIn('seenAt', seenAt, tail.position()),
});

const maxPicked = 500;

@ArgsType()
class ApplyPricesArgs {
  @Field(() => SeenDifferencesInput)
  readonly seen!: SeenDifferencesInput;

  @Field(() => [String], { description: `1 to ${maxPicked}.` })
  @ArrayMinSize(1)
  @ArrayMaxSize(maxPicked)
  readonly models!: string[];
}

@ArgsType()
class ApplyAllPricesArgs {
  @Field(() => SeenDifferencesInput)
  readonly seen!: SeenDifferencesInput;

  @Field(() => PriceDifferenceFilterInput)
  readonly filter!: PriceDifferenceFilterInput;

  @Field(() => Int, { description: 'How many prices there were to apply: with another number nothing is.' })
  readonly count!: number;
}

@ObjectType()
class PricesApplied {
  @Field(() => SafeIntScalar)
  readonly applied!: number;
}

/** Thousands of models are compared, or looked through. */
const heavy = 200;

@Resolver(() => PriceDifferenceObject)
export class PriceDifferenceResolver {
  @FieldResolver(() => Boolean, { description: 'There is a price to apply.' })
  isApplicable(@Root() { periods }: PriceDifference): boolean {
    return periods !== null;
  }

  @FieldResolver(() => Boolean, { description: 'A daily fetch may apply it by itself.' })
  isWithinBounds(@Root() difference: PriceDifference): boolean {
    return appliesUnasked(difference);
  }
}

@Resolver(() => PriceDifferencePage)
export class PriceDifferencePageResolver {
  @Authorized('root')
  @Query(() => PriceDifferencePage, {
    complexity: heavy,
    description: 'Sorted by model. A source that this node has not read yet is fetched.',
  })
  priceDifferences(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => PriceDifferenceArgs) { source, filter, page, size }: PriceDifferenceArgs,
  ): Promise<DifferencePage> {
    return application.priceUpdates.priceDifferences(viewer, source, filterOf(filter), { page, size });
  }

  @FieldResolver(() => [PriceDifferenceCount], { description: 'Of all models, or of those that are served.' })
  counts(@Root() { counts }: DifferencePage): PriceDifferenceCount[] {
    return [...counts].map(([kind, count]) => ({ kind, count }));
  }

  @FieldResolver(() => [SkippedPriceObject], { description: `The first ${maxSkippedNamed} that are left out.` })
  skipped(@Root() { skipped }: DifferencePage): readonly SkippedModel[] {
    return skipped.slice(0, maxSkippedNamed);
  }

  @FieldResolver(() => SafeIntScalar)
  skippedTotal(@Root() { skipped }: DifferencePage): number {
    return skipped.length;
  }

  @Authorized('root')
  @Mutation(() => PricesApplied, { complexity: heavy, description: 'All of these models or none.' })
  async applyPrices(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ApplyPricesArgs) { seen, models }: ApplyPricesArgs,
  ): Promise<PricesApplied> {
    const { applied, position } = await application.priceUpdates.applyPrices(viewer, seenBy(seen, application), models);
    await application.visible(position);
    return { applied };
  }

  @Authorized('root')
  @Mutation(() => PricesApplied, { complexity: heavy, description: 'Everything that the filter finds, or nothing.' })
  async applyAllPrices(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ApplyAllPricesArgs) { seen, filter, count }: ApplyAllPricesArgs,
  ): Promise<PricesApplied> {
    const order = seenBy(seen, application);
    const { applied, position } = await application.priceUpdates.applyAllPrices(viewer, order, {
      filter: filterOf(filter),
      count,
    });
    await application.visible(position);
    return { applied };
  }
}
