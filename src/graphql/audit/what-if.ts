import { ArrayMaxSize, MaxLength } from 'class-validator';
import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import type { WhatIfRow } from '../../application/audit/what-if.js';
import type { GroupRatio, WhatIfFound, WhatIfProgress } from '../../application/audit/what-if-queries.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { instantOf } from '../../domain/kernel/instant.js';
import { nearestQuota, type Quota } from '../../domain/kernel/quota.js';
import { maxPriceFileBytes } from '../../domain/pricing/records/price-file.js';
import { stoppable } from '../live/live.js';
import type { SubscriptionContext, SubscriptionData } from '../live/subscription-data.js';
import { type GraphqlContext, signedIn, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';

@InputType({ description: 'What a group multiplies prices by.' })
class GroupRatioInput implements GroupRatio {
  @Field(() => String)
  @MaxLength(64)
  readonly group!: string;

  @Field(() => String, { description: 'A decimal number from 0, such as 0.8.' })
  @MaxLength(20)
  readonly ratio!: string;
}

@ArgsType()
class WhatIfArgs {
  @Field(() => TimestampScalar, { description: 'When calls were settled. Inclusive.' })
  readonly from!: number;

  @Field(() => TimestampScalar, { description: 'Exclusive.' })
  readonly to!: number;

  @Field(() => String, {
    nullable: true,
    description: `A price table as exported, at most ${maxPriceFileBytes} bytes. Models that it leaves out cost what they did.`,
  })
  @MaxLength(maxPriceFileBytes)
  readonly prices?: string | null;

  @Field(() => [GroupRatioInput], { defaultValue: [], description: 'At most 200.' })
  @ArrayMaxSize(200)
  readonly groupRatios!: readonly GroupRatioInput[];
}

@ObjectType('WhatIfSums')
class WhatIfSums {
  @Field(() => SafeIntScalar)
  readonly calls!: number;

  @Field(() => QuotaScalar, { description: 'What they cost: charged and uncovered together.' })
  readonly actual!: Quota;

  @Field(() => QuotaScalar, { description: 'What they would have cost.' })
  readonly hypothetical!: Quota;
}

@ObjectType('WhatIfRow')
class WhatIfRowObject extends WhatIfSums {
  @Field(() => ID)
  readonly userId!: WhatIfRow['userId'];

  @Field(() => String, { nullable: true, description: 'null: of all models.' })
  readonly model!: string | null;
}

@ObjectType('WhatIfFound')
class WhatIfFoundObject extends WhatIfSums {
  @Field(() => SafeIntScalar, {
    description: 'Calls whose order has no price by the others; they count with what they cost.',
  })
  readonly unpriced!: number;

  @Field(() => [WhatIfRowObject], { description: 'Whoever would pay more first; at most 500.' })
  readonly users!: readonly WhatIfRowObject[];

  @Field(() => Int)
  readonly userCount!: number;

  @Field(() => Int, { description: 'Who would pay more.' })
  readonly dearerUsers!: number;

  @Field(() => [WhatIfRowObject], { description: 'By user and model, in the same order; at most 500.' })
  readonly models!: readonly WhatIfRowObject[];

  @Field(() => Int)
  readonly modelCount!: number;
}

type Problem = NonNullable<WhatIfProgress['problem']>;

const ProblemEnum = enumeration<Problem>(
  'WhatIfProblem',
  'TOO_MANY_ROWS: a shorter period has an answer. UNAVAILABLE: the log cannot be read now.',
  { TOO_MANY_ROWS: 'too-many-rows', UNAVAILABLE: 'unavailable' },
);

@ObjectType('WhatIfProgress')
class WhatIfProgressObject {
  @Field(() => Int, { description: 'How much of the log has been read: 0 to 100.' })
  readonly percent!: number;

  @Field(() => WhatIfFoundObject, { nullable: true, description: 'null: it is not there yet, or there is a problem.' })
  readonly found!: WhatIfFoundObject | null;

  @Field(() => ProblemEnum, { nullable: true, description: 'Why there is no answer.' })
  readonly problem!: Problem | null;
}

const inNumbers = <Sums extends Pick<WhatIfRow, 'actual' | 'hypothetical'>>(sums: Sums) => ({
  ...sums,
  actual: nearestQuota(sums.actual),
  hypothetical: nearestQuota(sums.hypothetical),
});

const shown = ({ users, models, ...sums }: WhatIfFound): WhatIfFoundObject => ({
  ...inNumbers(sums),
  users: users.map(inNumbers),
  models: models.map(inNumbers),
});

/** It reads a file, and what it asks for is worked out only for a subscription. */
const fileCost = 200;
/** The log of a period, which may be millions of calls. */
const answerCost = 1_000;

@Resolver()
class WhatIfResolver {
  @Authorized('admin-reading')
  @Mutation(() => ID, {
    complexity: fileCost,
    description:
      'Asks what the calls of a period would have cost by other prices: give the id to the subscription `whatIf` within a quarter of an hour. Nothing is stored.',
  })
  askWhatIf(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => WhatIfArgs) { from, to, prices, groupRatios }: WhatIfArgs,
  ): string {
    const period = { from: instantOf('from', from), to: instantOf('to', to) };
    return application.queries.askWhatIf(viewer, { ...period, prices: prices ?? null, groupRatios });
  }

  @Authorized('admin-reading')
  @Subscription(() => WhatIfProgressObject, {
    complexity: answerCost,
    description:
      'How far it has come, and at its end the answer. Ends with the subscription; one at a time for each user.',
    subscribe: ({ args, context }: SubscriptionData<{ id: string }>) => openWhatIf(context, args.id),
  })
  whatIf(@Root() progress: WhatIfProgress, @Arg('id', () => ID) _id: string): WhatIfProgressObject {
    const { found } = progress;
    return { ...progress, found: found && shown(found) };
  }
}

async function openWhatIf(
  { application, caller }: SubscriptionContext,
  id: string,
): Promise<AsyncIterable<WhatIfProgress>> {
  const viewer = await signedIn(caller);
  application.queries.mayHearWhatIf(viewer, id);
  return stoppable((signal) => application.queries.whatIf(viewer, id, signal));
}

@Resolver(() => WhatIfRowObject)
class WhatIfRowResolver {
  @FieldResolver(() => String, {
    nullable: true,
    description: 'As the user is called now; null: they have been erased.',
  })
  async username(@Root() { userId }: WhatIfRowObject, @Ctx() { userById }: GraphqlContext): Promise<string | null> {
    return (await userById(userId))?.username ?? null;
  }
}

export const whatIfResolvers = [WhatIfResolver, WhatIfRowResolver] as const;
