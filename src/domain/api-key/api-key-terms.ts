import { isDeepStrictEqual } from 'node:util';
import { bytesIn, checkList, checkText, type TextBound } from '../kernel/bounds.js';
import { Failure, invalidField } from '../kernel/failure.js';
import type { Instant } from '../kernel/instant.js';
import { groupText } from '../kernel/names.js';
import { type Budget, checkBudget } from '../ledger/budget.js';
import { checkModelAliases, type ModelAlias } from './model-aliases.js';

/* What the owner decides about an API key, and how much of it there may be. */

export interface ApiKeyTerms {
  readonly name: string;
  readonly unlimited: boolean;
  /** null: never expires. */
  readonly expiresAt: Instant | null;
  readonly modelLimitsEnabled: boolean;
  readonly modelLimits: readonly string[];
  /** Lines as the owner wrote them: addresses or CIDR ranges; empty: any address. */
  readonly allowIps: readonly string[];
  /** Empty: the owner's own group. */
  readonly group: string;
  /** null: only what the key and its owner have limits what it spends. */
  readonly budget: Budget | null;
  /** Left out: none. */
  readonly modelAliases?: readonly ModelAlias[];
}

/** The terms as somebody gives them. Who knows nothing of budgets or aliases leaves them out: then there are none, or they stay. */
export type GivenApiKeyTerms = Omit<ApiKeyTerms, 'budget'> & Partial<Pick<ApiKeyTerms, 'budget'>>;

/** What of the terms decides how much may be spent. */
export type SpendingTerms = Pick<ApiKeyTerms, 'unlimited' | 'budget'>;

const maxNameBytes = 30;
const nameText: TextBound = { max: maxNameBytes };
/** All names together, commas included. */
const maxModelLimitsLength = 1024;
const modelLimitText: TextBound = { max: maxModelLimitsLength };
/** The longest range, with blanks around it. */
const addressText: TextBound = { max: 64 };
export const maxAllowedAddresses = 1000;

const same = (before: readonly string[] | undefined, now: readonly string[]): boolean =>
  before !== undefined && before.length === now.length && before.every((item, index) => item === now[index]);

/** Throws unless everything that differs from `before` is within its bounds. null: all of it is new. */
export function checkApiKeyTerms(terms: ApiKeyTerms, before: ApiKeyTerms | null): void {
  const { name, modelLimits, allowIps, group, budget, modelAliases } = terms;
  if (name !== before?.name) {
    if (bytesIn(name) > maxNameBytes) throw new Failure('api-key-name-too-long', { field: 'name', max: maxNameBytes });
    checkText('name', name, nameText);
  }
  if (!same(before?.modelLimits, modelLimits)) {
    if (modelLimits.reduce((length, model) => length + model.length + 1, -1) > maxModelLimitsLength)
      throw invalidField('modelLimits', `at most ${maxModelLimitsLength} characters`);
    checkList('modelLimits', modelLimits, maxModelLimitsLength, modelLimitText);
  }
  if (!same(before?.allowIps, allowIps)) checkList('allowIps', allowIps, maxAllowedAddresses, addressText);
  if (group !== before?.group) checkText('group', group, groupText);
  if (budget !== null && !isDeepStrictEqual(budget, before?.budget)) checkBudget(budget);
  if (modelAliases !== undefined && !isDeepStrictEqual(modelAliases, before?.modelAliases))
    checkModelAliases(modelAliases);
}

/** `given` with what it leaves out as it was before. null: nothing was. */
export function completedTerms(given: GivenApiKeyTerms, before: ApiKeyTerms | null): ApiKeyTerms {
  const { modelAliases = before?.modelAliases ?? [], ...others } = given;
  return {
    ...others,
    budget: given.budget === undefined ? (before?.budget ?? null) : given.budget,
    // Stored field by field: a client's object may hold more.
    ...(modelAliases.length > 0 && { modelAliases: modelAliases.map(({ name, model }) => ({ name, model })) }),
  };
}
