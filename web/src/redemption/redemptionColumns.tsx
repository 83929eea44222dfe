import { Link } from 'react-router-dom';
import type { ListedCodeFragment, RedemptionStatus } from '../generated/redemption/redemption.js';
import { CutText } from '../kit/CutText.js';
import { QuotaText } from '../kit/QuotaText.js';
import { StatusTag } from '../kit/StatusTag.js';
import { Time } from '../kit/Time.js';
import type { Column } from '../kit/table/columns.js';
import type { commonZh } from '../kit/words/common.zh.js';
import type { Translate } from '../kit/words/i18n.js';
import { RedemptionActions } from './RedemptionActions.js';
import type { redemptionZh } from './redemption.zh.js';

const intents = { UNUSED: 'success', DISABLED: 'danger', USED: 'none' } as const satisfies Record<
  RedemptionStatus,
  string
>;

/** Enough to distinguish codes; whoever wants one copies it. */
const masked = (code: string): string => `${code.slice(0, 4)}…${code.slice(-4)}`;

export const redemptionColumns = (
  t: Translate<typeof redemptionZh>,
  common: Translate<typeof commonZh>,
): readonly Column<ListedCodeFragment>[] => [
  {
    id: 'name',
    header: t('column.name'),
    heading: true,
    cell: ({ name }) => name,
    under: ({ id }) => <span className="figures">#{id}</span>,
  },
  {
    id: 'code',
    header: t('column.code'),
    priority: 2,
    cell: ({ code }) => (code === '' ? t('code.lost') : <code>{masked(code)}</code>),
  },
  {
    id: 'status',
    header: t('column.status'),
    cell: ({ status }) => <StatusTag intent={intents[status]}>{t(`status.${status}`)}</StatusTag>,
  },
  { id: 'quota', header: t('column.quota'), align: 'end', cell: ({ quota }) => <QuotaText quota={quota} /> },
  {
    id: 'redeemedBy',
    header: t('column.redeemedBy'),
    priority: 2,
    cell: ({ redeemedBy, redeemedById }) =>
      redeemedById === null ? (
        '—'
      ) : (
        <Link to={`/user?open=${redeemedById}`}>
          <CutText text={redeemedBy?.username ?? redeemedById} />
        </Link>
      ),
  },
  {
    id: 'redeemedAt',
    header: t('column.redeemedAt'),
    priority: 3,
    cell: ({ redeemedAt }) => <Time at={redeemedAt} />,
  },
  { id: 'createdAt', header: t('column.createdAt'), priority: 3, cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: 'actions',
    header: common('actions'),
    fixed: true,
    pinned: true,
    align: 'end',
    cell: (code) => <RedemptionActions redemption={code} />,
  },
];
