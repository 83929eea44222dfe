import { Tag } from '@blueprintjs/core';
import { Link } from 'react-router-dom';
import type { QuotaHistoryQuery } from '../generated/audit/audit.js';
import { QuotaText } from '../kit/QuotaText.js';
import { Time } from '../kit/Time.js';
import type { Column } from '../kit/table/columns.js';
import type { Translate } from '../kit/words/i18n.js';
import type { auditZh } from './audit.zh.js';
import { MovementSubject } from './MovementSubject.js';

export type Movement = QuotaHistoryQuery['quotaHistory']['items'][number];

/** Charges of single calls are small. */
const digits = 6;

type Account = Extract<keyof typeof auditZh, `account.${string}`>;

export const movementColumns = (t: Translate<typeof auditZh>): readonly Column<Movement>[] => [
  {
    id: 'at',
    header: t('column.at'),
    heading: true,
    cell: ({ at }) => <Time at={at} />,
    under: ({ position }) => <span className="figures">{position}</span>,
  },
  { id: 'cause', header: t('column.cause'), cell: ({ cause }) => <Tag minimal>{t(`cause.${cause}`)}</Tag> },
  { id: 'subject', header: t('column.subject'), priority: 2, cell: (movement) => <MovementSubject {...movement} /> },
  {
    id: 'counters',
    header: t('column.counters'),
    priority: 2,
    wraps: true,
    cell: ({ counters }) =>
      counters.length === 0
        ? '—'
        : counters.map(({ account, amount }) => (
            <div key={account}>
              {t(`account.${account}` as Account)} <QuotaText quota={amount} digits={digits} />
            </div>
          )),
  },
  {
    id: 'by',
    header: t('column.by'),
    priority: 3,
    cell: ({ by }) =>
      by === null || by === undefined ? '—' : <Link to={`/audit?kind=USER&id=${by.id}`}>{by.username}</Link>,
  },
  {
    id: 'reserved',
    header: t('column.reserved'),
    priority: 3,
    align: 'end',
    cell: ({ change }) => <QuotaText quota={change.reserved} digits={digits} />,
    under: ({ balance }) => <QuotaText quota={balance.reserved} digits={digits} />,
  },
  {
    id: 'change',
    header: t('column.change'),
    align: 'end',
    cell: ({ change }) => <QuotaText quota={change.available} digits={digits} />,
  },
  {
    id: 'balance',
    header: t('column.balance'),
    align: 'end',
    cell: ({ balance }) => <QuotaText quota={balance.available} digits={digits} />,
  },
];
