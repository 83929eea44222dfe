import { Button } from '@blueprintjs/core';
import { Refresh } from '@blueprintjs/icons';
import { useState } from 'react';
import type { ListedChannelFragment } from '../generated/channels/channels.js';
import { formatTime } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';
import type { ChannelOrders } from './useChannelOrders.js';

interface BalanceCellProps {
  readonly channel: ListedChannelFragment;
  /** Its provider reports it. */
  readonly reportsBalance: boolean;
  readonly orders: ChannelOrders;
}

/** What the account of a channel has left, as its provider reported it last. */
export function BalanceCell({ channel, reportsBalance, orders }: BalanceCellProps) {
  const t = useText(channelsTexts);
  const [isAsking, setAsking] = useState(false);
  const { name, balance, balanceCurrency, balanceUpdatedAt } = channel;
  const ask = async (): Promise<void> => {
    setAsking(true);
    await orders.updateBalance(channel);
    setAsking(false);
  };
  return (
    <span className="balance">
      {balance === null || balanceUpdatedAt === null ? (
        '—'
      ) : (
        <span className="figures" title={t('balance.toldAt', { time: formatTime(balanceUpdatedAt) })}>
          {balance}
          {balanceCurrency !== null && ` ${balanceCurrency}`}
        </span>
      )}
      {reportsBalance && (
        <Button
          size="small"
          variant="minimal"
          icon={<Refresh size={12} />}
          loading={isAsking}
          title={t('action.updateBalance', { name })}
          aria-label={t('action.updateBalance', { name })}
          onClick={() => void ask()}
        />
      )}
    </span>
  );
}
