import { Arg, Authorized, Ctx, Field, ID, InputType, Mutation, Resolver } from 'type-graphql';
import type { ReadableApiKey } from '../../application/api-keys/api-key-queries.js';
import type { BudgetedApiKey } from '../../application/api-keys/budgets.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { ApiKeyTerms, GivenApiKeyTerms } from '../../domain/api-key/api-key-terms.js';
import { type ModelAlias, maxModelAliases } from '../../domain/api-key/model-aliases.js';
import { ApiKeyId } from '../../domain/kernel/ids.js';
import { instantOf } from '../../domain/kernel/instant.js';
import { Quota } from '../../domain/kernel/quota.js';
import type { Budget, BudgetPeriod } from '../../domain/ledger/budget.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { OrderKeyArg, orderKeyIn } from '../server/order-key.js';
import { QuotaScalar, TimestampScalar } from '../server/scalars.js';
import { ApiKeyObject, BudgetPeriodEnum } from './api-key.js';

@InputType()
class BudgetInput implements Pick<Budget, 'period'> {
  @Field(() => QuotaScalar)
  readonly quota!: number;

  @Field(() => BudgetPeriodEnum)
  readonly period!: BudgetPeriod;
}

@InputType()
class ModelAliasInput implements ModelAlias {
  @Field(() => String, { description: 'As it is asked for; one * stands for any characters.' })
  readonly name!: string;

  @Field(() => String, { description: 'As the gateway knows it; the limits of the key are about this name.' })
  readonly model!: string;
}

@InputType()
class ApiKeyInput implements Omit<ApiKeyTerms, 'expiresAt' | 'budget' | 'modelAliases'> {
  @Field(() => String)
  readonly name!: string;

  @Field(() => Boolean, { defaultValue: false })
  readonly unlimited!: boolean;

  @Field(() => QuotaScalar, {
    nullable: true,
    description: 'What the key may still spend. Missing: nothing for a new key, unchanged for another.',
  })
  readonly quota?: number | null;

  @Field(() => QuotaScalar, {
    nullable: true,
    description:
      'What the form showed as remaining: a quota is applied as the difference to it. Missing: to what remains now.',
  })
  readonly shownQuota?: number | null;

  @Field(() => TimestampScalar, { nullable: true, description: 'Missing: never.' })
  readonly expiresAt?: number | null;

  @Field(() => Boolean, { defaultValue: false })
  readonly modelLimitsEnabled!: boolean;

  @Field(() => [String], { defaultValue: [] })
  readonly modelLimits!: string[];

  @Field(() => [String], { defaultValue: [] })
  readonly allowIps!: string[];

  @Field(() => String, { defaultValue: '' })
  readonly group!: string;

  @Field(() => BudgetInput, {
    nullable: true,
    description: 'null: none. Missing: none for a new key, unchanged for another.',
  })
  readonly budget?: BudgetInput | null;

  @Field(() => [ModelAliasInput], {
    nullable: true,
    description: `At most ${maxModelAliases}. Missing: none for a new key, unchanged for another.`,
  })
  readonly modelAliases?: ModelAliasInput[] | null;
}

const budgetOf = ({ quota, period }: BudgetInput): Budget => ({ quota: Quota(quota), period });

const termsOf = ({
  name,
  unlimited,
  expiresAt,
  modelLimitsEnabled,
  modelLimits,
  allowIps,
  group,
  budget,
  modelAliases,
}: ApiKeyInput): GivenApiKeyTerms => ({
  name,
  unlimited,
  expiresAt: typeof expiresAt === 'number' ? instantOf('expiresAt', expiresAt) : null,
  modelLimitsEnabled,
  modelLimits,
  allowIps,
  group,
  ...(budget !== undefined && { budget: budget && budgetOf(budget) }),
  ...((modelAliases ?? null) !== null && { modelAliases: modelAliases ?? [] }),
});

@Resolver()
export class ApiKeyCommandResolver {
  @Authorized()
  @Mutation(() => ApiKeyObject)
  async issueApiKey(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('input', () => ApiKeyInput) input: ApiKeyInput,
    @OrderKeyArg() key?: string | null,
  ): Promise<ReadableApiKey> {
    const order = { terms: termsOf(input), quota: input.quota ?? 0 };
    const { id, position } = await application.apiKeys.issue(viewer, order, orderKeyIn(key));
    await application.visible(position);
    return application.queries.apiKey(viewer, id);
  }

  @Authorized()
  @Mutation(() => ApiKeyObject, { description: 'Replaces what the owner decides about a key; its status stays.' })
  async editApiKey(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
    @Arg('input', () => ApiKeyInput) input: ApiKeyInput,
    @OrderKeyArg() key?: string | null,
  ): Promise<ReadableApiKey> {
    const id = ApiKeyId(rawId);
    const change = { terms: termsOf(input), quota: input.quota ?? null, shownQuota: input.shownQuota ?? null };
    await application.visible(await application.apiKeys.edit(viewer, id, change, orderKeyIn(key)));
    return application.queries.apiKey(viewer, id);
  }

  @Authorized()
  @Mutation(() => ApiKeyObject)
  async setApiKeyEnabled(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
    @Arg('enabled', () => Boolean) enabled: boolean,
  ): Promise<ReadableApiKey> {
    const id = ApiKeyId(rawId);
    await application.visible(await application.apiKeys.setStatus(viewer, id, enabled ? 'enabled' : 'manual'));
    return application.queries.apiKey(viewer, id);
  }

  @Authorized('admin')
  @Mutation(() => ApiKeyObject, {
    description:
      'Disables anybody’s key, e.g. one that has leaked. Its owner reads so in the usage log, and may enable it.',
  })
  async revokeApiKey(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
  ): Promise<BudgetedApiKey> {
    const id = ApiKeyId(rawId);
    await application.visible(await application.apiKeys.revoke(viewer, id));
    return application.queries.anyApiKey(viewer, id);
  }

  @Authorized()
  @Mutation(() => ID, { description: 'Answers with the id of the key that is gone.' })
  async deleteApiKey(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
  ): Promise<ApiKeyId> {
    const id = ApiKeyId(rawId);
    await application.visible(await application.apiKeys.remove(viewer, id));
    return id;
  }
}
