import { Link } from 'react-router-dom';
import type { OrderFactsFragment } from '../generated/kit/payment/payment.js';
import type { ListedOrderFragment } from '../generated/orders/orders.js';
import { CutText } from '../kit/CutText.js';
import { Time } from '../kit/Time.js';
import type { Column } from '../kit/table/columns.js';
import type { commonZh } from '../kit/words/common.zh.js';
import type { Translate } from '../kit/words/i18n.js';
import { OrderActions } from './OrderActions.js';
import type { ordersZh } from './orders.zh.js';

const learnedText = (
  { learned, completedBy, reason }: ListedOrderFragment,
  t: Translate<typeof ordersZh>,
): string | undefined =>
  learned === 'HAND' ? t('learned.hand', { name: completedBy?.username ?? '—', reason: reason ?? '' }) : undefined;

export const orderColumns = (
  t: Translate<typeof ordersZh>,
  common: Translate<typeof commonZh>,
  facts: readonly Column<OrderFactsFragment>[],
): readonly Column<ListedOrderFragment>[] => [
  {
    id: 'order',
    header: t('column.order'),
    heading: true,
    cell: ({ id }) => <code>{id}</code>,
    under: ({ reference }) => <span className="figures">{reference}</span>,
  },
  {
    id: 'user',
    header: t('column.user'),
    cell: ({ user }) =>
      user === null ? (
        '—'
      ) : (
        <Link to={`/user?open=${user.id}`}>
          <CutText text={user.username} />
        </Link>
      ),
  },
  ...facts,
  {
    id: 'learned',
    header: t('column.learned'),
    priority: 2,
    cell: (order) =>
      order.learned === null ? '—' : <span title={learnedText(order, t)}>{t(`learned.${order.learned}`)}</span>,
    under: (order) => learnedText(order, t) ?? '',
  },
  { id: 'createdAt', header: t('column.createdAt'), priority: 3, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { id: 'changedAt', header: t('column.changedAt'), priority: 3, cell: ({ changedAt }) => <Time at={changedAt} /> },
  {
    id: 'actions',
    header: common('actions'),
    fixed: true,
    pinned: true,
    align: 'end',
    cell: (order) => <OrderActions order={order} />,
  },
];
