import type { ApiKeyStatus } from '../generated/tokens/tokens.js';
import type { Widened } from '../kit/table/listParams.js';

/* What of the tokens is looked at, as it stands in the address. */

export const tokensDefaults = {
  /** Everybody's tokens; for administrators. */
  everyone: false,
  name: '',
  key: '',
  owner: '',
  status: '',
  group: '',
} as const;
export type TokensParams = Widened<typeof tokensDefaults>;

export const tokenStatuses = ['ENABLED', 'DISABLED', 'EXPIRED', 'EXHAUSTED'] as const satisfies readonly ApiKeyStatus[];

/** null: any. */
export const statusOf = ({ status }: TokensParams): ApiKeyStatus | null =>
  tokenStatuses.find((known) => known === status) ?? null;

const ownFilters = ['name', 'key'] as const;
const allFilters = [...ownFilters, 'owner', 'status', 'group'] as const;

export const activeFilters = (params: TokensParams): number =>
  (params.everyone ? allFilters : ownFilters).filter((name) => params[name] !== '').length;
