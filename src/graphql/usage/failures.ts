import { Max, MaxLength, Min } from 'class-validator';
import {
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
  registerEnumType,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { HistoryInterval } from '../../application/usage/history-pieces.js';
import type { FailureHistory } from '../../application/usage/usage-statistics.js';
import { invalidField } from '../../domain/kernel/failure.js';
import { ApiKeyId } from '../../domain/kernel/ids.js';
import type {
  CallFailureKind,
  callFailureKinds,
  FailureShare,
  UsageFailure,
} from '../../projections/models/usage-stats/usage-failures.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { HistoryIntervalEnum } from './history.js';

type Kinds = typeof callFailureKinds;

const FailureKindEnum: { readonly [Name in keyof Kinds as Uppercase<Name>]: Kinds[Name] } = {
  REFUSED: 0,
  FAILED: 1,
};
registerEnumType(FailureKindEnum, {
  name: 'UsageFailureKind',
  description: 'How a call got nowhere.',
  valuesConfig: {
    REFUSED: { description: 'Before anything was reserved for it.' },
    FAILED: { description: 'After it had been reserved.' },
  },
});

const day = 24 * 60 * 60;
/** Hours are added up by cause, so a year is not much. */
const maxDays = 400;

@ArgsType()
class UsageFailuresArgs {
  @Field(() => TimestampScalar, { description: 'Inclusive; hours count by their start.' })
  readonly from!: number;

  @Field(() => TimestampScalar, { description: `Inclusive; at most ${maxDays} days after "from".` })
  readonly to!: number;

  @Field(() => Boolean, {
    defaultValue: false,
    description: "Everybody's calls, not only one's own; for administrators.",
  })
  readonly everyone!: boolean;

  @Field(() => ID, { nullable: true })
  readonly apiKeyId?: string | null;
}

@ArgsType()
class FailureHistoryArgs {
  @Field(() => TimestampScalar, { description: 'Rounded down to where a piece of time begins.' })
  readonly from!: number;

  @Field(() => TimestampScalar, { description: 'Exclusive; rounded up.' })
  readonly to!: number;

  @Field(() => HistoryIntervalEnum, {
    description: 'Failures are counted by the hour: hours are told of 32 days, days of 400, weeks of 2,000.',
  })
  readonly interval!: HistoryInterval;

  @Field(() => String, { defaultValue: 'UTC', description: 'The IANA zone in which days and weeks begin.' })
  @MaxLength(64)
  readonly zone!: string;

  @Field(() => Boolean, {
    defaultValue: false,
    description: "Everybody's calls, not only one's own; for administrators.",
  })
  readonly everyone!: boolean;

  @Field(() => ID, { nullable: true })
  readonly apiKeyId?: string | null;

  @Field(() => Int, { defaultValue: 8, description: 'How many causes are told apart: 1 to 20.' })
  @Min(1)
  @Max(20)
  readonly top!: number;
}

@ObjectType('UsageFailure', { description: 'Calls that got nowhere for one cause.' })
class UsageFailureObject implements Omit<UsageFailure, 'status' | 'code'> {
  @Field(() => FailureKindEnum)
  readonly kind!: CallFailureKind;

  @Field(() => SafeIntScalar, { description: 'How many.' })
  readonly failures!: number;
}

@ObjectType('UsageFailureShare', { description: 'Calls of a range that got nowhere for one cause, or for all others.' })
class FailureShareObject implements Omit<FailureShare, 'cause'> {
  @Field(() => SafeIntScalar, { description: 'How many.' })
  readonly failures!: number;

  @Field(() => [SafeIntScalar], { description: 'How many in each piece of time.' })
  readonly pieces!: readonly number[];
}

@ObjectType('UsageFailureHistory', { description: 'Calls of a range that got nowhere, refused and failed together.' })
class FailureHistoryObject {
  @Field(() => [FailureShareObject], {
    description: 'The most frequent causes first; last, where there are more, all others.',
  })
  readonly shares!: readonly FailureShare[];
}

@Resolver(() => UsageFailureObject)
export class UsageFailuresResolver {
  @Authorized()
  @Query(() => [UsageFailureObject], {
    complexity: 100,
    description: 'Why calls got nowhere, by what was told: the 200 most frequent, most frequent first.',
  })
  usageFailures(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => UsageFailuresArgs) { from, to, everyone, apiKeyId }: UsageFailuresArgs,
  ): Promise<readonly UsageFailure[]> {
    if (to - from > maxDays * day) throw invalidField('to', `at most ${maxDays} days after "from"`);
    const filter = { from, to, apiKeyId: apiKeyId ? ApiKeyId(apiKeyId) : undefined };
    return application.queries.failures(viewer, filter, !everyone);
  }

  @FieldResolver(() => Int, { nullable: true, description: 'Told the caller; null: none.' })
  status(@Root() { status }: UsageFailure): number | null {
    return status === 0 ? null : status;
  }

  @FieldResolver(() => String, { nullable: true, description: 'Told the caller; null: none.' })
  code(@Root() { code }: UsageFailure): string | null {
    return code === '' ? null : code;
  }
}

@Resolver(() => FailureHistoryObject)
export class FailureHistoryResolver {
  @Authorized()
  @Query(() => FailureHistoryObject, { complexity: 100 })
  usageFailureHistory(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => FailureHistoryArgs) { everyone, apiKeyId, top, ...range }: FailureHistoryArgs,
  ): Promise<FailureHistory> {
    const asked = { range, top, apiKeyId: apiKeyId ? ApiKeyId(apiKeyId) : undefined };
    return application.queries.failureHistory(viewer, asked, !everyone);
  }

  @FieldResolver(() => [TimestampScalar], { description: 'Where the pieces of time begin, oldest first.' })
  starts(@Root() { edges }: FailureHistory): readonly number[] {
    return edges.slice(0, -1);
  }

  @FieldResolver(() => TimestampScalar, { description: 'Where the last piece of time ends.' })
  to(@Root() { edges }: FailureHistory): number {
    return edges.at(-1) ?? 0;
  }

  @FieldResolver(() => SafeIntScalar)
  total(@Root() { shares }: FailureHistory): number {
    return shares.reduce((total, { failures }) => total + failures, 0);
  }
}

@Resolver(() => FailureShareObject)
export class FailureShareResolver {
  @FieldResolver(() => FailureKindEnum, { nullable: true, description: 'null: all other causes.' })
  kind(@Root() { cause }: FailureShare): CallFailureKind | null {
    return cause?.kind ?? null;
  }

  @FieldResolver(() => Int, { nullable: true, description: 'Told the caller; null: none, or all other causes.' })
  status(@Root() { cause }: FailureShare): number | null {
    return cause?.status || null;
  }

  @FieldResolver(() => String, { nullable: true, description: 'Told the caller; null: none, or all other causes.' })
  code(@Root() { cause }: FailureShare): string | null {
    return cause?.code || null;
  }
}
