import { createUnionType, Field, FieldResolver, ObjectType, Resolver, Root } from 'type-graphql';
import { noUsage } from '../../domain/call/usage.js';
import { priceByPlainInput, pricesByTier } from '../../domain/pricing/context-tiers.js';
import type {
  CallPrice as CallPriceFactors,
  Price,
  TokenPrice as TokenPriceFactors,
} from '../../domain/pricing/pricing.js';
import type { TokenQuantity } from '../../domain/pricing/quantities.js';
import { quantityRatio } from '../../domain/pricing/rates.js';
import { DecimalScalar, SafeIntScalar } from '../server/scalars.js';

/* Every factor of a charge. Ratio 1 = 2 USD per million input tokens; `group` multiplies the whole. */

const likeField = {
  nullable: true,
  description: 'The model whose price it is; null: the model has a price of its own, or none is known.',
};

@ObjectType('TokenPriceTier', { description: 'What the whole of a call costs whose prompt has more tokens.' })
class TokenPriceTier {
  @Field(() => SafeIntScalar, { description: 'Tokens of the prompt, of every kind.' })
  readonly over!: number;

  @Field(() => DecimalScalar, { description: 'The ratio of an input token there; the others are relative to it.' })
  readonly model!: string;

  @Field(() => DecimalScalar)
  readonly completion!: string;

  @Field(() => DecimalScalar)
  readonly cache!: string;

  @Field(() => DecimalScalar)
  readonly cacheWrite!: string;

  @Field(() => DecimalScalar)
  readonly image!: string;

  @Field(() => DecimalScalar)
  readonly reasoning!: string;
}

function tierOf(over: number, price: TokenPriceFactors): TokenPriceTier {
  const inTier = priceByPlainInput(price, noUsage);
  const ratio = (name: TokenQuantity): string => quantityRatio(inTier, name);
  return {
    ...{ over, model: inTier.model, completion: ratio('output'), cache: ratio('cachedInput') },
    ...{ cacheWrite: ratio('cacheWrite'), image: ratio('imageInput'), reasoning: ratio('reasoning') },
  };
}

@ObjectType({ description: 'Charged by usage. `model` is the ratio of an input token, the others are relative to it.' })
class TokenPrice implements Omit<TokenPriceFactors, 'pieces' | 'tiers'> {
  readonly per!: 'token';
  readonly ratios!: TokenPriceFactors['ratios'];

  @Field(() => DecimalScalar)
  readonly model!: string;

  @Field(() => DecimalScalar)
  readonly group!: string;

  @Field(() => String, likeField)
  readonly like?: string;
}

@Resolver(() => TokenPrice)
export class TokenPriceResolver {
  @FieldResolver(() => DecimalScalar)
  completion(@Root() price: TokenPriceFactors): string {
    return quantityRatio(price, 'output');
  }

  @FieldResolver(() => DecimalScalar)
  cache(@Root() price: TokenPriceFactors): string {
    return quantityRatio(price, 'cachedInput');
  }

  @FieldResolver(() => DecimalScalar)
  cacheWrite(@Root() price: TokenPriceFactors): string {
    return quantityRatio(price, 'cacheWrite');
  }

  @FieldResolver(() => DecimalScalar)
  image(@Root() price: TokenPriceFactors): string {
    return quantityRatio(price, 'imageInput');
  }

  @FieldResolver(() => [TokenPriceTier], { description: 'By ascending length; none: one price at every length.' })
  tiers(@Root() price: TokenPriceFactors): readonly TokenPriceTier[] {
    return pricesByTier(price).map(({ over, price }) => tierOf(over, price));
  }

  @FieldResolver(() => DecimalScalar)
  reasoning(@Root() price: TokenPriceFactors): string {
    return quantityRatio(price, 'reasoning');
  }
}

@ObjectType({ description: 'Charged by call.' })
class CallPrice implements Omit<CallPriceFactors, 'pieces'> {
  readonly per!: 'call';

  @Field(() => DecimalScalar, { description: 'USD.' })
  readonly price!: string;

  @Field(() => DecimalScalar)
  readonly quotaPerUnit!: string;

  @Field(() => DecimalScalar)
  readonly group!: string;

  @Field(() => String, likeField)
  readonly like?: string;
}

export const PriceUnion = createUnionType({
  name: 'Price',
  types: () => [TokenPrice, CallPrice] as const,
  resolveType: ({ per }: Price) => (per === 'token' ? TokenPrice : CallPrice),
});
