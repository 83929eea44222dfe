import { QuotaText } from '../../kit/QuotaText.js';

/** Charges of single calls are small. */
export const chargeDigits = 6;

/** How much more it is, with its sign. */
export function DifferenceText({ difference }: { readonly difference: number }) {
  return (
    <span>
      {difference > 0 ? '+' : ''}
      <QuotaText quota={difference} digits={chargeDigits} />
    </span>
  );
}
