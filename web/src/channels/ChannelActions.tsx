import { Button, ButtonGroup, Classes, Menu, MenuDivider, MenuItem, PopoverNext } from '@blueprintjs/core';
import { Disable, Duplicate, Edit, More, Pulse, Tick, TimelineEvents, Trash } from '@blueprintjs/icons';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import type { ListedChannelFragment } from '../generated/channels/channels.js';
import { itemOf, useOpenItem } from '../kit/table/openItem.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';
import type { ChannelOrders } from './useChannelOrders.js';

interface ChannelActionsProps {
  readonly channel: ListedChannelFragment;
  readonly orders: ChannelOrders;
}

export function ChannelActions({ channel, orders }: ChannelActionsProps) {
  const t = useText(channelsTexts);
  const common = useText(commonTexts);
  const { show } = useOpenItem();
  const [testing, setTesting] = useState(false);
  const { id, name, status } = channel;
  const isEnabled = status === 'ENABLED';

  const test = async (): Promise<void> => {
    setTesting(true);
    await orders.testAndReport(channel);
    setTesting(false);
  };

  return (
    <ButtonGroup variant="minimal">
      <Link
        to={`/channel/${id}`}
        className={`${Classes.BUTTON} ${Classes.SMALL} ${Classes.MINIMAL}`}
        title={t('action.pageName', { name })}
        aria-label={t('action.pageName', { name })}
      >
        <TimelineEvents size={14} />
      </Link>
      <Button
        size="small"
        icon={<Pulse size={14} />}
        loading={testing}
        title={t('action.testName', { name })}
        aria-label={t('action.testName', { name })}
        onClick={() => void test()}
      />
      <PopoverNext
        placement="bottom-end"
        content={
          <Menu>
            <MenuItem icon={<Edit />} text={common('edit')} onClick={() => show(id)} />
            <MenuItem icon={<Pulse />} text={t('action.chooseModel')} onClick={() => show(itemOf('test', id))} />
            <MenuItem icon={<Duplicate />} text={t('action.copy')} onClick={() => show(itemOf('copy', id))} />
            <MenuDivider />
            <MenuItem
              icon={isEnabled ? <Disable /> : <Tick />}
              text={common(isEnabled ? 'disable' : 'enable')}
              onClick={() => void orders.setEnabled(channel, !isEnabled)}
            />
            <MenuItem
              icon={<Trash />}
              intent="danger"
              text={common('delete')}
              onClick={() => void orders.remove(channel)}
            />
          </Menu>
        }
      >
        <Button
          size="small"
          icon={<More />}
          title={t('action.menu', { name })}
          aria-label={t('action.menu', { name })}
        />
      </PopoverNext>
    </ButtonGroup>
  );
}
