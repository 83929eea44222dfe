import { ArrayMaxSize, ArrayMinSize, Max, Min } from 'class-validator';
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
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import { Position } from '../../domain/events/events.js';
import { type Instant, instantOf, unixSeconds } from '../../domain/kernel/instant.js';
import { nearestQuota } from '../../domain/kernel/quota.js';
import type { MovementCause } from '../../domain/ledger/movements.js';
import type {
  CounterEntry,
  HistoryFilter,
  Holding,
  QuotaMovement,
} from '../../projections/models/quota-history/quota-history-queries.js';
import type { UserRow } from '../../projections/models/users.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { maxPageSize } from '../server/page.js';
import { QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { UserObject } from '../users/user.js';
import { AuditedInput, MomentInput, MovementCauseEnum, momentIn } from './audited.js';

const OrderEnum = enumeration<'oldest' | 'newest'>('MovementOrder', 'Which movements come first.', {
  OLDEST: 'oldest',
  NEWEST: 'newest',
});

@ObjectType('AccountHolding', { description: 'What an account holds. Of API keys and channels all is available.' })
export class HoldingObject {}

@ObjectType('CounterEntry', { description: 'What lies on the other side of a movement.' })
class CounterEntryObject {
  @Field(() => String, {
    description:
      'An account of the house (revenue, grants, adjustments, codes, suspense, payments), or reserved or invites: another part of the same user.',
  })
  readonly account!: CounterEntry['account'];
}

@ObjectType('QuotaMovement', { description: 'One movement of quota, as one event says it.' })
class QuotaMovementObject {
  @Field(() => SafeIntScalar, { description: 'Of its event in the log.' })
  readonly position!: Position;

  @Field(() => Int, { description: 'Of the movements of one event: 0, 1, …' })
  readonly part!: number;

  @Field(() => MovementCauseEnum)
  readonly cause!: MovementCause;

  @Field(() => HoldingObject, { description: 'What the account gets; negative: what is taken from it.' })
  readonly change!: Holding;

  @Field(() => HoldingObject, { description: 'What it holds then.' })
  readonly balance!: Holding;

  @Field(() => [CounterEntryObject])
  readonly counters!: readonly CounterEntry[];

  @Field(() => ID, { nullable: true, description: 'Whose it is; null: it is the house’s alone.' })
  readonly userId!: QuotaMovement['userId'];

  @Field(() => ID, { nullable: true })
  readonly apiKeyId!: QuotaMovement['apiKeyId'];

  @Field(() => ID, { nullable: true, description: 'For administrators.' })
  readonly channelId!: QuotaMovement['channelId'];

  @Field(() => ID, {
    nullable: true,
    description: 'By the cause: the request, the payment, the redemption code, or the user who was invited.',
  })
  readonly subject!: string | null;
}

@ObjectType()
class QuotaHistory {
  @Field(() => [QuotaMovementObject])
  readonly items!: readonly QuotaMovement[];

  @Field(() => Boolean, { description: 'Give the place of the last one as `after` for more.' })
  readonly hasMore!: boolean;
}

@InputType({ description: 'The place of a movement in the history.' })
class MovementPlace {
  @Field(() => SafeIntScalar)
  readonly position!: number;

  @Field(() => Int, { defaultValue: 0 })
  readonly part!: number;
}

@ArgsType()
class QuotaHistoryArgs {
  @Field(() => AuditedInput)
  readonly of!: AuditedInput;

  @Field(() => [MovementCauseEnum], { nullable: true, description: 'null: of all.' })
  @ArrayMinSize(1)
  @ArrayMaxSize(20)
  readonly causes?: MovementCause[] | null;

  @Field(() => TimestampScalar, { nullable: true, description: 'Inclusive.' })
  readonly from?: number | null;

  @Field(() => TimestampScalar, { nullable: true, description: 'Inclusive.' })
  readonly to?: number | null;

  @Field(() => OrderEnum, { defaultValue: 'newest' })
  readonly order!: 'oldest' | 'newest';

  @Field(() => MovementPlace, { nullable: true })
  readonly after?: MovementPlace | null;

  @Field(() => Int, { defaultValue: 20, description: '1 to 100.' })
  @Min(1)
  @Max(maxPageSize)
  readonly first!: number;
}

const filterIn = ({ causes, from, to }: QuotaHistoryArgs): HistoryFilter => ({
  causes: causes ?? null,
  from: typeof from === 'number' ? instantOf('from', from) : null,
  to: typeof to === 'number' ? ((instantOf('to', to) + 1000) as Instant) : null,
});

@Resolver(() => QuotaMovementObject)
class QuotaHistoryResolver {
  @Authorized()
  @Query(() => QuotaHistory, {
    description: 'Every movement of quota of an account. Users see their own; channels are for administrators.',
  })
  quotaHistory(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => QuotaHistoryArgs) asked: QuotaHistoryArgs,
  ): Promise<QuotaHistory> {
    const { of, order, after, first } = asked;
    const place = after ? { position: Position(after.position), part: after.part } : null;
    return application.queries.quotaHistory(viewer, { of, filter: filterIn(asked), order, after: place, first });
  }

  @Authorized()
  @Query(() => HoldingObject, { description: 'What an account held. Users see their own.' })
  balanceAt(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('of', () => AuditedInput) of: AuditedInput,
    @Arg('moment', () => MomentInput) moment: MomentInput,
  ): Promise<Holding> {
    return application.queries.balanceAt(viewer, of, momentIn(moment));
  }

  @FieldResolver(() => TimestampScalar)
  at(@Root() { at }: QuotaMovement): number {
    return unixSeconds(at);
  }

  @Authorized('admin-reading')
  @FieldResolver(() => UserObject, {
    nullable: true,
    description: 'The administrator who ordered it; null: nobody did, or was erased. For administrators.',
  })
  async by(@Root() { by }: QuotaMovement, @Ctx() { userById }: GraphqlContext): Promise<UserRow | null> {
    return by === null ? null : userById(by);
  }
}

@Resolver(() => HoldingObject)
class HoldingResolver {
  @FieldResolver(() => QuotaScalar, { description: 'Of a user what may be spent, of a channel what it has earned.' })
  available(@Root() { available }: Holding): number {
    return nearestQuota(available);
  }

  @FieldResolver(() => QuotaScalar, { description: 'For calls under way.' })
  reserved(@Root() { reserved }: Holding): number {
    return nearestQuota(reserved);
  }

  @FieldResolver(() => QuotaScalar, { description: 'Earned by inviting others, and not transferred.' })
  invites(@Root() { invites }: Holding): number {
    return nearestQuota(invites);
  }
}

@Resolver(() => CounterEntryObject)
class CounterEntryResolver {
  @FieldResolver(() => QuotaScalar)
  amount(@Root() { amount }: CounterEntry): number {
    return nearestQuota(amount);
  }
}

export const quotaHistoryResolvers = [QuotaHistoryResolver, HoldingResolver, CounterEntryResolver] as const;
