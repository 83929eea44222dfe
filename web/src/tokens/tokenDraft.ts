import type { ApiKeyInput, BudgetPeriod, TokenTermsFragment } from '../generated/tokens/tokens.js';
import { asLocalInput, fromLocalInput } from '../kit/form/localInput.js';
import { isAddressOrRange } from './addresses.js';
import { aliasesIn, aliasProblem, aliasText } from './aliases.js';

/* A token while somebody fills in its form. */

export interface TokenDraft {
  readonly name: string;
  /** As a `datetime-local` input has it; empty: never. */
  readonly expiry: string;
  readonly unlimited: boolean;
  /** null: nothing, or no amount, was typed. */
  readonly quota: number | null;
  readonly modelLimitsEnabled: boolean;
  readonly modelLimits: readonly string[];
  /** One address or range per line. */
  readonly allowIps: string;
  /** One per line. */
  readonly aliases: string;
  /** Empty: the owner's group. */
  readonly group: string;
  readonly budgeted: boolean;
  /** null: nothing, or no amount, was typed. */
  readonly budget: number | null;
  readonly period: BudgetPeriod;
  /** How many tokens are made of it. */
  readonly count: number | null;
}

export const newToken: TokenDraft = {
  name: '',
  expiry: '',
  unlimited: false,
  quota: 500_000,
  modelLimitsEnabled: false,
  modelLimits: [],
  allowIps: '',
  aliases: '',
  group: '',
  budgeted: false,
  budget: 500_000,
  period: 'MONTHLY',
  count: 1,
};

export const periods = ['DAILY', 'WEEKLY', 'MONTHLY'] as const satisfies readonly BudgetPeriod[];
/** By the server's rule. */
const maxBudget = 1e15;

export const batchSizes = [10, 20, 30, 100] as const;

/** By the server's rule: bytes, not letters. */
const maxNameBytes = 30;
const maxModelLimitsLength = 1024;
const maxCount = 100;
const suffixLength = 6;

/** As the input of the form has it. `at`: Unix seconds; null: never. */
export const expiryText = (at: number | null): string => (at === null ? '' : asLocalInput(at));

/** Unix seconds; null: never; undefined: the text is no moment. */
const expiryOf = (text: string): number | null | undefined =>
  text.trim() === '' ? null : (fromLocalInput(text) ?? undefined);

/** Seconds from now; null: never. */
export const expiryShortcuts = { never: null, hour: 3_600, day: 86_400, month: 30 * 86_400 } as const;
export type ExpiryShortcut = keyof typeof expiryShortcuts;

export const draftOf = (token: TokenTermsFragment): TokenDraft => ({
  name: token.name,
  expiry: expiryText(token.expiresAt),
  unlimited: token.unlimited,
  quota: token.remainingQuota,
  modelLimitsEnabled: token.modelLimitsEnabled,
  modelLimits: token.modelLimits,
  allowIps: token.allowIps.join('\n'),
  aliases: aliasText(token.modelAliases),
  group: token.group,
  budgeted: token.budget !== null,
  budget: token.budget?.quota ?? newToken.budget,
  period: token.budget?.period ?? newToken.period,
  count: 1,
});

const addressLines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

type TokenProblem =
  | 'name.missing'
  | 'name.long'
  | 'name.longForMany'
  | 'expiry.invalid'
  | 'expiry.past'
  | 'quota.missing'
  | 'quota.negative'
  | 'budget.missing'
  | 'budget.range'
  | 'models.none'
  | 'models.long'
  | 'ips.invalid'
  | 'aliases.many'
  | 'aliases.invalid'
  | 'aliases.twice'
  | 'count.invalid';
export type TokenField = 'name' | 'expiry' | 'quota' | 'budget' | 'models' | 'ips' | 'aliases' | 'count';

const bytes = (text: string): number => new TextEncoder().encode(text).length;

/** What is wrong, by field. `before`: what is edited, which may keep what it has; `now`: Unix seconds. */
export function problemsOf(
  draft: TokenDraft,
  before: TokenTermsFragment | null,
  now: number,
): { readonly [Field in TokenField]?: TokenProblem } {
  return {
    ...named('name', nameProblem(draft)),
    ...named('expiry', expiryProblem(draft, before, now)),
    ...named('quota', quotaProblem(draft, before)),
    ...named('budget', budgetProblem(draft)),
    ...named('models', modelsProblem(draft)),
    ...named('ips', addressLines(draft.allowIps).every(isAddressOrRange) ? null : 'ips.invalid'),
    ...named('aliases', aliasProblem(draft.aliases)),
    ...named('count', countProblem(draft)),
  };
}

const named = (field: TokenField, problem: TokenProblem | null) => (problem === null ? {} : { [field]: problem });

function nameProblem({ name, count }: TokenDraft): TokenProblem | null {
  const length = bytes(name.trim());
  if (length === 0) return 'name.missing';
  if (length > maxNameBytes) return 'name.long';
  return (count ?? 1) > 1 && length + 1 + suffixLength > maxNameBytes ? 'name.longForMany' : null;
}

function expiryProblem({ expiry }: TokenDraft, before: TokenTermsFragment | null, now: number): TokenProblem | null {
  const at = expiryOf(expiry);
  if (at === undefined) return 'expiry.invalid';
  return at !== null && at <= now && at !== before?.expiresAt ? 'expiry.past' : null;
}

function quotaProblem({ unlimited, quota }: TokenDraft, before: TokenTermsFragment | null): TokenProblem | null {
  if (unlimited) return null;
  if (quota === null) return 'quota.missing';
  // A key that overdrew itself may stay so while something else is changed.
  return quota < 0 && quota !== before?.remainingQuota ? 'quota.negative' : null;
}

function budgetProblem({ budgeted, budget }: TokenDraft): TokenProblem | null {
  if (!budgeted) return null;
  if (budget === null) return 'budget.missing';
  return budget < 1 || budget > maxBudget ? 'budget.range' : null;
}

function modelsProblem({ modelLimitsEnabled, modelLimits }: TokenDraft): TokenProblem | null {
  if (modelLimitsEnabled && modelLimits.length === 0) return 'models.none';
  return modelLimits.join(',').length > maxModelLimitsLength ? 'models.long' : null;
}

const countProblem = ({ count }: TokenDraft): TokenProblem | null =>
  count !== null && Number.isInteger(count) && count >= 1 && count <= maxCount ? null : 'count.invalid';

/**
 * Of a draft without problems. A quota nobody touched is not sent, one that was goes with what it was: charges that land
 * meanwhile must not be undone.
 */
export function inputOf(draft: TokenDraft, before: TokenTermsFragment | null): ApiKeyInput {
  const touched = draft.quota !== null && draft.quota !== before?.remainingQuota;
  return {
    name: draft.name.trim(),
    expiresAt: expiryOf(draft.expiry) ?? null,
    unlimited: draft.unlimited,
    ...(touched && { quota: draft.quota, ...(before !== null && { shownQuota: before.remainingQuota }) }),
    modelLimitsEnabled: draft.modelLimitsEnabled,
    modelLimits: [...draft.modelLimits],
    allowIps: [...addressLines(draft.allowIps)],
    modelAliases: [...aliasesIn(draft.aliases)],
    group: draft.group,
    budget: draft.budgeted && draft.budget !== null ? { quota: draft.budget, period: draft.period } : null,
  };
}

const suffixAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Six letters or digits. They distinguish names and are no secret. */
export const randomSuffix = (): string =>
  Array.from({ length: suffixLength }, () => suffixAlphabet[Math.floor(Math.random() * suffixAlphabet.length)]).join(
    '',
  );

/** The first is called as it was typed; the others get a suffix. */
export const batchNames = (name: string, count: number, suffix: () => string): readonly string[] =>
  Array.from({ length: count }, (_, index) => (index === 0 ? name : `${name}-${suffix()}`));
