import { Undo } from '@blueprintjs/icons';
import type { PriceRepairShownFragment } from '../../generated/audit/repairs/repairs.js';
import { formatExactly } from '../../kit/figures.js';
import { QuotaText } from '../../kit/QuotaText.js';
import { Time } from '../../kit/Time.js';
import type { Column } from '../../kit/table/columns.js';
import { RowAction } from '../../kit/table/RowAction.js';
import { formatTime } from '../../kit/time.js';
import type { Translate } from '../../kit/words/i18n.js';
import { chargeDigits } from '../other-prices/DifferenceText.js';
import { RepairState } from './RepairState.js';
import type { repairsZh } from './repairs.zh.js';

type Repair = PriceRepairShownFragment;

/** As the gateway names what came without a file. */
const withoutFile = 'groupRatios';

export function originText(t: Translate<typeof repairsZh>, { heldAt, pricesName }: Repair): string {
  if (heldAt !== null) return t('origin.heldAt', { at: formatTime(heldAt) });
  return pricesName === null || pricesName === withoutFile ? t('origin.ratios') : pricesName;
}

/** `undo`: null for whoever only looks. */
export const repairColumns = (
  t: Translate<typeof repairsZh>,
  undo: ((repair: Repair) => void) | null,
): readonly Column<Repair>[] => [
  { id: 'at', header: t('column.at'), heading: true, cell: ({ at }) => <Time at={at} /> },
  { id: 'state', header: t('column.state'), cell: (repair) => <RepairState repair={repair} /> },
  {
    id: 'period',
    header: t('column.period'),
    priority: 3,
    wraps: true,
    cell: ({ from, to }) => (
      <>
        <Time at={from} /> – <Time at={to} />
      </>
    ),
  },
  { id: 'right', header: t('column.right'), priority: 2, cell: (repair) => originText(t, repair) },
  {
    id: 'calls',
    header: t('column.calls'),
    align: 'end',
    priority: 2,
    cell: ({ posted }) => formatExactly(posted.calls),
  },
  {
    id: 'given',
    header: t('column.given'),
    align: 'end',
    cell: ({ posted }) => <QuotaText quota={posted.given} digits={chargeDigits} />,
  },
  {
    id: 'taken',
    header: t('column.taken'),
    align: 'end',
    cell: ({ posted }) => <QuotaText quota={posted.taken} digits={chargeDigits} />,
  },
  { id: 'by', header: t('column.by'), priority: 3, cell: ({ by }) => by?.username ?? '—' },
  ...(undo === null
    ? []
    : [
        {
          id: 'undo',
          header: t('column.undo'),
          fixed: true as const,
          pinned: true,
          cell: (repair: Repair) =>
            repair.state === 'POSTED' && (
              <RowAction
                icon={<Undo />}
                label={t('undo', { at: formatTime(repair.at) })}
                onClick={() => undo(repair)}
              />
            ),
        },
      ]),
];
