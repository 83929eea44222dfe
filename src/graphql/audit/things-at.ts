import { Arg, Authorized, Ctx, Field, FieldResolver, ID, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { ChangePlace } from '../../application/audit/as-of.js';
import type { PriceAt, PriceSetting } from '../../application/audit/price-at.js';
import type { ApiKeyAt, ChannelAt, UserAt } from '../../application/audit/things-at.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { ApiKeyTerms } from '../../domain/api-key/api-key-terms.js';
import type { ModelAlias } from '../../domain/api-key/model-aliases.js';
import type { ShownField } from '../../domain/channel/channel-edits.js';
import type { IdentityProvider } from '../../domain/kernel/claim.js';
import { ApiKeyId, ChannelId, UserId } from '../../domain/kernel/ids.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import { nearestQuota } from '../../domain/kernel/quota.js';
import type { Budget } from '../../domain/ledger/budget.js';
import { type UnitPrices, unitPricesOf } from '../../domain/pricing/billing.js';
import type { Price } from '../../domain/pricing/pricing.js';
import type { Role } from '../../domain/user/role.js';
import type { Holding } from '../../projections/models/quota-history/quota-history-queries.js';
import type { UserRow } from '../../projections/models/users.js';
import { BudgetPeriodEnum, ModelAliasObject } from '../api-keys/api-key.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { DecimalScalar, QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { PriceUnion } from '../usage/price.js';
import { UnitPricesObject } from '../usage/price-list.js';
import { RoleEnum, UserObject } from '../users/user.js';
import { MomentInput, momentIn } from './audited.js';
import { HoldingObject } from './quota-history.js';

/* Channels, API keys, users and prices as they were. */

const ChannelStatusAtEnum = enumeration<ChannelAt['status']>('ChannelStatusAt', 'Whether a channel served calls.', {
  ENABLED: 'enabled',
  DISABLED: 'disabled',
  AUTO_DISABLED: 'auto-disabled',
  REMOVED: 'removed',
});

const ApiKeyStatusAtEnum = enumeration<ApiKeyAt['status']>('ApiKeyStatusAt', 'Whether a key was accepted.', {
  ENABLED: 'enabled',
  MANUAL: 'manual',
  EXPIRED: 'expired',
  EXHAUSTED: 'exhausted',
  DELETED: 'deleted',
});

const UserStatusAtEnum = enumeration<UserAt['status']>('UserStatusAt', 'Whether a user was let in.', {
  ENABLED: 'enabled',
  DISABLED: 'disabled',
  DELETED: 'deleted',
});

@ObjectType('ChangePlace', { description: 'An event that changed something.' })
class ChangePlaceObject {
  @Field(() => SafeIntScalar)
  readonly position!: ChangePlace['position'];
}

@Resolver(() => ChangePlaceObject)
class ChangePlaceResolver {
  @FieldResolver(() => TimestampScalar)
  at(@Root() { at }: ChangePlace): number {
    return unixSeconds(at);
  }
}

@ObjectType('ChannelFieldAt', { description: 'A setting of a channel as it was, without secrets.' })
class ChannelFieldAtObject implements ShownField {
  @Field(() => String, { description: 'As the input of `editChannel` calls it.' })
  readonly field!: ShownField['field'];

  @Field(() => String, { nullable: true, description: 'Of a list a line each. null: it may hold a secret.' })
  readonly value!: string | null;
}

@ObjectType('ChannelAt', { description: 'A channel as it was.' })
class ChannelAtObject implements Omit<ChannelAt, 'earned'> {
  @Field(() => ID)
  readonly id!: ChannelAt['id'];

  @Field(() => ChannelStatusAtEnum)
  readonly status!: ChannelAt['status'];

  @Field(() => [ChannelFieldAtObject], { description: 'Every setting; of a channel that was removed, none.' })
  readonly fields!: ChannelAt['fields'];

  @Field(() => Boolean)
  readonly hasKey!: boolean;

  @Field(() => Boolean)
  readonly hasProxy!: boolean;

  @Field(() => DecimalScalar, { nullable: true, description: 'Of the account, as its provider had told it last.' })
  readonly balance!: string | null;

  @Field(() => ChangePlaceObject, { nullable: true, description: 'The event that made it so.' })
  readonly since!: ChangePlace | null;
}

@ObjectType('BudgetAt')
class BudgetAtObject implements Budget {
  @Field(() => QuotaScalar)
  readonly quota!: Budget['quota'];

  @Field(() => BudgetPeriodEnum)
  readonly period!: Budget['period'];
}

@ObjectType('ApiKeyTermsAt', { description: 'What the owner had decided about a key.' })
class ApiKeyTermsAtObject implements Omit<ApiKeyTerms, 'expiresAt' | 'modelAliases'> {
  @Field(() => String)
  readonly name!: string;

  @Field(() => Boolean)
  readonly unlimited!: boolean;

  @Field(() => Boolean)
  readonly modelLimitsEnabled!: boolean;

  @Field(() => [String])
  readonly modelLimits!: readonly string[];

  @Field(() => [String])
  readonly allowIps!: readonly string[];

  @Field(() => String, { description: "Empty: the owner's group." })
  readonly group!: string;

  @Field(() => BudgetAtObject, { nullable: true })
  readonly budget!: Budget | null;
}

@Resolver(() => ApiKeyTermsAtObject)
class ApiKeyTermsAtResolver {
  @FieldResolver(() => TimestampScalar, { nullable: true, description: 'null: never.' })
  expiresAt(@Root() { expiresAt }: ApiKeyTerms): number | null {
    return expiresAt === null ? null : unixSeconds(expiresAt);
  }

  @FieldResolver(() => [ModelAliasObject])
  modelAliases(@Root() { modelAliases = [] }: ApiKeyTerms): readonly ModelAlias[] {
    return modelAliases;
  }
}

@ObjectType('ApiKeyAt', { description: 'An API key as it was.' })
class ApiKeyAtObject implements Omit<ApiKeyAt, 'remaining'> {
  @Field(() => ID)
  readonly id!: ApiKeyAt['id'];

  @Field(() => ID)
  readonly ownerId!: ApiKeyAt['ownerId'];

  @Field(() => ApiKeyStatusAtEnum)
  readonly status!: ApiKeyAt['status'];

  @Field(() => ApiKeyTermsAtObject, { nullable: true, description: 'null: it was deleted.' })
  readonly terms!: ApiKeyTerms | null;

  @Field(() => ChangePlaceObject, { nullable: true, description: 'The event that made it so.' })
  readonly since!: ChangePlace | null;
}

@ObjectType('UserAt', { description: 'A user as they were.' })
class UserAtObject implements Omit<UserAt, 'identities'> {
  @Field(() => ID)
  readonly id!: UserAt['id'];

  @Field(() => UserStatusAtEnum)
  readonly status!: UserAt['status'];

  @Field(() => String, { nullable: true, description: 'null: the user has been erased since.' })
  readonly username!: string | null;

  @Field(() => RoleEnum)
  readonly role!: Role;

  @Field(() => String)
  readonly group!: string;

  @Field(() => Boolean)
  readonly hasPassword!: boolean;

  @Field(() => Boolean)
  readonly hasEmail!: boolean;

  @Field(() => [String], { description: 'Providers of the accounts by which the user could sign in.' })
  readonly identities!: readonly IdentityProvider[];

  @Field(() => HoldingObject)
  readonly holding!: Holding;

  @Field(() => ChangePlaceObject, { nullable: true, description: 'The event that made it so, movements aside.' })
  readonly since!: ChangePlace | null;
}

@ObjectType('PriceSetting', { description: 'A change by which a price was what it was.' })
class PriceSettingObject {
  @Field(() => String, { nullable: true, description: 'The option; null: the record of the model.' })
  readonly option!: string | null;

  @Field(() => SafeIntScalar)
  readonly position!: PriceSetting['position'];
}

@Resolver(() => PriceSettingObject)
class PriceSettingResolver {
  @FieldResolver(() => TimestampScalar)
  at(@Root() { at }: PriceSetting): number {
    return unixSeconds(at);
  }

  @FieldResolver(() => UserObject, { nullable: true, description: 'null: not known, nobody, or erased.' })
  async by(@Root() { by }: PriceSetting, @Ctx() { userById }: GraphqlContext): Promise<UserRow | null> {
    return by === null ? null : userById(by);
  }
}

@ObjectType('PriceAt', { description: 'What a call of a model cost.' })
class PriceAtObject implements PriceAt {
  @Field(() => PriceUnion, { nullable: true, description: 'null: it had no price.' })
  readonly price!: Price | null;

  @Field(() => [PriceSettingObject], {
    description: 'In the order of the log. Prices that nobody had changed are those this release begins with.',
  })
  readonly settings!: readonly PriceSetting[];
}

@Resolver(() => PriceAtObject)
class PriceAtResolver {
  @FieldResolver(() => UnitPricesObject, { nullable: true, description: 'Quota for one; null as the price is.' })
  unitPrices(@Root() { price }: PriceAt): UnitPrices | null {
    return price === null ? null : unitPricesOf(price);
  }

  @Authorized('root-reading')
  @Query(() => PriceAtObject)
  priceAt(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('model', () => String) model: string,
    @Arg('group', () => String, { defaultValue: '', description: 'Empty: one whose ratio is 1.' }) group: string,
    @Arg('moment', () => MomentInput) moment: MomentInput,
  ): Promise<PriceAt> {
    return application.queries.priceAt(viewer, { model, group }, momentIn(moment));
  }
}

@Resolver(() => ChannelAtObject)
class ChannelAtResolver {
  @FieldResolver(() => QuotaScalar, { description: 'What it had earned.' })
  earned(@Root() { earned }: ChannelAt): number {
    return nearestQuota(earned);
  }

  @Authorized('admin-reading')
  @Query(() => ChannelAtObject, { nullable: true, description: 'null: there was none.' })
  channelAt(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
    @Arg('moment', () => MomentInput) moment: MomentInput,
  ): Promise<ChannelAt | null> {
    return application.queries.channelAt(viewer, ChannelId(id), momentIn(moment));
  }
}

@Resolver(() => ApiKeyAtObject)
class ApiKeyAtResolver {
  @FieldResolver(() => QuotaScalar, {
    description:
      'What it might still spend, reservations not deducted. Of an unlimited key: what it was given less what it has spent.',
  })
  remaining(@Root() { remaining }: ApiKeyAt): number {
    return nearestQuota(remaining);
  }

  @Authorized()
  @Query(() => ApiKeyAtObject, { nullable: true, description: 'null: there was none. Users see their own.' })
  apiKeyAt(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
    @Arg('moment', () => MomentInput) moment: MomentInput,
  ): Promise<ApiKeyAt | null> {
    return application.queries.apiKeyAt(viewer, ApiKeyId(id), momentIn(moment));
  }
}

@Resolver(() => UserAtObject)
class UserAtResolver {
  @Authorized()
  @Query(() => UserAtObject, { nullable: true, description: 'null: there was none. Users see themselves.' })
  userAt(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
    @Arg('moment', () => MomentInput) moment: MomentInput,
  ): Promise<UserAt | null> {
    return application.queries.userAt(viewer, UserId(id), momentIn(moment));
  }
}

export const asOfResolvers = [
  ChangePlaceResolver,
  ApiKeyTermsAtResolver,
  PriceSettingResolver,
  PriceAtResolver,
  ChannelAtResolver,
  ApiKeyAtResolver,
  UserAtResolver,
] as const;
