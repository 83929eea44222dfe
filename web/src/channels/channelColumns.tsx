import { Tag } from '@blueprintjs/core';
import type { ListedChannelFragment } from '../generated/channels/channels.js';
import { ChannelStatusTag } from '../kit/channel/ChannelStatusTag.js';
import { ResponseTimeBadge } from '../kit/channel/ResponseTimeBadge.js';
import { QuotaText } from '../kit/QuotaText.js';
import { Time } from '../kit/Time.js';
import type { Column } from '../kit/table/columns.js';
import type { commonZh } from '../kit/words/common.zh.js';
import type { Translate } from '../kit/words/i18n.js';
import { BalanceCell } from './BalanceCell.js';
import { ChannelActions } from './ChannelActions.js';
import { type ChannelChoice, isPriority, isWeight } from './channelDraft.js';
import type { channelsZh } from './channels.zh.js';
import { EditableNumber } from './EditableNumber.js';
import { GroupTags } from './GroupTags.js';
import { TypeLabel } from './TypeLabel.js';
import type { ChannelOrders } from './useChannelOrders.js';

export interface ColumnContext {
  readonly t: Translate<typeof channelsZh>;
  readonly common: Translate<typeof commonZh>;
  readonly choices: ReadonlyMap<number, ChannelChoice>;
  readonly orders: ChannelOrders;
}

export const channelColumns = ({
  t,
  common,
  choices,
  orders,
}: ColumnContext): readonly Column<ListedChannelFragment>[] => [
  {
    id: 'id',
    header: t('column.id'),
    priority: 2,
    cell: ({ id }) => <span className="figures">{id}</span>,
  },
  {
    id: 'name',
    header: t('column.name'),
    heading: true,
    cell: ({ name }) => name,
    under: ({ testError }) =>
      testError !== null && (
        <div className="test-error" title={testError}>
          {t('test.failed', { reason: testError })}
        </div>
      ),
  },
  {
    id: 'groups',
    header: t('column.groups'),
    priority: 2,
    cell: ({ groups }) => <GroupTags groups={groups} />,
  },
  {
    id: 'type',
    header: t('column.type'),
    priority: 2,
    cell: ({ type }) => <TypeLabel type={type} choice={choices.get(type)} />,
  },
  {
    id: 'status',
    header: t('column.status'),
    cell: (channel) => <ChannelStatusTag {...channel} />,
  },
  {
    id: 'responseTime',
    header: t('column.responseTime'),
    priority: 2,
    cell: (channel) => <ResponseTimeBadge {...channel} />,
  },
  {
    id: 'usedQuota',
    header: t('column.usedQuota'),
    align: 'end',
    priority: 2,
    cell: ({ usedQuota }) => <QuotaText quota={usedQuota} />,
  },
  {
    id: 'balance',
    header: t('column.balance'),
    align: 'end',
    priority: 3,
    cell: (channel) => (
      <BalanceCell channel={channel} reportsBalance={choices.get(channel.type)?.balance ?? false} orders={orders} />
    ),
  },
  {
    id: 'priority',
    header: t('column.priority'),
    priority: 3,
    align: 'end',
    cell: ({ id, name, priority }) => (
      <EditableNumber
        label={t('inline.priority', { name })}
        value={priority}
        isValid={isPriority}
        problem={t('problem.priorityInvalid')}
        onCommit={(wanted) => orders.patch(id, { priority: wanted })}
      />
    ),
  },
  {
    id: 'weight',
    header: t('column.weight'),
    priority: 3,
    align: 'end',
    cell: ({ id, name, weight }) => (
      <EditableNumber
        label={t('inline.weight', { name })}
        value={weight}
        isValid={isWeight}
        problem={t('problem.weightInvalid')}
        onCommit={(wanted) => orders.patch(id, { weight: wanted })}
      />
    ),
  },
  {
    id: 'models',
    header: t('column.models'),
    priority: 3,
    initiallyHidden: true,
    cell: ({ models }) => <span title={models.join('\n')}>{t('models.count', { models: models.length })}</span>,
  },
  {
    id: 'tag',
    header: t('column.tag'),
    priority: 3,
    initiallyHidden: true,
    cell: ({ tag }) => (tag === null ? null : <Tag minimal>{tag}</Tag>),
  },
  {
    id: 'testedAt',
    header: t('column.testedAt'),
    priority: 3,
    initiallyHidden: true,
    cell: ({ testedAt }) => <Time at={testedAt} />,
  },
  {
    id: 'createdAt',
    header: t('column.createdAt'),
    priority: 3,
    initiallyHidden: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    id: 'actions',
    header: common('actions'),
    fixed: true,
    pinned: true,
    align: 'end',
    cell: (channel) => <ChannelActions channel={channel} orders={orders} />,
  },
];
