import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  ID,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { ReadableApiKey } from '../../application/api-keys/api-key-queries.js';
import type { BudgetedApiKey, BudgetStanding } from '../../application/api-keys/budgets.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { ModelAlias } from '../../domain/api-key/model-aliases.js';
import { ApiKeyId, UserId } from '../../domain/kernel/ids.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { BudgetPeriod } from '../../domain/ledger/budget.js';
import type { Page } from '../../projections/engine/page.js';
import type { ApiKeyRow } from '../../projections/models/api-keys.js';
import type { UserRow } from '../../projections/models/users.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { CountedPage, maxPageSize, PageArgs } from '../server/page.js';
import { QuotaScalar, TimestampScalar } from '../server/scalars.js';
import { UserObject } from '../users/user.js';

const ApiKeyStatusEnum = enumeration<ApiKeyRow['status']>(
  'ApiKeyStatus',
  'Whether a key is accepted. EXPIRED and EXHAUSTED are found out when the key is used.',
  { ENABLED: 'enabled', DISABLED: 'disabled', EXPIRED: 'expired', EXHAUSTED: 'exhausted' },
);

export const BudgetPeriodEnum = enumeration<BudgetPeriod>(
  'BudgetPeriod',
  'How long a budget lasts. Days begin at midnight UTC, weeks on Mondays, months on the first.',
  { DAILY: 'daily', WEEKLY: 'weekly', MONTHLY: 'monthly' },
);

@ObjectType('ModelAlias', { description: 'A name by which a model that is called otherwise may be asked for.' })
export class ModelAliasObject implements ModelAlias {
  @Field(() => String, { description: 'As it is asked for; one * stands for any characters.' })
  readonly name!: string;

  @Field(() => String, { description: 'As the gateway knows it.' })
  readonly model!: string;
}

@ObjectType('ApiKeyBudget', { description: 'What a key may spend in each day, week or month.' })
class ApiKeyBudgetObject implements BudgetStanding {
  @Field(() => QuotaScalar)
  readonly quota!: Quota;

  @Field(() => BudgetPeriodEnum)
  readonly period!: BudgetPeriod;

  @Field(() => QuotaScalar, { description: 'In the present period. Calls under way are not in it yet.' })
  readonly spent!: Quota;

  @Field(() => TimestampScalar, { name: 'resetsAt', description: 'When the next period begins.' })
  readonly resets_at!: number;
}

@ObjectType('ApiKey', { description: "A caller's credential." })
export class ApiKeyObject
  implements
    Pick<
      ApiKeyRow,
      | 'id'
      | 'owner_id'
      | 'name'
      | 'status'
      | 'expires_at'
      | 'unlimited'
      | 'remain_quota'
      | 'used_quota'
      | 'model_limits_enabled'
      | 'model_limits'
      | 'allow_ips'
      | 'group'
      | 'budget'
      | 'model_aliases'
      | 'created_at'
      | 'accessed_at'
    >
{
  @Field(() => ID)
  readonly id!: ApiKeyRow['id'];

  @Field(() => ID, { name: 'ownerId' })
  readonly owner_id!: ApiKeyRow['owner_id'];

  @Field(() => String)
  readonly name!: string;

  @Field(() => ApiKeyStatusEnum)
  readonly status!: ApiKeyRow['status'];

  @Field(() => TimestampScalar, { name: 'expiresAt', nullable: true, description: 'null: never.' })
  readonly expires_at!: number | null;

  @Field(() => Boolean, { description: 'The remaining quota is counted but refuses nothing.' })
  readonly unlimited!: boolean;

  @Field(() => QuotaScalar, { name: 'remainingQuota', description: 'Holds of calls under way are taken off.' })
  readonly remain_quota!: ApiKeyRow['remain_quota'];

  @Field(() => QuotaScalar, { name: 'usedQuota' })
  readonly used_quota!: ApiKeyRow['used_quota'];

  @Field(() => Boolean, { name: 'modelLimitsEnabled' })
  readonly model_limits_enabled!: boolean;

  @Field(() => [String], { name: 'modelLimits' })
  readonly model_limits!: readonly string[];

  @Field(() => [String], { name: 'allowIps', description: 'Addresses or CIDR ranges; none: any address.' })
  readonly allow_ips!: readonly string[];

  @Field(() => String, { description: "Empty: the owner's group." })
  readonly group!: string;

  @Field(() => ApiKeyBudgetObject, { nullable: true, description: 'Binds unlimited keys, too. null: none.' })
  readonly budget!: BudgetStanding | null;

  @Field(() => [ModelAliasObject], {
    name: 'modelAliases',
    description: 'Names by which its programs may ask for a model that is called otherwise.',
  })
  readonly model_aliases!: readonly ModelAlias[];

  @Field(() => TimestampScalar, { name: 'createdAt' })
  readonly created_at!: number;

  @Field(() => TimestampScalar, { name: 'accessedAt', nullable: true, description: 'null: never used.' })
  readonly accessed_at!: number | null;
}

@ObjectType()
class ApiKeyPage extends CountedPage implements Page<BudgetedApiKey> {
  @Field(() => [ApiKeyObject])
  readonly items!: readonly BudgetedApiKey[];
}

@ArgsType()
class AllApiKeysArgs extends PageArgs {
  @Field(() => ID, { nullable: true })
  readonly ownerId?: string;

  @Field(() => ApiKeyStatusEnum, { nullable: true })
  readonly status?: ApiKeyRow['status'];

  @Field(() => String, { nullable: true, description: 'Part of the name.' })
  readonly name?: string;

  @Field(() => String, { nullable: true, description: 'The whole key.' })
  readonly key?: string;

  @Field(() => String, { nullable: true })
  readonly group?: string;
}

const prefix = 'sk-';
const withoutPrefix = (key: string): string => (key.startsWith(prefix) ? key.slice(prefix.length) : key);

@Resolver(() => ApiKeyObject)
export class ApiKeyResolver {
  @Authorized()
  @FieldResolver(() => String, { nullable: true, description: 'As callers send it; null for everybody but the owner.' })
  key(@Root() { key }: ApiKeyRow & Partial<ReadableApiKey>): string | null {
    return key ? `${prefix}${key}` : null;
  }

  @Authorized('admin-reading')
  @FieldResolver(() => UserObject, { nullable: true })
  owner(@Root() apiKey: ApiKeyRow, @Ctx() { userById }: GraphqlContext): Promise<UserRow | null> {
    return userById(apiKey.owner_id);
  }

  @Authorized()
  @Query(() => ApiKeyPage, { description: 'Own keys, newest first.' })
  apiKeys(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => PageArgs) request: PageArgs,
  ): Promise<Page<ReadableApiKey>> {
    return application.queries.apiKeys(viewer, request);
  }

  @Authorized()
  @Query(() => ApiKeyObject, { description: 'An own key.' })
  apiKey(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
  ): Promise<ReadableApiKey> {
    return application.queries.apiKey(viewer, ApiKeyId(id));
  }

  @Authorized()
  @Query(() => [ApiKeyObject], {
    description: `Own keys by parts of name and key, newest first, at most ${maxPageSize}.`,
  })
  async searchApiKeys(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('name', () => String, { defaultValue: '' }) name: string,
    @Arg('key', () => String, { defaultValue: '' }) key: string,
  ): Promise<readonly ReadableApiKey[]> {
    const found = await application.queries.searchApiKeys(viewer, { name, key: withoutPrefix(key) });
    return found.slice(0, maxPageSize);
  }

  @Authorized('admin-reading')
  @Query(() => ApiKeyPage, { description: "Everybody's keys, newest first." })
  allApiKeys(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => AllApiKeysArgs) { page, size, ownerId, status, name, key, group }: AllApiKeysArgs,
  ): Promise<Page<BudgetedApiKey>> {
    return application.queries.allApiKeys(
      viewer,
      { page, size },
      {
        ownerId: ownerId ? UserId(ownerId) : undefined,
        status: status ?? undefined,
        name: name ?? undefined,
        key: withoutPrefix(key ?? ''),
        group: group ?? undefined,
      },
    );
  }
}
