import { Button, ButtonGroup } from '@blueprintjs/core';
import { Disable, Edit, Tick } from '@blueprintjs/icons';
import type { ChannelsByTagQuery } from '../generated/channels/channels.js';
import { ResponseTimeBadge } from '../kit/channel/ResponseTimeBadge.js';
import { averageResponseTime } from '../kit/channel/responseTime.js';
import { QuotaText } from '../kit/QuotaText.js';
import { StatusTag } from '../kit/StatusTag.js';
import type { Column } from '../kit/table/columns.js';
import { itemOf, useOpenItem } from '../kit/table/openItem.js';
import { useText } from '../kit/words/i18n.js';
import type { ColumnContext } from './channelColumns.js';
import { channelsTexts } from './channels.texts.js';
import { GroupTags } from './GroupTags.js';
import type { ChannelOrders } from './useChannelOrders.js';

type ChannelTag = ChannelsByTagQuery['channelsByTag']['items'][number];

const distinct = <Value,>(values: readonly Value[]): readonly Value[] => [...new Set(values)];

export const tagColumns = ({ t, common, orders }: ColumnContext): readonly Column<ChannelTag>[] => {
  /** One figure where all channels agree. */
  const shared = (values: readonly number[]) => {
    const [first, ...others] = distinct(values);
    return others.length === 0 ? <span className="figures">{first}</span> : t('tag.mixed');
  };
  return [
    {
      id: 'tag',
      header: t('column.tag'),
      heading: true,
      cell: ({ tag }) => tag,
    },
    {
      id: 'channels',
      header: t('column.channels'),
      align: 'end',
      priority: 2,
      cell: ({ channels }) => <span className="figures">{channels.length}</span>,
    },
    {
      id: 'groups',
      header: t('column.groups'),
      priority: 2,
      cell: ({ channels }) => <GroupTags groups={distinct(channels.flatMap(({ groups }) => groups))} />,
    },
    {
      id: 'status',
      header: t('column.status'),
      cell: ({ channels }) => {
        const enabled = channels.filter(({ status }) => status === 'ENABLED').length;
        const intent = enabled === channels.length ? 'success' : enabled === 0 ? 'danger' : 'warning';
        return <StatusTag intent={intent}>{t('status.someEnabled', { enabled, total: channels.length })}</StatusTag>;
      },
    },
    {
      id: 'responseTime',
      header: t('column.responseTime'),
      priority: 2,
      cell: ({ channels }) => <ResponseTimeBadge responseTimeMs={averageResponseTime(channels)} />,
    },
    {
      id: 'usedQuota',
      header: t('column.usedQuota'),
      align: 'end',
      priority: 2,
      cell: ({ channels }) => <QuotaText quota={channels.reduce((sum, { usedQuota }) => sum + usedQuota, 0)} />,
    },
    {
      id: 'priority',
      header: t('column.priority'),
      align: 'end',
      priority: 3,
      cell: ({ channels }) => shared(channels.map(({ priority }) => priority)),
    },
    {
      id: 'weight',
      header: t('column.weight'),
      align: 'end',
      priority: 3,
      cell: ({ channels }) => shared(channels.map(({ weight }) => weight)),
    },
    {
      id: 'actions',
      header: common('actions'),
      fixed: true,
      pinned: true,
      align: 'end',
      cell: ({ tag }) => <TagActions tag={tag} orders={orders} />,
    },
  ];
};

function TagActions({ tag, orders }: { readonly tag: string; readonly orders: ChannelOrders }) {
  const t = useText(channelsTexts);
  const { show } = useOpenItem();
  const actions = [
    { name: t('action.enableAll'), icon: <Tick />, order: () => void orders.setTagEnabled(tag, true) },
    { name: t('action.disableAll'), icon: <Disable />, order: () => void orders.setTagEnabled(tag, false) },
    { name: t('action.editTag'), icon: <Edit />, order: () => show(itemOf('tag', tag)) },
  ];
  return (
    <ButtonGroup variant="minimal">
      {actions.map(({ name, icon, order }) => (
        <Button key={name} size="small" icon={icon} title={name} aria-label={`${name}: ${tag}`} onClick={order} />
      ))}
    </ButtonGroup>
  );
}
