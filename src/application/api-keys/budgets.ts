import { type Instant, unixSeconds } from '../../domain/kernel/instant.js';
import { type Quota, zero } from '../../domain/kernel/quota.js';
import { type Budget, endOf, periodAt } from '../../domain/ledger/budget.js';
import type { ReadModels } from '../../projections/database.js';
import type { ApiKeyRow } from '../../projections/models/api-keys.js';
import { spentWithin } from '../../projections/models/ledger/ledger-queries.js';

/** A budget as it stands now. */
export interface BudgetStanding extends Budget {
  /** In the present period; calls under way are not in it. */
  readonly spent: Quota;
  /** Unix seconds: when the next period begins. */
  readonly resets_at: number;
}

export type BudgetedApiKey = ApiKeyRow & { readonly budget: BudgetStanding | null };

/** The keys, with what of their budgets is spent. */
export async function withBudgets(
  db: ReadModels,
  rows: readonly ApiKeyRow[],
  now: Instant,
): Promise<readonly BudgetedApiKey[]> {
  const wanted = rows.flatMap(({ id, budget }) => (budget === null ? [] : [{ id, ...periodAt(budget.period, now) }]));
  const spent = await spentWithin(db, wanted);
  return rows.map(({ budget, ...row }) => ({
    ...row,
    budget: budget && {
      ...budget,
      spent: spent.get(row.id) ?? zero,
      resets_at: unixSeconds(endOf(periodAt(budget.period, now))),
    },
  }));
}
