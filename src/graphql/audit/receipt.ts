import { Arg, Authorized, Ctx, Field, FieldResolver, ID, Int, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type {
  Receipt,
  ReceiptCorrection,
  ReceiptEvent,
  ReceiptFactor,
  ReceiptSeal,
  ReceiptSealing,
} from '../../application/audit/receipt.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { CallOutcome, ReleaseReason, UsageSource } from '../../domain/call/call.js';
import type { CorrectionPart } from '../../domain/call/call-correction.js';
import type { CallStatus } from '../../domain/call/call-course.js';
import type { Position } from '../../domain/events/events.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { Billing } from '../../domain/pricing/billing.js';
import type { Price } from '../../domain/pricing/pricing.js';
import type { TaskFailureReason } from '../../domain/task/task.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { DecimalScalar, QuotaScalar, SafeIntScalar } from '../server/scalars.js';
import { TaskFailureEnum } from '../tasks/task.js';
import { BillingObject } from '../usage/billing.js';
import { CallStatusEnum, OriginKindEnum } from '../usage/call.js';
import { CorrectionPartEnum, ReleaseReasonEnum } from '../usage/log-details.js';
import { PriceUnion } from '../usage/price.js';
import { CallOutcomeEnum, UsageSourceEnum } from '../usage/usage-log.js';
import { SealObject } from './seals.js';

/* What a call was charged, with everything that shows why. Times are exact: they are parts of what is signed. */

const milliseconds = { description: 'Unix milliseconds.' };

const SealingEnum = enumeration<ReceiptSealing>(
  'ReceiptSealing',
  'How far seals cover the events of a call. PENDING: the newest came after the newest seal. LEFT_OUT: later seals do not have one of them, so it was not in the log then.',
  { SEALED: 'sealed', PENDING: 'pending', LEFT_OUT: 'left-out' },
);

@ObjectType({ description: 'So many of one kind.' })
class UsedQuantity {
  @Field(() => String, { description: 'As in `BillingLine`.' })
  readonly quantity!: string;

  @Field(() => SafeIntScalar)
  readonly count!: number;
}

const asList = (counts: Readonly<Partial<Record<string, number>>>): UsedQuantity[] =>
  Object.entries(counts).map(([quantity, count = 0]) => ({ quantity, count: Math.trunc(count) }));

@ObjectType('ReceiptReservation', { description: 'What was held for a call before it went upstream.' })
class ReservationObject implements Pick<Receipt['reservation'], 'position' | 'at' | 'quota'> {
  @Field(() => SafeIntScalar, { description: 'Of its event in the log.' })
  readonly position!: Position;

  @Field(() => SafeIntScalar, milliseconds)
  readonly at!: Instant;

  @Field(() => QuotaScalar)
  readonly quota!: Quota;

  @Field(() => SafeIntScalar, { description: 'Of the prompt, as reckoned before it went upstream.' })
  readonly promptTokens!: number;

  @Field(() => SafeIntScalar, { nullable: true, description: 'The most it could put out; null: no limit was known.' })
  readonly maxOutputTokens!: number | null;
}

@ObjectType('ReceiptFactor', { description: 'A factor of the price, and the event that set it.' })
class FactorObject implements Omit<ReceiptFactor, 'setBy'> {
  @Field(() => String, { description: 'As in `PriceOrigin`.' })
  readonly factor!: ReceiptFactor['factor'];

  @Field(() => DecimalScalar)
  readonly value!: string;

  @Field(() => String, { nullable: true, description: 'null: no option holds it.' })
  readonly option!: ReceiptFactor['option'];

  @Field(() => String, { nullable: true, description: 'Its name in the table that the option is.' })
  readonly entry!: string | null;

  @Field(() => Boolean, { description: 'It stands in the record of the model in the price table.' })
  readonly inRecord!: boolean;

  @Field(() => OriginKindEnum, { name: 'kind' })
  readonly setBy!: ReceiptFactor['setBy'];

  @Field(() => SafeIntScalar, { nullable: true, description: 'When it was set, in Unix milliseconds.' })
  readonly at!: Instant | null;

  @Field(() => SafeIntScalar, { nullable: true, description: 'Of the event that set it.' })
  readonly position!: Position | null;
}

type Outcome = NonNullable<Receipt['outcome']>;

@ObjectType('ReceiptOutcome', { description: 'The event that ended a call.' })
class OutcomeObject implements Omit<Outcome, 'type' | 'suspense' | 'upstreamCost'> {
  @Field(() => SafeIntScalar, { description: 'Of its event in the log.' })
  readonly position!: Position;

  @Field(() => SafeIntScalar, milliseconds)
  readonly at!: Instant;

  @Field(() => QuotaScalar)
  readonly charged!: Quota;

  @Field(() => QuotaScalar, { description: 'What it cost beyond what there was to charge; owed by nobody.' })
  readonly uncovered!: Quota;

  @Field(() => CallOutcomeEnum, { nullable: true, description: 'null: it was not served.' })
  readonly outcome!: CallOutcome | null;

  @Field(() => ReleaseReasonEnum, { nullable: true, description: 'null: it was served.' })
  readonly releaseReason!: ReleaseReason | null;

  @Field(() => Int, { nullable: true, description: 'The status the caller got instead of an answer.' })
  readonly status!: number | null;

  @Field(() => String, { nullable: true, description: 'The code the caller got instead of an answer.' })
  readonly code!: string | null;

  @Field(() => SafeIntScalar)
  readonly useTimeMs!: number;

  @Field(() => SafeIntScalar, { nullable: true })
  readonly firstTokenMs!: number | null;

  @Field(() => QuotaScalar, {
    nullable: true,
    description: 'What upstream may charge for and nobody pays; null for callers.',
  })
  readonly suspense!: Quota | null;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'US dollars that upstream says it charges; null: it does not say, or for callers.',
  })
  readonly upstreamCost!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'By which upstream names its answer; null: it names none, or for callers.',
  })
  readonly answerId!: string | null;
}

@ObjectType('ReceiptRefund', { description: 'The event that gave back what was charged.' })
class RefundObject implements NonNullable<Receipt['refund']> {
  @Field(() => SafeIntScalar, { description: 'Of its event in the log.' })
  readonly position!: Position;

  @Field(() => SafeIntScalar, milliseconds)
  readonly at!: Instant;

  @Field(() => QuotaScalar)
  readonly quota!: Quota;

  @Field(() => Int)
  readonly status!: number;

  @Field(() => String)
  readonly code!: string;

  @Field(() => TaskFailureEnum, { nullable: true, description: 'null: its answer was withheld.' })
  readonly taskFailure!: TaskFailureReason | null;

  @Field(() => QuotaScalar, {
    nullable: true,
    description: 'What upstream may charge for it and nobody pays; null for callers.',
  })
  readonly suspense!: Quota | null;
}

@ObjectType('ReceiptCorrection', { description: 'An event that corrected what was charged, as the price was wrong.' })
class CorrectionObject implements Omit<ReceiptCorrection, 'calculation' | 'repair'> {
  @Field(() => SafeIntScalar, { description: 'Of its event in the log.' })
  readonly position!: Position;

  @Field(() => SafeIntScalar, milliseconds)
  readonly at!: Instant;

  @Field(() => ID, { name: 'repairId' })
  readonly repair!: ReceiptCorrection['repair'];

  @Field(() => CorrectionPartEnum)
  readonly part!: CorrectionPart;

  @Field(() => PriceUnion, { description: 'By which it is charged since then.' })
  readonly price!: Price;

  @Field(() => BillingObject, { description: 'The arithmetic of the charge, by that price.' })
  readonly calculation!: Billing;

  @Field(() => QuotaScalar, { description: 'What the call is charged since then.' })
  readonly charged!: Quota;

  @Field(() => QuotaScalar, { description: 'What it costs beyond that; owed by nobody.' })
  readonly uncovered!: Quota;

  @Field(() => QuotaScalar, { description: 'More, or less, than it was charged before.' })
  readonly change!: Quota;
}

@ObjectType('ReceiptEvent', { description: 'An event of the call, as the log has it.' })
class EventObject implements ReceiptEvent {
  @Field(() => SafeIntScalar)
  readonly position!: Position;

  @Field(() => Int, { description: 'Its place in the stream of the call: 0, 1, …' })
  readonly revision!: number;

  @Field(() => String)
  readonly type!: string;

  @Field(() => SafeIntScalar, milliseconds)
  readonly at!: Instant;

  @Field(() => String, { nullable: true, description: 'SHA-256 of its line, as seals hash it; null: it is not there.' })
  readonly hash!: string | null;

  @Field(() => Int, { nullable: true, description: 'Number of the seal that covers it; null: none does.' })
  readonly seal!: number | null;
}

@ObjectType('ReceiptAttempt', { description: 'A channel that was tried.' })
class AttemptObject {
  @Field(() => ID)
  readonly channelId!: number;

  @Field(() => String, { description: 'Empty: the channel is gone.' })
  readonly channelName!: string;

  @Field(() => Boolean, { description: 'It failed, and is known to.' })
  readonly failed!: boolean;

  @Field(() => Int, { nullable: true, description: 'What upstream answered with when it failed.' })
  readonly status!: number | null;

  @Field(() => String, { nullable: true })
  readonly code!: string | null;
}

@ObjectType('Receipt', { description: 'What a call was charged, and everything that shows why.' })
class ReceiptObject implements Pick<Receipt, 'requestId' | 'status' | 'price' | 'paid' | 'sealing'> {
  @Field(() => ID)
  readonly requestId!: Receipt['requestId'];

  @Field(() => CallStatusEnum)
  readonly status!: CallStatus;

  @Field(() => SafeIntScalar, milliseconds)
  readonly issuedAt!: Instant;

  @Field(() => SafeIntScalar, { description: 'When the request arrived, in Unix milliseconds.' })
  readonly receivedAt!: Instant;

  @Field(() => ReservationObject)
  readonly reservation!: Receipt['reservation'];

  @Field(() => PriceUnion)
  readonly price!: Price;

  @Field(() => [FactorObject])
  readonly factors!: readonly ReceiptFactor[];

  @Field(() => BillingObject, { nullable: true, description: 'The arithmetic of the charge; null: there is none.' })
  readonly calculation!: Billing | null;

  @Field(() => OutcomeObject, { nullable: true, description: 'null: it is under way.' })
  readonly outcome!: Receipt['outcome'];

  @Field(() => [CorrectionObject], { description: 'Of a wrong price, oldest first.' })
  readonly corrections!: readonly ReceiptCorrection[];

  @Field(() => RefundObject, { nullable: true })
  readonly refund!: Receipt['refund'];

  @Field(() => QuotaScalar, { description: 'What was charged, less what was given back.' })
  readonly paid!: Quota;

  @Field(() => [EventObject], { description: 'Oldest first.' })
  readonly events!: readonly ReceiptEvent[];

  @Field(() => [SealObject], { description: 'Those that cover the events; none: they are not sealed.' })
  readonly seals!: readonly ReceiptSeal[];

  @Field(() => SealingEnum)
  readonly sealing!: ReceiptSealing;
}

@Resolver(() => ReceiptObject)
class ReceiptResolver {
  @Authorized()
  @Query(() => ReceiptObject, {
    nullable: true,
    complexity: 100,
    description:
      "Of a call, by the id that its caller got. null: there is none, or it is not one's own. Channels and what upstream charges are for administrators.",
  })
  receipt(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('requestId', () => ID) requestId: string,
  ): Promise<Receipt | null> {
    return application.queries.receipt(viewer, requestId);
  }

  @FieldResolver(() => ID)
  userId(@Root() { call }: Receipt): number {
    return call.userId;
  }

  @FieldResolver(() => String)
  apiKeyName(@Root() { call }: Receipt): string {
    return call.apiKeyName;
  }

  @FieldResolver(() => String)
  group(@Root() { call }: Receipt): string {
    return call.group;
  }

  @FieldResolver(() => String, { description: 'As asked and billed for.' })
  model(@Root() { call }: Receipt): string {
    return call.model;
  }

  @FieldResolver(() => String, { nullable: true, description: 'The name sent upstream, when another.' })
  upstreamModel(@Root() { call }: Receipt): string | null {
    return call.upstreamModel;
  }

  @FieldResolver(() => String, { description: 'The endpoint called.' })
  path(@Root() { call }: Receipt): string {
    return call.path;
  }

  @FieldResolver(() => Boolean)
  isStream(@Root() { call }: Receipt): boolean {
    return call.stream;
  }

  @FieldResolver(() => [UsedQuantity], { description: 'Empty: nothing was used, or it was not served.' })
  usage(@Root() { usage }: Receipt): UsedQuantity[] {
    return asList(usage?.counts ?? {});
  }

  @FieldResolver(() => UsageSourceEnum, { nullable: true, description: 'null: it was not served.' })
  usageSource(@Root() { usage }: Receipt): UsageSource | null {
    return usage?.source ?? null;
  }

  @FieldResolver(() => [UsedQuantity], {
    nullable: true,
    description: 'What upstream has reported and was not believed; null: nothing.',
  })
  claimed(@Root() { usage }: Receipt): UsedQuantity[] | null {
    const claimed = usage?.claimed ?? null;
    return claimed === null ? null : asList(claimed);
  }

  @FieldResolver(() => SafeIntScalar, {
    nullable: true,
    description: 'Tokens of the prompt beyond which the ratios are those of a tier; null: those of the price itself.',
  })
  pricedOver(@Root() { calculation }: Receipt): number | null {
    return calculation?.over ?? null;
  }

  @FieldResolver(() => [AttemptObject], {
    nullable: true,
    description: 'Channels in the order tried; null for callers.',
  })
  attempts(@Root() { attempts }: Receipt, @Ctx() { application }: GraphqlContext): AttemptObject[] | null {
    if (attempts === null) return null;
    return attempts.map(({ channelId, failure }) => ({
      channelId,
      channelName: application.directory.channel(channelId)?.settings.name ?? '',
      failed: failure !== null,
      status: failure?.status ?? null,
      code: failure?.code ?? null,
    }));
  }

  @FieldResolver(() => String, {
    nullable: true,
    complexity: 50,
    description: 'The receipt as JSON with an Ed25519 signature of the key of the seals; null: nothing is sealed yet.',
  })
  signed(@Root() receipt: Receipt, @Ctx() { application }: GraphqlContext): Promise<string | null> {
    return application.queries.signedReceipt(receipt);
  }
}

export const receiptResolvers = [ReceiptResolver] as const;
