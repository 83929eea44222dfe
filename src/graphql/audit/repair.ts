import { Max, Min } from 'class-validator';
import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { RepairPreview, RepairRow } from '../../application/audit/repair/repair-preview.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { Position } from '../../domain/events/events.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';
import { type ApiKeyId, type ChannelId, RepairId, type UserId } from '../../domain/kernel/ids.js';
import { type Instant, unixSeconds } from '../../domain/kernel/instant.js';
import { nearestQuota } from '../../domain/kernel/quota.js';
import type { RepairState } from '../../domain/repair/repair.js';
import type { PriceRepairRow } from '../../projections/models/price-repairs.js';
import type { UserRow } from '../../projections/models/users.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { maxPageSize } from '../server/page.js';
import { QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { UserObject } from '../users/user.js';
import { askedIn, RepairInput } from './repair-input.js';

const StateEnum = enumeration<RepairState>('PriceRepairState', 'How far a repair is.', {
  POSTING: 'posting',
  POSTED: 'posted',
  UNDOING: 'undoing',
  UNDONE: 'undone',
});

@ObjectType('RepairSums', { description: 'What corrections come to.' })
class SumsObject {
  @Field(() => Int)
  readonly calls!: number;
}

type Sums = PriceRepairRow['planned'];

@ObjectType('RepairPreviewRow', { description: 'Calls of a user and a model that are to be corrected.' })
class PreviewRowObject {
  @Field(() => ID)
  readonly userId!: UserId;

  @Field(() => String)
  readonly model!: string;

  @Field(() => Int)
  readonly calls!: number;
}

@ObjectType('RepairPreview', { description: 'What a repair would post.' })
class PreviewObject {
  @Field(() => Int, { description: 'Calls that were looked at.' })
  readonly seen!: number;

  @Field(() => Int, { description: 'Calls that have no right price, and are left.' })
  readonly unpriced!: number;
}

@ObjectType('PriceRepair', { description: 'Calls that were charged by a wrong price, corrected.' })
class PriceRepairObject {
  @Field(() => ID)
  readonly id!: RepairId;

  @Field(() => SafeIntScalar, { description: 'Of its order in the log.' })
  readonly position!: Position;

  @Field(() => StateEnum)
  readonly state!: RepairState;

  @Field(() => String, { description: 'Of all that was ordered.' })
  readonly digest!: string;

  @Field(() => SumsObject, { description: 'As it was previewed.' })
  readonly planned!: Sums;

  @Field(() => SumsObject, { description: 'So far.' })
  readonly posted!: Sums;

  @Field(() => SumsObject, { description: 'What was taken back of it so far.' })
  readonly undone!: Sums;

  @Field(() => Int, { description: 'Calls that were something else by then than what was previewed, and were left.' })
  readonly changed!: number;
}

@ObjectType()
class PriceRepairs {
  @Field(() => [PriceRepairObject])
  readonly items!: readonly PriceRepairRow[];

  @Field(() => Boolean, { description: 'Give the `position` of the last one as `before` for more.' })
  readonly hasMore!: boolean;
}

@ArgsType()
class PriceRepairsArgs {
  @Field(() => SafeIntScalar, { nullable: true })
  readonly before?: number | null;

  @Field(() => Int, { defaultValue: 20, description: '1 to 100.' })
  @Min(1)
  @Max(maxPageSize)
  readonly first!: number;
}

/** The log is read for it. */
const heavy = 200;

@Resolver(() => PreviewObject)
class RepairPreviewResolver {
  @Authorized('root-reading')
  @Query(() => PreviewObject, {
    complexity: heavy,
    description: 'Calls that were charged by another price than the right one. Nothing is stored; one at a time.',
  })
  repairPreview(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('input', () => RepairInput) input: RepairInput,
  ): Promise<RepairPreview> {
    return application.repairs.preview(viewer, askedIn(input));
  }

  @FieldResolver(() => String, { description: 'Of all that is shown: to be posted by.' })
  digest(@Root() { order }: RepairPreview): string {
    return order.digest;
  }

  @FieldResolver(() => SumsObject)
  planned(@Root() { order: { planned } }: RepairPreview): Sums {
    return { ...planned, given: BigInt(planned.given), taken: BigInt(planned.taken) };
  }

  @FieldResolver(() => SumsObject, {
    description: 'Calls that were charged too little, and are left without `charge`.',
  })
  left(@Root() { left }: RepairPreview): Sums {
    return { calls: left.calls, given: 0n, taken: left.amount };
  }

  @FieldResolver(() => [PreviewRowObject], { description: 'The greatest differences first.' })
  rows(
    @Root() { rows }: RepairPreview,
    @Arg('first', () => Int, { defaultValue: 20, description: '1 to 100.' }) first: number,
  ): readonly RepairRow[] {
    if (first < 1 || first > maxPageSize) throw invalidField('first', `1 to ${maxPageSize}`);
    return rows.slice(0, first);
  }

  @FieldResolver(() => Int, { description: 'How many rows there are.' })
  rowCount(@Root() { rows }: RepairPreview): number {
    return rows.length;
  }
}

@Resolver(() => PreviewRowObject)
class PreviewRowResolver {
  @FieldResolver(() => QuotaScalar, { description: 'What they were charged.' })
  charged(@Root() { charged }: RepairRow): number {
    return nearestQuota(charged);
  }

  @FieldResolver(() => QuotaScalar, { description: 'What they are to be charged.' })
  right(@Root() { right }: RepairRow): number {
    return nearestQuota(right);
  }

  @FieldResolver(() => UserObject, { nullable: true, description: 'null: erased.' })
  async user(@Root() { userId }: RepairRow, @Ctx() { userById }: GraphqlContext): Promise<UserRow | null> {
    return unlessErased(await userById(userId));
  }
}

const unlessErased = (user: UserRow | null): UserRow | null => (user === null || user.erased ? null : user);

@Resolver(() => SumsObject)
class SumsResolver {
  @FieldResolver(() => QuotaScalar, { description: 'What payers get back.' })
  given(@Root() { given }: Sums): number {
    return nearestQuota(given);
  }

  @FieldResolver(() => QuotaScalar, { description: 'What they are charged beside it.' })
  taken(@Root() { taken }: Sums): number {
    return nearestQuota(taken);
  }
}

@Resolver(() => PriceRepairObject)
class PriceRepairResolver {
  @Authorized('root-reading')
  @Query(() => PriceRepairs, { description: 'Repairs that were posted, the newest first.' })
  priceRepairs(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => PriceRepairsArgs) { before, first }: PriceRepairsArgs,
  ): Promise<PriceRepairs> {
    return application.repairs.list(viewer, { before: typeof before === 'number' ? Position(before) : null, first });
  }

  @Authorized('root-reading')
  @Query(() => PriceRepairObject, { nullable: true, description: 'null: there is none of that id.' })
  priceRepair(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
  ): Promise<PriceRepairRow | null> {
    return application.repairs.single(viewer, RepairId(id));
  }

  @Authorized('root')
  @Mutation(() => PriceRepairObject, {
    complexity: heavy,
    description:
      'Posts what was previewed, and nothing else: `repair-preview-outdated` where it has changed. It goes on by itself; the same digest is the same repair.',
  })
  async postPriceRepair(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('digest', () => String) digest: string,
  ): Promise<PriceRepairRow> {
    const { id, position } = await application.repairs.post(viewer, digest);
    await application.visible(position);
    return found(await application.repairs.single(viewer, id));
  }

  @Authorized('root')
  @Mutation(() => PriceRepairObject, {
    description: 'Corrects the corrections of a repair, so that its calls are charged what they were before. Once.',
  })
  async undoPriceRepair(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
  ): Promise<PriceRepairRow> {
    const position = await application.repairs.undo(viewer, RepairId(id));
    await application.visible(position);
    return found(await application.repairs.single(viewer, RepairId(id)));
  }

  @FieldResolver(() => TimestampScalar)
  at(@Root() { at }: PriceRepairRow): number {
    return unixSeconds(at);
  }

  @FieldResolver(() => UserObject, { nullable: true, description: 'null: done on the command line, or erased.' })
  async by(@Root() { by_user: by }: PriceRepairRow, @Ctx() { userById }: GraphqlContext): Promise<UserRow | null> {
    return by === null ? null : unlessErased(await userById(by));
  }

  @FieldResolver(() => TimestampScalar, { description: 'Of its calls, inclusive.' })
  from(@Root() { scope }: PriceRepairRow): number {
    return unixSeconds(scope.from);
  }

  @FieldResolver(() => TimestampScalar, { description: 'Exclusive.' })
  to(@Root() { scope }: PriceRepairRow): number {
    return unixSeconds(scope.to);
  }

  @FieldResolver(() => String, { nullable: true, description: 'null, as the others: of all.' })
  model(@Root() { scope }: PriceRepairRow): string | null {
    return scope.model;
  }

  @FieldResolver(() => ID, { nullable: true })
  userId(@Root() { scope }: PriceRepairRow): UserId | null {
    return scope.userId;
  }

  @FieldResolver(() => String, { nullable: true })
  group(@Root() { scope }: PriceRepairRow): string | null {
    return scope.group;
  }

  @FieldResolver(() => ID, { nullable: true })
  channelId(@Root() { scope }: PriceRepairRow): ChannelId | null {
    return scope.channelId;
  }

  @FieldResolver(() => ID, { nullable: true })
  apiKeyId(@Root() { scope }: PriceRepairRow): ApiKeyId | null {
    return scope.apiKeyId;
  }

  @FieldResolver(() => String, { nullable: true, description: 'The file of the right prices; null: they held once.' })
  pricesName(@Root() { origin }: PriceRepairRow): string | null {
    return origin.kind === 'file' ? origin.name : null;
  }

  @FieldResolver(() => TimestampScalar, { nullable: true, description: 'When the right prices held.' })
  heldAt(@Root() { origin }: PriceRepairRow): number | null {
    return origin.kind === 'held' ? unixSeconds(origin.at) : null;
  }

  @FieldResolver(() => Boolean, { description: 'Who was charged too little pays the rest.' })
  charge(@Root() { is_charging: isCharging }: PriceRepairRow): boolean {
    return isCharging;
  }

  @FieldResolver(() => Boolean, { description: 'Its calls could not be found again, so the rest was left.' })
  isAbandoned(@Root() { is_abandoned: isAbandoned }: PriceRepairRow): boolean {
    return isAbandoned;
  }

  @FieldResolver(() => TimestampScalar, { nullable: true, description: 'When all of it was posted.' })
  endedAt(@Root() { ended_at: at }: PriceRepairRow): number | null {
    return secondsOf(at);
  }

  @FieldResolver(() => TimestampScalar, { nullable: true, description: 'When its undo was ordered.' })
  undoAt(@Root() { undo_at: at }: PriceRepairRow): number | null {
    return secondsOf(at);
  }

  @FieldResolver(() => TimestampScalar, { nullable: true, description: 'When all of that was posted.' })
  undoneAt(@Root() { undone_at: at }: PriceRepairRow): number | null {
    return secondsOf(at);
  }

  @FieldResolver(() => Int, { description: 'Calls that were something else when it was undone, and were left.' })
  undoChanged(@Root() { undo_changed: changed }: PriceRepairRow): number {
    return changed;
  }
}

const secondsOf = (at: Instant | null): number | null => (at === null ? null : unixSeconds(at));

function found(repair: PriceRepairRow | null): PriceRepairRow {
  if (repair === null) throw new Failure('store-unavailable');
  return repair;
}

export const repairResolvers = [RepairPreviewResolver, PreviewRowResolver, SumsResolver, PriceRepairResolver] as const;
