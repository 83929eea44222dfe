import {
  Arg,
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
import type { PriceOrigin } from '../../application/prices/price-origins.js';
import type { CallEnd, CallEventView, CallView } from '../../application/usage/calls.js';
import type { CallOutcome, ReleaseReason, UsageSource } from '../../domain/call/call.js';
import type { CallStatus, CallStep, CallStepKind } from '../../domain/call/call-course.js';
import type { Position } from '../../domain/events/events.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { Billing } from '../../domain/pricing/billing.js';
import type { Price } from '../../domain/pricing/pricing.js';
import type { UserRow } from '../../projections/models/users.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { DecimalScalar, QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { UserObject } from '../users/user.js';
import { BillingObject } from './billing.js';
import { ReleaseReasonEnum } from './log-details.js';
import { PriceUnion } from './price.js';
import { CallOutcomeEnum, UsageSourceEnum } from './usage-log.js';

/* One call from its arrival to its end. Whose calls are found is decided by who asks. */

export const CallStatusEnum = enumeration<CallStatus>('CallStatus', 'What has become of a call.', {
  UNDER_WAY: 'under-way',
  SETTLED: 'settled',
  RELEASED: 'released',
  REFUNDED: 'refunded',
});

const CallStepKindEnum = {
  ADMITTING: 'admitting',
  WAITING: 'waiting',
  ANSWERING: 'answering',
  CONCLUDING: 'concluding',
  REFUNDING: 'refunding',
} as const satisfies Record<string, CallStepKind>;
registerEnumType(CallStepKindEnum, {
  name: 'CallStepKind',
  description: 'What happens to a call, in this order.',
  valuesConfig: {
    ADMITTING: { description: 'From its arrival to the durable reservation.' },
    WAITING: { description: 'For the first token, or for all of an answer that comes whole.' },
    ANSWERING: { description: 'From the first token to the last.' },
    CONCLUDING: { description: 'Until its outcome was written.' },
    REFUNDING: { description: 'Until the charge for a withheld answer was given back.' },
  },
});

@ObjectType('CallStep', { description: 'Milliseconds since the request arrived.' })
class CallStepObject implements CallStep {
  @Field(() => CallStepKindEnum)
  readonly kind!: CallStepKind;

  @Field(() => SafeIntScalar)
  readonly from!: number;

  @Field(() => SafeIntScalar, { nullable: true, description: 'null: it goes on.' })
  readonly to!: number | null;
}

@ObjectType('CallEnd', { description: 'What has come of a call.' })
class CallEndObject implements Omit<CallEnd, 'usage'> {
  @Field(() => QuotaScalar)
  readonly charged!: Quota;

  @Field(() => QuotaScalar, { description: 'What it cost beyond what there was to charge; owed by nobody.' })
  readonly uncovered!: Quota;

  @Field(() => UsageSourceEnum, { nullable: true })
  readonly usageSource!: UsageSource | null;

  @Field(() => CallOutcomeEnum, { nullable: true, description: 'null: it was not served.' })
  readonly outcome!: CallOutcome | null;

  @Field(() => ReleaseReasonEnum, { nullable: true, description: 'null: it was served.' })
  readonly releaseReason!: ReleaseReason | null;

  @Field(() => Int, { nullable: true, description: 'The status the caller got instead of an answer.' })
  readonly status!: number | null;

  @Field(() => String, { nullable: true, description: 'The code the caller got instead of an answer.' })
  readonly code!: string | null;

  @Field(() => String, { nullable: true, description: 'The name sent upstream, when another.' })
  readonly upstreamModel!: string | null;

  @Field(() => String, { nullable: true })
  readonly reasoningEffort!: string | null;

  @Field(() => SafeIntScalar)
  readonly useTimeMs!: number;

  @Field(() => SafeIntScalar, { nullable: true })
  readonly firstTokenMs!: number | null;
}

@ObjectType('CallEvent', { description: 'As it stands in the log, as far as the viewer may see it.' })
class CallEventObject implements Omit<CallEventView, 'payload' | 'revision'> {
  @Field(() => ID, { description: 'Its place in the log of events.' })
  readonly position!: CallEventView['position'];

  @Field(() => SafeIntScalar, { description: 'Unix milliseconds.' })
  readonly at!: CallEventView['at'];

  @Field(() => String)
  readonly type!: string;

  @Field(() => String, { description: 'JSON text.' })
  readonly json!: string;
}

@ObjectType({ description: 'A channel that was tried.' })
class CallAttempt {
  @Field(() => ID)
  readonly channelId!: number;

  @Field(() => String, { description: 'Empty: the channel is gone.' })
  readonly channelName!: string;

  @Field(() => Boolean, { description: 'It failed, and is known to.' })
  readonly failed!: boolean;

  @Field(() => Int, { nullable: true, description: 'What upstream answered with when it failed; null: no answer.' })
  readonly status!: number | null;

  @Field(() => String, { nullable: true, description: 'Why it failed, as its caller would have been told.' })
  readonly code!: string | null;

  @Field(() => SafeIntScalar, { nullable: true, description: 'How long it took to fail.' })
  readonly durationMs!: number | null;

  @Field(() => SafeIntScalar, {
    nullable: true,
    description: 'When it began, in milliseconds since the request arrived; null: not known.',
  })
  readonly from!: number | null;

  @Field(() => SafeIntScalar, { nullable: true, description: 'When it had failed or answered; null: not known.' })
  readonly to!: number | null;
}

export const OriginKindEnum = enumeration<'changed' | 'built-in' | 'unknown'>(
  'PriceOriginKind',
  'Where a factor of a price comes from. UNKNOWN: the history is being built, or does not reach back to it.',
  { CHANGED: 'changed', BUILT_IN: 'built-in', UNKNOWN: 'unknown' },
);

@ObjectType('PriceOrigin', { description: 'A factor of a price, and who set it.' })
class PriceOriginObject implements Omit<PriceOrigin, 'setBy'> {
  @Field(() => String, {
    description:
      '`model`, `group`, `price`, `quotaPerUnit`, or a quantity as in `BillingLine`; `over:272000:QUANTITY`, what multiplies its price for longer prompts; `service:TIER`, what multiplies all prices at a tier of service.',
  })
  readonly factor!: PriceOrigin['factor'];

  @Field(() => DecimalScalar, { description: 'As the option has it: for a tool, USD of a thousand calls.' })
  readonly value!: string;

  @Field(() => String, { nullable: true, description: 'null: no option holds it.' })
  readonly option!: PriceOrigin['option'];

  @Field(() => String, { nullable: true, description: 'Its name in the table that the option is.' })
  readonly entry!: string | null;

  @Field(() => Boolean, { description: 'It stands in the record of the model in the price table.' })
  readonly inRecord!: boolean;
}

@ObjectType('Call', { description: 'One call, read from its own events.' })
class CallObject implements Pick<CallView, 'reserved' | 'promptTokens' | 'price' | 'status' | 'refunded'> {
  @Field(() => ID, { name: 'requestId' })
  readonly id!: CallView['id'];

  @Field(() => CallStatusEnum)
  readonly status!: CallStatus;

  @Field(() => SafeIntScalar, { description: 'When the request arrived, in Unix milliseconds.' })
  readonly receivedAt!: CallView['receivedAt'];

  @Field(() => QuotaScalar, { description: 'What was held for it before it went upstream.' })
  readonly reserved!: Quota;

  @Field(() => SafeIntScalar, { description: 'Of the prompt, as reckoned before it went upstream.' })
  readonly promptTokens!: number;

  @Field(() => SafeIntScalar, { nullable: true, description: 'The most it could put out; null: no limit was known.' })
  readonly maxOutputTokens!: number | null;

  @Field(() => PriceUnion)
  readonly price!: Price;

  @Field(() => [CallStepObject])
  readonly steps!: CallView['steps'];

  @Field(() => CallEndObject, { nullable: true, description: 'null: it is under way.' })
  readonly end!: CallEnd | null;

  @Field(() => QuotaScalar, { description: 'What was charged and given back, because the answer was withheld.' })
  readonly refunded!: Quota;

  @Authorized('admin-reading')
  @Field(() => QuotaScalar, {
    nullable: true,
    description: 'What upstream may charge for and nobody pays; for administrators.',
  })
  readonly suspense!: Quota;
}

@Resolver(() => CallObject)
export class CallResolver {
  @Authorized()
  @Query(() => CallObject, {
    nullable: true,
    description: "By the id that the caller got with its answer. null: there is none, or it is not one's own.",
  })
  call(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('requestId', () => ID) requestId: string,
  ): Promise<CallView | null> {
    return application.queries.call(viewer, requestId);
  }

  @FieldResolver(() => String, { description: 'As asked and billed for.' })
  model(@Root() { facts }: CallView): string {
    return facts.model;
  }

  @FieldResolver(() => String)
  group(@Root() { facts }: CallView): string {
    return facts.group;
  }

  @FieldResolver(() => String, { description: 'The endpoint called.' })
  path(@Root() { facts }: CallView): string {
    return facts.path;
  }

  @FieldResolver(() => Boolean)
  isStream(@Root() { facts }: CallView): boolean {
    return facts.stream;
  }

  @FieldResolver(() => String)
  apiKeyName(@Root() { facts }: CallView): string {
    return facts.apiKeyName;
  }

  @FieldResolver(() => ID, { nullable: true, description: 'null: no API key paid.' })
  apiKeyId(@Root() { facts }: CallView): number | null {
    return facts.apiKeyId;
  }

  @Authorized('admin-reading')
  @FieldResolver(() => ID, { nullable: true, description: 'For administrators.' })
  userId(@Root() { facts }: CallView): number {
    return facts.userId;
  }

  @Authorized('admin-reading')
  @FieldResolver(() => String, {
    nullable: true,
    description: 'As the user is called now; empty: gone. For administrators.',
  })
  async username(@Root() { facts }: CallView, @Ctx() { userById }: GraphqlContext): Promise<string> {
    return (await userById(facts.userId))?.username ?? '';
  }

  @Authorized('admin-reading')
  @FieldResolver(() => [CallAttempt], {
    nullable: true,
    description: 'Channels in the order tried; for administrators.',
  })
  attempts(@Root() { attempts }: CallView, @Ctx() { application }: GraphqlContext): CallAttempt[] {
    return attempts.map(({ channelId, failure, from, to }) => ({
      ...{ channelId, from, to },
      channelName: application.directory.channel(channelId)?.settings.name ?? '',
      failed: failure !== null,
      status: failure?.status ?? null,
      code: failure?.code ?? null,
      durationMs: failure === null ? null : Math.round(failure.durationMs),
    }));
  }

  @FieldResolver(() => BillingObject, {
    nullable: true,
    description: 'How the charge came about; null: there is none.',
  })
  billing(@Root() call: CallView, @Ctx() { application }: GraphqlContext): Billing | null {
    return application.queries.billingOfCall(call);
  }

  @FieldResolver(() => [PriceOriginObject], {
    complexity: 50,
    description: 'Every factor of the price, and who set it.',
  })
  priceOrigins(
    @Root() call: CallView,
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
  ): Promise<readonly PriceOrigin[]> {
    return application.queries.priceOriginsOf(viewer, call);
  }

  @FieldResolver(() => [CallEventObject], { description: 'Oldest first.' })
  events(@Root() { events }: CallView): CallEventObject[] {
    return events.map(({ payload, ...event }) => ({ ...event, json: JSON.stringify(payload) }));
  }
}

@Resolver(() => PriceOriginObject)
export class PriceOriginResolver {
  @FieldResolver(() => OriginKindEnum)
  kind(@Root() { setBy }: PriceOrigin): 'changed' | 'built-in' | 'unknown' {
    return typeof setBy === 'string' ? setBy : 'changed';
  }

  @FieldResolver(() => TimestampScalar, { nullable: true, description: 'When it was set.' })
  since(@Root() { setBy }: PriceOrigin): number | null {
    return typeof setBy === 'string' ? null : unixSeconds(setBy.at);
  }

  @Authorized('root-reading')
  @FieldResolver(() => UserObject, { nullable: true, description: 'Who set it; for root.' })
  async by(@Root() { setBy }: PriceOrigin, @Ctx() { userById }: GraphqlContext): Promise<UserRow | null> {
    return typeof setBy === 'string' || setBy.by === null ? null : userById(setBy.by);
  }

  @Authorized('root-reading')
  @FieldResolver(() => ID, { nullable: true, description: 'Of the change in the history of options; for root.' })
  position(@Root() { setBy }: PriceOrigin): Position | null {
    return typeof setBy === 'string' ? null : setBy.position;
  }
}
