import { createUnionType, Field, FieldResolver, ObjectType, Resolver, Root } from 'type-graphql';
import type {
  CallPrice as CallPriceFactors,
  Price,
  TokenPrice as TokenPriceFactors,
} from '../../domain/pricing/pricing.js';
import { quantityRatio } from '../../domain/pricing/rates.js';
import { DecimalScalar } from '../server/scalars.js';

/* Every factor of a charge. Ratio 1 = 2 USD per million input tokens; `group` multiplies the whole. */

const likeField = {
  nullable: true,
  description: 'The model whose price it is; null: the model has a price of its own, or none is known.',
};

@ObjectType({ description: 'Charged by usage. `model` is the ratio of an input token, the others are relative to it.' })
class TokenPrice implements Omit<TokenPriceFactors, 'pieces'> {
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
