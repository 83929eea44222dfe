import { decimalText } from '../../domain/kernel/decimal.js';
import { type Amounts, byMeasure, comparedMeasures } from '../../domain/reconciliation/amounts.js';
import type { ReconciliationResult } from '../../domain/reconciliation/reconcile.js';
import { type Difference, type DifferenceClass, differenceClasses } from '../../domain/reconciliation/sides.js';

/* A reconciliation, for a program or for people. */

interface Shown extends ReconciliationResult {
  /** Rows that are of something without tokens. */
  readonly ignored: number;
}

const inWords = (amounts: Amounts): Record<string, string> => byMeasure((measure) => decimalText(amounts[measure]));
const timeOf = (at: number): string => new Date(at).toISOString();

const differenceJson = ({ amounts, from, to, ...rest }: Difference) => ({
  ...{ ...rest, from: timeOf(from), to: timeOf(to) },
  amounts: inWords(amounts),
});

/** Every amount as decimal text: exact. */
export const reconciliationJson = ({
  from,
  to,
  total,
  byClass,
  costNotCompared,
  differences,
  ...rest
}: Shown): string =>
  JSON.stringify({
    ...{ from: timeOf(from), to: timeOf(to), ...rest },
    total: { ours: inWords(total.ours), theirs: inWords(total.theirs), differences: inWords(total.differences) },
    costNotCompared: decimalText(costNotCompared),
    byClass: Object.fromEntries(
      differenceClasses.map((name) => [name, { found: byClass[name].found, amounts: inWords(byClass[name].amounts) }]),
    ),
    differences: differences.map(differenceJson),
  });

/** For people to read; a program gets all of them. */
const maxShown = 100;

const classWords: Readonly<Record<DifferenceClass, string>> = {
  'missing-here': 'in the export alone',
  'missing-there': 'here alone',
  price: 'another price',
  tokens: 'other tokens',
  rounding: 'rounding',
  'unknown-outcome': 'outcome not known here',
};

const amountWords = (amounts: Amounts): string =>
  comparedMeasures
    .filter((measure) => amounts[measure].digits !== 0n)
    .map((measure) => `${measure} ${decimalText(amounts[measure])}`)
    .join(', ');

function differenceLine({ class: name, model, from, to, line, requestIds, amounts }: Difference): string {
  const where = [
    `${timeOf(from)} – ${timeOf(to)}`,
    model,
    ...(line === null ? [] : [`line ${line}`]),
    ...requestIds.slice(0, 3),
  ];
  return `${name}: ${amountWords(amounts)} (${where.join(', ')})`;
}

export function reconciliationLines(shown: Shown): string[] {
  const { total, byClass, found, differences, rows, rowsOutside, ignored, calls, costNotCompared } = shown;
  const classes = differenceClasses.filter((name) => byClass[name].found > 0);
  return [
    `${timeOf(shown.from)} – ${timeOf(shown.to)}: ${rows} rows, ${calls} calls`,
    ...(rowsOutside > 0 ? [`rows outside of that time: ${rowsOutside}`] : []),
    ...(ignored > 0 ? [`rows of something without tokens, not compared: ${ignored}`] : []),
    `here: ${amountWords(total.ours) || 'nothing'}`,
    `in the export: ${amountWords(total.theirs) || 'nothing'}`,
    ...(costNotCompared.digits === 0n
      ? []
      : [`cost of calls whose cost is not known here, not compared: ${decimalText(costNotCompared)}`]),
    ...differences.slice(0, maxShown).map(differenceLine),
    ...(found > maxShown
      ? [`… and ${found - Math.min(maxShown, differences.length)} more; --json has ten thousand`]
      : []),
    ...classes.map((name) => `${classWords[name]}: ${byClass[name].found}, ${amountWords(byClass[name].amounts)}`),
    found === 0 ? 'No differences.' : `${found} differences: ${amountWords(total.differences) || 'they cancel out'}`,
  ];
}
