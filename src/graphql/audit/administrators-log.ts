import { ArrayMaxSize, ArrayMinSize, Max, Min } from 'class-validator';
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
} from 'type-graphql';
import type { AdministratorAct } from '../../application/audit/administrators-log.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { Position } from '../../domain/events/events.js';
import type { OrderCredential, OrderFace } from '../../domain/events/order-origin.js';
import { UserId } from '../../domain/kernel/ids.js';
import { type Instant, instantOf, unixSeconds } from '../../domain/kernel/instant.js';
import type { ActKind, ActSubject } from '../../projections/models/administrators-log/acts.js';
import type { ActFilter } from '../../projections/models/administrators-log/administrators-log-queries.js';
import type { FieldChange } from '../../projections/models/administrators-log/changed-fields.js';
import type { UserRow } from '../../projections/models/users.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { maxPageSize } from '../server/page.js';
import { SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { UserObject } from '../users/user.js';

const KindEnum = enumeration<ActKind>('AdministratorOrder', 'What an administrator did.', {
  ADDED: 'added',
  EDITED: 'edited',
  ENABLED: 'enabled',
  DISABLED: 'disabled',
  REMOVED: 'removed',
  ERASED: 'erased',
  ROLE_CHANGED: 'role-changed',
  GROUP_CHANGED: 'group-changed',
  PASSWORD_CHANGED: 'password-changed',
  ACCESS_TOKEN_ISSUED: 'access-token-issued',
  SECOND_FACTOR_CHANGED: 'second-factor-changed',
  SIGN_INS_ENDED: 'sign-ins-ended',
  BALANCE_ADJUSTED: 'balance-adjusted',
  COMPLETED_BY_HAND: 'completed-by-hand',
  CLEARED: 'cleared',
  LEFT_OUT: 'left-out',
  REPAIR_POSTED: 'repair-posted',
  REPAIR_UNDONE: 'repair-undone',
});

const SubjectEnum = enumeration<ActSubject>('AdministeredSubject', 'To what an administrator did something.', {
  USER: 'user',
  API_KEY: 'api-key',
  CHANNEL: 'channel',
  CODE: 'code',
  OPTION: 'option',
  PRICES: 'prices',
  PAYMENT: 'payment',
  USAGE_LOG: 'usage-log',
  READ_MODEL: 'read-model',
  REPAIR: 'repair',
});

const FaceEnum = enumeration<OrderFace>('OrderFace', 'Where an order came in.', {
  GRAPHQL: 'graphql',
  LEGACY_API: 'legacy-api',
});

const CredentialEnum = enumeration<OrderCredential>('OrderCredential', 'By what whoever ordered was known.', {
  SESSION: 'session',
  ACCESS_TOKEN: 'access-token',
});

@ObjectType('AdministeredChange', { description: 'What an order changed.' })
class ChangeObject implements FieldChange {
  @Field(() => String)
  readonly field!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Before; of a list or a map what went, a line each. null, as `to`: only that it changed is shown.',
  })
  readonly from!: string | null;

  @Field(() => String, { nullable: true, description: 'Afterwards; of a list or a map what came.' })
  readonly to!: string | null;

  @Field(() => Boolean, { description: 'There was more of `from` or `to`.' })
  readonly isCut!: boolean;
}

@ObjectType('AdministratorAct', { description: 'One order of an administrator.' })
class ActObject {
  @Field(() => SafeIntScalar, { description: 'Of its event in the log.' })
  readonly position!: Position;

  @Field(() => KindEnum)
  readonly kind!: ActKind;

  @Field(() => SubjectEnum)
  readonly subject!: ActSubject;

  @Field(() => String, { description: 'Empty: there is one alone, or there are several.' })
  readonly subjectId!: string;

  @Field(() => String, { nullable: true, description: 'As it was called then; null: it has no name but its id.' })
  readonly name!: string | null;

  @Field(() => [ChangeObject])
  readonly changes!: readonly FieldChange[];

  @Field(() => Int, { description: 'Changes beyond these.' })
  readonly moreChanges!: number;

  @Field(() => Boolean)
  readonly onCommandLine!: boolean;

  @Field(() => FaceEnum, { nullable: true, description: 'null: it was not written down.' })
  readonly face!: OrderFace | null;

  @Field(() => CredentialEnum, { nullable: true })
  readonly credential!: OrderCredential | null;

  @Field(() => String, {
    nullable: true,
    description: 'From where, for auditors and root, and for oneself; null as well where whoever ordered is erased.',
  })
  readonly address!: string | null;
}

@ObjectType()
class AdministratorsLog {
  @Field(() => [ActObject])
  readonly items!: readonly AdministratorAct[];

  @Field(() => Boolean, { description: 'Give the `position` of the last one as `after` for more.' })
  readonly hasMore!: boolean;
}

const OrderEnum = enumeration<'oldest' | 'newest'>('AdministratorsLogOrder', 'Which orders come first.', {
  OLDEST: 'oldest',
  NEWEST: 'newest',
});

@ArgsType()
class AdministratorsLogArgs {
  @Field(() => ID, { nullable: true, description: 'The id of an administrator; null: of all.' })
  readonly by?: string | null;

  @Field(() => [KindEnum], { nullable: true, description: 'null: of all.' })
  @ArrayMinSize(1)
  @ArrayMaxSize(20)
  readonly kinds?: ActKind[] | null;

  @Field(() => SubjectEnum, { nullable: true })
  readonly subject?: ActSubject | null;

  @Field(() => String, { nullable: true, description: 'With `subject`.' })
  readonly subjectId?: string | null;

  @Field(() => TimestampScalar, { nullable: true, description: 'Inclusive.' })
  readonly from?: number | null;

  @Field(() => TimestampScalar, { nullable: true, description: 'Inclusive.' })
  readonly to?: number | null;

  @Field(() => OrderEnum, { defaultValue: 'newest' })
  readonly order!: 'oldest' | 'newest';

  @Field(() => SafeIntScalar, { nullable: true })
  readonly after?: number | null;

  @Field(() => Int, { defaultValue: 20, description: '1 to 100.' })
  @Min(1)
  @Max(maxPageSize)
  readonly first!: number;
}

const filterIn = ({ by, kinds, subject, subjectId, from, to }: AdministratorsLogArgs): ActFilter => ({
  by: by ? UserId(by) : null,
  kinds: kinds ?? null,
  subject: subject ?? null,
  subjectId: subjectId ?? null,
  from: typeof from === 'number' ? instantOf('from', from) : null,
  to: typeof to === 'number' ? ((instantOf('to', to) + 1000) as Instant) : null,
});

@Resolver(() => ActObject)
export class AdministratorsLogResolver {
  @Authorized('admin-reading')
  @Query(() => AdministratorsLog, { description: 'What administrators did, from where, and what it was before.' })
  administratorsLog(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => AdministratorsLogArgs) asked: AdministratorsLogArgs,
  ): Promise<AdministratorsLog> {
    const { order, after, first } = asked;
    return application.queries.administratorsLog(viewer, {
      filter: filterIn(asked),
      order,
      after: typeof after === 'number' ? Position(after) : null,
      first,
    });
  }

  @FieldResolver(() => TimestampScalar)
  at(@Root() { at }: AdministratorAct): number {
    return unixSeconds(at);
  }

  @FieldResolver(() => ID, { nullable: true, description: 'null: not written down, or done on the command line.' })
  byId(@Root() { by }: AdministratorAct): UserId | null {
    return by;
  }

  @FieldResolver(() => UserObject, { nullable: true, description: 'null as well where whoever ordered is erased.' })
  async by(@Root() { by }: AdministratorAct, @Ctx() { userById }: GraphqlContext): Promise<UserRow | null> {
    const administrator = by === null ? null : await userById(by);
    return administrator === null || administrator.erased ? null : administrator;
  }
}
