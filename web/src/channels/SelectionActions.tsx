import { Button, ButtonGroup } from '@blueprintjs/core';
import { Cross, Disable, Download, GlobeNetwork, Pulse, Tag, Tick, Trash } from '@blueprintjs/icons';
import { useState } from 'react';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { beginsWithHost } from './channelDraft.js';
import { channelsTexts } from './channels.texts.js';
import { TextForAllDialog } from './TextForAllDialog.js';
import type { ChannelOrders } from './useChannelOrders.js';

interface SelectionActionsProps {
  readonly ids: readonly string[];
  readonly orders: ChannelOrders;
  /** Nothing is to stay selected. */
  readonly onDone: () => void;
}

/** What can be done to all channels that are ticked. */
export function SelectionActions({ ids, orders, onDone }: SelectionActionsProps) {
  const t = useText(channelsTexts);
  const common = useText(commonTexts);
  const [opened, setOpened] = useState<'tag' | 'baseUrl' | null>(null);
  const [tested, setTested] = useState<number | null>(null);
  const stop = (): void => setOpened(null);
  const after = async (order: Promise<boolean>): Promise<void> => {
    if (!(await order)) return;
    stop();
    onDone();
  };
  const test = async (): Promise<void> => {
    setTested(0);
    await orders.testMany(ids, setTested);
    setTested(null);
  };
  return (
    <>
      <span className="selection-count" role="status">
        {tested === null
          ? common('select.count', { selected: ids.length })
          : t('progress.testing', { done: tested, channels: ids.length })}
      </span>
      <ButtonGroup className="selection-actions">
        <Button
          size="small"
          icon={<Tick />}
          text={common('enable')}
          onClick={() => void after(orders.setManyEnabled(ids, true))}
        />
        <Button
          size="small"
          icon={<Disable />}
          text={common('disable')}
          onClick={() => void after(orders.setManyEnabled(ids, false))}
        />
        <Button
          size="small"
          icon={<Pulse />}
          text={t('action.test')}
          loading={tested !== null}
          onClick={() => void test()}
        />
        <Button size="small" icon={<Tag />} text={t('action.setTag')} onClick={() => setOpened('tag')} />
        <Button
          size="small"
          icon={<GlobeNetwork />}
          text={t('action.setBaseUrl')}
          onClick={() => setOpened('baseUrl')}
        />
        <Button
          size="small"
          icon={<Download />}
          text={t('action.exportSelected')}
          onClick={() => void orders.exportToFile(ids)}
        />
        <Button
          size="small"
          intent="danger"
          icon={<Trash />}
          text={common('delete')}
          onClick={() => void after(orders.removeMany(ids))}
        />
        <Button
          size="small"
          variant="minimal"
          icon={<Cross />}
          title={t('action.clearSelection')}
          aria-label={t('action.clearSelection')}
          onClick={onDone}
        />
      </ButtonGroup>
      {opened === 'tag' && (
        <TextForAllDialog
          title={t('action.setTag')}
          label={t('batch.tag')}
          hint={t('batch.tagHint', { channels: ids.length })}
          problemOf={(tag) => (tag === '' ? t('batch.tagMissing') : undefined)}
          onCancel={stop}
          onSubmit={(tag) => after(orders.setTag(ids, tag))}
        />
      )}
      {opened === 'baseUrl' && (
        <TextForAllDialog
          title={t('action.setBaseUrl')}
          label={t('batch.baseUrl')}
          hint={t('batch.baseUrlHint')}
          problemOf={(address) =>
            /^https?:\/\/\S+$/.test(address) || beginsWithHost(address) ? undefined : t('batch.baseUrlInvalid')
          }
          onCancel={stop}
          onSubmit={(address) => after(orders.setBaseUrl(ids, address.replace(/\/+$/, '')))}
        />
      )}
    </>
  );
}
