import type { FiguresShownFragment, MarginShownFragment } from '../generated/dashboard/history.js';
import { abbreviate } from '../kit/figures.js';
import { formatDollars } from '../kit/quota.js';
import type { Column } from '../kit/table/columns.js';
import type { Translate } from '../kit/words/i18n.js';
import type { dashboardZh } from './dashboard.zh.js';

/* What calls have cost the operator, and what was earned by them: for who may see it. */

interface Costed {
  readonly requests: number;
  /** Absent: for ordinary users. */
  readonly margin?: MarginShownFragment | null;
}

/** US dollars. */
export const costOf = ({ margin }: Costed): number => Number(margin?.cost ?? 0);
export const marginOf = ({ margin }: Costed): number => Number(margin?.margin ?? 0);
const withoutCost = ({ margin }: Costed): number => margin?.callsWithoutCost ?? 0;

export const inDollars = (amount: number): string => formatDollars(amount, 4);

/** Whether there is a call whose cost is known; costs without one say nothing. */
export const hasKnownCost = (total: FiguresShownFragment | undefined): boolean =>
  total?.margin != null && (total.requests > total.margin.callsWithoutCost || costOf(total) !== 0);

/** What stands where no cost is known: it is not 0. */
const nothingKnown = '—';

/** Whether calls have a known cost, or there were none. */
const isKnown = (sums: Costed): boolean =>
  sums.requests === 0 || withoutCost(sums) < sums.requests || costOf(sums) !== 0;

/** Of a table of sums. `of`: what of a row was counted. */
export const marginColumns = <Row>(
  t: Translate<typeof dashboardZh>,
  of: (row: Row) => Costed,
): readonly Column<Row>[] => [
  {
    id: 'providerCost',
    header: t('margin.cost'),
    align: 'end',
    priority: 2,
    cell: (row) => (isKnown(of(row)) ? inDollars(costOf(of(row))) : nothingKnown),
  },
  {
    id: 'margin',
    header: t('margin.margin'),
    align: 'end',
    cell: (row) => (isKnown(of(row)) ? inDollars(marginOf(of(row))) : nothingKnown),
  },
  {
    id: 'withoutCost',
    header: t('margin.unknown'),
    align: 'end',
    priority: 2,
    cell: (row) => abbreviate(withoutCost(of(row))),
  },
];
