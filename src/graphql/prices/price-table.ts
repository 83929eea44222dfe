import { Args, ArgsType, Authorized, Ctx, Field, FieldResolver, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type {
  PriceOriginKind,
  PriceTableFilter,
  PriceTableRequest,
  PriceTableRow,
  PriceTableSort,
} from '../../application/prices/price-table.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import type { UnitPrices } from '../../domain/pricing/billing.js';
import type { Page } from '../../projections/engine/page.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { CountedPage, PageArgs } from '../server/page.js';
import { DecimalScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { UnitPricesObject } from '../usage/price-list.js';

/* The price table, for whoever sets prices. */

const PriceOriginEnum = enumeration<PriceOriginKind>('PriceTableOrigin', 'Where the price in force comes from.', {
  RECORD: 'record',
  OPTION: 'option',
  BUILT_IN: 'built-in',
  NONE: 'none',
});

const PriceTableFilterEnum = enumeration<PriceTableFilter>('PriceTableFilter', 'Which models of the price table.', {
  UNPRICED: 'unpriced',
  DIFFERS: 'differs',
  COMING: 'coming',
  SERVED: 'served',
});

const PriceTableSortEnum = enumeration<PriceTableSort>(
  'PriceTableSort',
  'By price: what is charged by call comes after what is charged by tokens, and what has no price last.',
  {
    NAME: 'name',
    NAME_DESC: 'name-desc',
    INPUT: 'input',
    INPUT_DESC: 'input-desc',
    OUTPUT: 'output',
    OUTPUT_DESC: 'output-desc',
    REFUSED_DESC: 'refused-desc',
  },
);

@ArgsType()
class PriceTableArgs extends PageArgs implements PriceTableRequest {
  @Field(() => String, { defaultValue: '', description: 'Letters of the name, in its order.' })
  readonly search!: string;

  @Field(() => PriceOriginEnum, { nullable: true, description: 'null: any.' })
  readonly origin!: PriceOriginKind | null;

  @Field(() => PriceTableFilterEnum, { nullable: true, description: 'null: all.' })
  readonly filter!: PriceTableFilter | null;

  @Field(() => PriceTableSortEnum, { defaultValue: PriceTableSortEnum.NAME })
  readonly sort!: PriceTableSort;
}

@ObjectType('PricedModel', { description: 'A model that has a price, is served, or was called without one.' })
class PricedModelObject implements Omit<PriceTableRow, 'comingFrom'> {
  @Field(() => String)
  readonly model!: string;

  @Field(() => PriceOriginEnum)
  readonly origin!: PriceOriginKind;

  @Field(() => Boolean, { description: 'Some enabled channel serves it.' })
  readonly served!: boolean;

  @Field(() => SafeIntScalar, {
    description: 'Calls of the last seven days that were refused because it, or a tool they asked for, has no price.',
  })
  readonly refused!: number;

  @Field(() => UnitPricesObject, {
    nullable: true,
    description: 'For a group whose ratio is 1; null: it has no price.',
  })
  readonly unitPrices!: UnitPrices | null;

  @Field(() => UnitPricesObject, { nullable: true, description: 'By the built-in table; null: that has no price.' })
  readonly listUnitPrices!: UnitPrices | null;

  @Field(() => Boolean, { description: 'The price is another one than the one in the built-in table.' })
  readonly differs!: boolean;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'The smallest over what has a purchase price, relative to that: 0.2 is 20 %. null: none is stated.',
  })
  readonly margin!: string | null;
}

@ObjectType()
class PricedModelPage extends CountedPage implements Page<PriceTableRow> {
  @Field(() => [PricedModelObject])
  readonly items!: readonly PriceTableRow[];
}

/** Models are looked through in memory, all of them, and what was refused in the database. */
const tableCost = 100;

@Resolver(() => PricedModelObject)
export class PriceTableResolver {
  @Authorized('root-reading')
  @Query(() => PricedModelPage, { complexity: tableCost })
  priceTable(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => PriceTableArgs) { page, size, search, origin, filter, sort }: PriceTableArgs,
  ): Promise<Page<PriceTableRow>> {
    const request = { page, size, search, origin: origin ?? null, filter: filter ?? null, sort };
    return application.queries.priceTable(viewer, request);
  }

  @FieldResolver(() => TimestampScalar, {
    nullable: true,
    description: 'When another price takes effect; null: none is known.',
  })
  comingFrom(@Root() { comingFrom }: PriceTableRow): number | null {
    return comingFrom === null ? null : unixSeconds(comingFrom);
  }
}
