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
import type { UserView } from '../../application/ports.js';
import { invalidField } from '../../domain/failure.js';
import { ApiKeyId } from '../../domain/ids.js';
import type { FailureKind, failureKinds, UsageFailure } from '../../projections/models/usage-stats/usage-failures.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { SafeIntScalar, TimestampScalar } from '../server/scalars.js';

type Kinds = typeof failureKinds;

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
const longestDays = 400;

@ArgsType()
class UsageFailuresArgs {
  @Field(() => TimestampScalar, { description: 'Inclusive; hours count by their start.' })
  readonly from!: number;

  @Field(() => TimestampScalar, { description: `Inclusive; at most ${longestDays} days after "from".` })
  readonly to!: number;

  @Field(() => Boolean, {
    defaultValue: false,
    description: "Everybody's calls, not only one's own; for administrators.",
  })
  readonly everyone!: boolean;

  @Field(() => ID, { nullable: true })
  readonly apiKeyId?: string | null;
}

@ObjectType('UsageFailure', { description: 'Calls that got nowhere for one cause.' })
class UsageFailureObject implements Omit<UsageFailure, 'status' | 'code'> {
  @Field(() => FailureKindEnum)
  readonly kind!: FailureKind;

  @Field(() => SafeIntScalar, { description: 'How many.' })
  readonly failures!: number;
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
    if (to - from > longestDays * day) throw invalidField('to', `at most ${longestDays} days after "from"`);
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
