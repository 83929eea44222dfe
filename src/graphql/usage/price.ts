import { createUnionType, Field, ObjectType } from 'type-graphql';
import type { Price } from '../../domain/pricing.js';
import { DecimalScalar } from '../server/scalars.js';

/* Every factor of a charge. Ratio 1 = 2 USD per million input tokens; `group` multiplies the whole. */

@ObjectType({ description: 'Charged by usage. `model` is the ratio of an input token, the others are relative to it.' })
class TokenPrice implements Extract<Price, { per: 'token' }> {
  readonly per!: 'token';

  @Field(() => DecimalScalar)
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

  @Field(() => DecimalScalar)
  readonly group!: string;
}

@ObjectType({ description: 'Charged by call.' })
class CallPrice implements Extract<Price, { per: 'call' }> {
  readonly per!: 'call';

  @Field(() => DecimalScalar, { description: 'USD.' })
  readonly price!: string;

  @Field(() => DecimalScalar)
  readonly quotaPerUnit!: string;

  @Field(() => DecimalScalar)
  readonly group!: string;
}

export const PriceUnion = createUnionType({
  name: 'Price',
  types: () => [TokenPrice, CallPrice] as const,
  resolveType: ({ per }: Price) => (per === 'token' ? TokenPrice : CallPrice),
});
