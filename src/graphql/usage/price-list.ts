import { Args, ArgsType, Ctx, Field, FieldResolver, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { PriceGroups, UsableGroup } from '../../application/payments/offers.js';
import type {
  BillingKind,
  OfferedModel,
  PriceListRequest,
  PriceListSort,
} from '../../application/prices/price-list.js';
import type { ComingShownPrices, ServiceTierFactor } from '../../application/prices/shown-prices.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import type { PieceUnitPrice, TierUnitPrices, UnitPrices } from '../../domain/pricing/billing.js';
import type { Price } from '../../domain/pricing/pricing.js';
import type { Page } from '../../projections/engine/page.js';
import { type GraphqlContext, onlooker } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { CountedPage, PageArgs } from '../server/page.js';
import { DecimalScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { UsableGroupObject } from '../users/group.js';
import { PriceUnion } from './price.js';

/* What can be bought, for everybody to see. */

const BillingKindEnum = enumeration<BillingKind>('BillingKind', 'What a model is charged by.', {
  TOKEN: 'token',
  CALL: 'call',
});

const PriceListSortEnum = enumeration<PriceListSort>(
  'PriceListSort',
  'By price: what is charged by call comes after what is charged by tokens, and what has no price last.',
  {
    NEAREST: 'nearest',
    NAME_DESC: 'name-desc',
    INPUT: 'input',
    INPUT_DESC: 'input-desc',
    OUTPUT: 'output',
    OUTPUT_DESC: 'output-desc',
  },
);

/** Names are looked through in memory, all of them: with ten thousand it takes some milliseconds. */
const searchCost = 250;

/** Of a kind of token without a price of its own, the price is that of the plain tokens of its side. */
const ownPrice = { nullable: true, description: 'null: as other tokens of its side.' };

@ObjectType('UnitPrices', {
  description:
    'Quota for one of each, all factors applied: the `unitPrice` that the lines of a bill will name. What is sold by the piece is in `pieces`.',
})
export class UnitPricesObject implements UnitPrices {
  @Field(() => DecimalScalar, { nullable: true, description: 'null: charged by call or by the piece.' })
  readonly input?: string;

  @Field(() => DecimalScalar, { nullable: true, description: 'null: charged by call or by the piece.' })
  readonly output?: string;

  @Field(() => DecimalScalar, { nullable: true, description: 'Input read from a cache; null: charged by call.' })
  readonly cachedInput?: string;

  @Field(() => DecimalScalar, { nullable: true, description: 'Input written to a cache; null: charged by call.' })
  readonly cacheWrite?: string;

  @Field(() => DecimalScalar, { nullable: true, description: 'Kept for an hour or more, instead of minutes.' })
  readonly cacheWriteHour?: string;

  @Field(() => DecimalScalar, ownPrice)
  readonly imageInput?: string;

  @Field(() => DecimalScalar, ownPrice)
  readonly audioInput?: string;

  @Field(() => DecimalScalar, ownPrice)
  readonly cachedAudioInput?: string;

  @Field(() => DecimalScalar, ownPrice)
  readonly videoInput?: string;

  @Field(() => DecimalScalar, ownPrice)
  readonly reasoning?: string;

  @Field(() => DecimalScalar, ownPrice)
  readonly imageOutput?: string;

  @Field(() => DecimalScalar, ownPrice)
  readonly audioOutput?: string;

  @Field(() => DecimalScalar, ownPrice)
  readonly videoOutput?: string;

  @Field(() => DecimalScalar, { nullable: true, description: 'A call, whatever it uses; null: charged by tokens.' })
  readonly call?: string;
}

@ObjectType('PriceTier', { description: 'What the whole of a call costs whose prompt has more tokens.' })
class PriceTierObject implements TierUnitPrices {
  @Field(() => SafeIntScalar, {
    description: 'Tokens of the prompt, of every kind. A call with more of them costs this.',
  })
  readonly over!: number;

  @Field(() => UnitPricesObject)
  readonly unitPrices!: UnitPrices;
}

@ObjectType('PiecePrice', {
  description:
    'What is sold by the piece, beside the tokens or the call. Speech by the character and transcripts by the second cost it instead of tokens that nobody reports.',
})
class PiecePriceObject implements PieceUnitPrice {
  @Field(() => String, {
    description:
      'As a line of a bill names it: images, searchUnits, seconds, characters, video or video:RESOLUTION (seconds of it), calls:NAME of a tool.',
  })
  readonly quantity!: PieceUnitPrice['quantity'];

  @Field(() => DecimalScalar, { description: 'Quota for one, all factors applied.' })
  readonly unitPrice!: string;
}

@ObjectType('ServiceTierFactor', { description: 'A tier of service that a call may be served at.' })
class ServiceTierFactorObject implements ServiceTierFactor {
  @Field(() => String, {
    description:
      'As the vendor calls it. `auto`: the most that a call costs whose tier is left to the upstream’s account.',
  })
  readonly tier!: string;

  @Field(() => DecimalScalar, { description: 'What all prices are multiplied by, but those of tools.' })
  readonly factor!: string;
}

@ObjectType('ComingPrice', {
  description: 'A price that is announced. Calls that begin before are charged by the present one.',
})
class ComingPriceObject implements Omit<ComingShownPrices, 'from'> {
  @Field(() => TimestampScalar)
  readonly from!: number;

  @Field(() => UnitPricesObject, {
    nullable: true,
    description: 'null: from then on it has no price, so calls are refused.',
  })
  readonly unitPrices!: UnitPrices | null;

  @Field(() => [PriceTierObject])
  readonly tiers!: readonly TierUnitPrices[];

  @Field(() => [PiecePriceObject])
  readonly pieces!: readonly PieceUnitPrice[];

  @Field(() => [ServiceTierFactorObject])
  readonly serviceTiers!: readonly ServiceTierFactor[];
}

@ObjectType('OfferedModel', { description: 'A model that some enabled channel serves.' })
class OfferedModelObject implements Omit<OfferedModel, 'coming'> {
  @Field(() => String)
  readonly name!: string;

  @Field(() => Boolean, { description: 'A call for the group would be served.' })
  readonly available!: boolean;

  @Field(() => PriceUnion, {
    nullable: true,
    description: 'For the group; null: it has no price, so calls are refused.',
  })
  readonly price!: Price | null;

  @Field(() => UnitPricesObject, { nullable: true, description: 'For the group; null as the price is.' })
  readonly unitPrices!: UnitPrices | null;

  @Field(() => [PriceTierObject], { description: 'By ascending length; none: the price is the same at every length.' })
  readonly tiers!: readonly TierUnitPrices[];

  @Field(() => [PiecePriceObject], {
    description: 'Tools that are sold with the model, and what else has such a price.',
  })
  readonly pieces!: readonly PieceUnitPrice[];

  @Field(() => [ServiceTierFactorObject], {
    description: 'Empty: every call costs the same, whatever tier it asks for.',
  })
  readonly serviceTiers!: readonly ServiceTierFactor[];

  @Field(() => [String], { description: 'Of the groups one may use, those that it is served for.' })
  readonly groups!: readonly string[];

  @Field(() => String, { nullable: true, description: 'Who answers; null: nobody is signed in, who would be told.' })
  readonly provider!: string | null;
}

@ObjectType()
class OfferedModelPage extends CountedPage implements Page<OfferedModel> {
  @Field(() => [OfferedModelObject])
  readonly items!: readonly OfferedModel[];
}

@ObjectType('PriceGroups', { description: 'The groups one may look at prices for, and make calls for.' })
class PriceGroupsObject implements PriceGroups {
  @Field(() => String, {
    description: 'That of whoever asks, `default` for strangers. Not among the usable ones: it is retired.',
  })
  readonly own!: string;

  @Field(() => [UsableGroupObject])
  readonly usable!: readonly UsableGroup[];
}

@ArgsType()
class PriceListArgs extends PageArgs implements PriceListRequest {
  @Field(() => String, { nullable: true, description: 'A usable group; left out: one’s own.' })
  readonly group!: string | null;

  @Field(() => String, { defaultValue: '', description: 'Letters of the name, in its order.' })
  readonly search!: string;

  @Field(() => BillingKindEnum, { nullable: true })
  readonly billing!: BillingKind | null;

  @Field(() => PriceListSortEnum, {
    defaultValue: 'nearest',
    description: 'NEAREST: to what is looked for, then by name.',
  })
  readonly sort!: PriceListSort;
}

@Resolver(() => OfferedModelObject)
export class OfferedModelResolver {
  @FieldResolver(() => ComingPriceObject, { nullable: true, description: 'null: no other price is announced.' })
  coming(@Root() { coming }: { readonly coming: ComingShownPrices | null }): ComingPriceObject | null {
    return coming === null ? null : { ...coming, from: unixSeconds(coming.from) };
  }
}

@Resolver()
export class PriceListResolver {
  @Query(() => PriceGroupsObject, { description: 'For everybody.' })
  async priceGroups(@Ctx() { application, caller }: GraphqlContext): Promise<PriceGroups> {
    return application.queries.priceGroups(await onlooker(caller));
  }

  @Query(() => OfferedModelPage, {
    complexity: searchCost,
    description: 'For everybody: what calls cost.',
  })
  async priceList(
    @Ctx() { application, caller }: GraphqlContext,
    @Args(() => PriceListArgs) { page, size, group, search, billing, sort }: PriceListArgs,
  ): Promise<Page<OfferedModel>> {
    const request = { page, size, group: group ?? null, search, billing: billing ?? null, sort };
    return application.queries.pricesFor(await onlooker(caller), request);
  }
}
