import { Field, ObjectType } from 'type-graphql';
import type { Billing, BillingLine } from '../../domain/pricing/billing.js';
import { DecimalScalar, QuotaScalar, SafeIntScalar } from '../server/scalars.js';

/* The calculation behind a charge, as the domain made it: whoever shows it works nothing out. */

@ObjectType('BillingLine', { description: 'One kind of what was used. No kind is counted in another.' })
class BillingLineObject implements BillingLine {
  @Field(() => String, {
    description:
      'Tokens: input, cachedInput, cacheWrite, cacheWriteHour, imageInput, audioInput, cachedAudioInput, output, reasoning, imageOutput, audioOutput. Others: images, searchUnits, seconds, characters, calls:NAME of a tool; call, where the call as such has its price.',
  })
  readonly quantity!: BillingLine['quantity'];

  @Field(() => SafeIntScalar)
  readonly count!: number;

  @Field(() => DecimalScalar, { nullable: true, description: 'Relative to an input token; null: no tokens.' })
  readonly ratio!: string | null;

  @Field(() => DecimalScalar, { description: 'Quota for one, all factors applied.' })
  readonly unitPrice!: string;

  @Field(() => DecimalScalar, { description: 'Quota for all of them, not rounded.' })
  readonly amount!: string;
}

@ObjectType('Billing', { description: 'How a charge came about.' })
export class BillingObject implements Billing {
  @Field(() => [BillingLineObject], { description: 'Empty: nothing was used.' })
  readonly lines!: readonly BillingLine[];

  @Field(() => DecimalScalar, { description: 'Quota: the sum of the lines, before rounding.' })
  readonly exact!: string;

  @Field(() => QuotaScalar, {
    description:
      'What the call costs: rounded once, at least 1 where something was used that is not free. What of it could not be charged is `uncovered`.',
  })
  readonly total!: Billing['total'];

  @Field(() => String, {
    nullable: true,
    description: 'The tier of service that the call was served at; null: the usual one.',
  })
  readonly serviceTier?: string;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'What that tier multiplies all prices by, but those of tools; null: the usual one.',
  })
  readonly serviceFactor?: string;
}
