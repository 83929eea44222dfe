import { formatExactly } from './figures.js';
import { formatQuota } from './quota.js';
import { useQuotaUnits } from './SessionProvider.js';

/** An amount of quota, as money or as units, whichever the gateway is set to. `digits`: decimals of money. */
export function QuotaText({ quota, digits = 2 }: { readonly quota: number; readonly digits?: number }) {
  const units = useQuotaUnits();
  return (
    <span className="figures" title={formatExactly(quota)}>
      {formatQuota(quota, units, digits)}
    </span>
  );
}
