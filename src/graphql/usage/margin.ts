import { Authorized, type ClassType, Ctx, Field, FieldResolver, ObjectType, Resolver, Root } from 'type-graphql';
import type { SumsMargin } from '../../application/usage/cost-of-line.js';
import type { UsageSums } from '../../projections/models/usage-stats/usage-history.js';
import type { GraphqlContext } from '../server/context.js';
import { DecimalScalar, QuotaScalar, SafeIntScalar } from '../server/scalars.js';

/* What counted calls have cost the operator, beside what was charged for them. */

const measures = ['cost', 'requests_without_cost', 'quota_without_cost'] as const;

/** Sums as the schema has them: what a margin is made of is shown as one. */
export type WithoutMargin<Sums> = Omit<Sums, (typeof measures)[number]>;

type CostedSums = Pick<UsageSums, 'quota' | (typeof measures)[number]>;

@ObjectType('UsageMargin', { description: 'What calls have cost the operator, and what was earned by them.' })
class UsageMarginObject implements SumsMargin {
  @Field(() => DecimalScalar, { description: 'US dollars, of the calls whose cost is known; to 15 digits.' })
  readonly cost!: string;

  @Field(() => DecimalScalar, {
    description: "What was charged for these less their cost, by what a dollar's quota is now.",
  })
  readonly margin!: string;

  @Field(() => SafeIntScalar, { description: 'Settled calls whose cost nobody knows; in no margin.' })
  readonly callsWithoutCost!: number;

  @Field(() => QuotaScalar, { description: 'What was charged for them.' })
  readonly quotaWithoutCost!: number;
}

/** The field `margin` of a type of sums. */
export function marginResolverFor(type: ClassType): ClassType {
  @Resolver(() => type)
  class MarginResolver {
    @Authorized('admin-reading')
    @FieldResolver(() => UsageMarginObject, { nullable: true, description: 'For administrators.' })
    margin(@Root() sums: CostedSums, @Ctx() { application }: GraphqlContext): SumsMargin {
      return application.queries.marginOfSums(sums);
    }
  }
  return MarginResolver;
}
