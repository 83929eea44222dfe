import { useQuery } from '@apollo/client/react';
import { Button, Dialog, DialogBody, Tag } from '@blueprintjs/core';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { EditedChannelDocument, type EditedChannelFragment } from '../generated/channels/channels.js';
import { CutText } from '../kit/CutText.js';
import { formatDuration } from '../kit/figures.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import type { Column } from '../kit/table/columns.js';
import { namedBy, useOpenItem } from '../kit/table/openItem.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';
import type { ChannelOrders } from './useChannelOrders.js';

/** Tests one channel with models of one's choice: `?open=test-{id}`. */
export function TestDialog({ orders }: { readonly orders: ChannelOrders }) {
  const { open, close } = useOpenItem();
  const id = namedBy('test', open);
  return id === null ? null : <Tested key={id} id={id} orders={orders} onClose={close} />;
}

interface TestedProps {
  readonly id: string;
  readonly orders: ChannelOrders;
  readonly onClose: () => void;
}

function Tested({ id, orders, onClose }: TestedProps) {
  const t = useText(channelsTexts);
  const result = useQuery(EditedChannelDocument, { variables: { id } });
  const name = result.data?.channel.name ?? `#${id}`;
  return (
    <Dialog isOpen onClose={onClose} title={t('test.title', { name })} className="test-dialog" shouldReturnFocusOnClose>
      <DialogBody>
        <p>
          {t('test.help')} <Link to={`/channel/${id}`}>{t('action.pageName', { name })}</Link>
        </p>
        {result.data === undefined ? (
          <QueryNotice {...result} />
        ) : (
          <Models channel={result.data.channel} orders={orders} />
        )}
      </DialogBody>
    </Dialog>
  );
}

type Outcome = { readonly ok: boolean; readonly text: string } | 'running';

function Models({ channel, orders }: { readonly channel: EditedChannelFragment; readonly orders: ChannelOrders }) {
  const t = useText(channelsTexts);
  const common = useText(commonTexts);
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const note = (model: string, outcome: Outcome): void =>
    setOutcomes((before) => new Map([...before, [model, outcome]]));

  const test = async (model: string): Promise<void> => {
    note(model, 'running');
    try {
      const { ok, message, seconds } = await orders.test(channel, model);
      const text = ok
        ? t('test.passed', { time: formatDuration(seconds * 1_000) })
        : t('test.failed', { reason: message });
      note(model, { ok, text });
    } catch (error) {
      note(model, { ok: false, text: errorText(error) });
    }
  };

  const usual = channel.testModel ?? channel.models[0];
  const columns: readonly Column<string>[] = [
    {
      id: 'model',
      header: t('test.model'),
      heading: true,
      cell: (model) => (
        <>
          <CutText text={model} /> {model === usual && <Tag minimal>{t('test.usual')}</Tag>}
        </>
      ),
    },
    { id: 'result', header: t('test.result'), cell: (model) => <Result outcome={outcomes.get(model)} /> },
    {
      id: 'actions',
      header: common('actions'),
      pinned: true,
      align: 'end',
      cell: (model) => (
        <Button
          size="small"
          text={t('action.test')}
          aria-label={t('action.testName', { name: model })}
          loading={outcomes.get(model) === 'running'}
          onClick={() => void test(model)}
        />
      ),
    },
  ];
  return (
    <ResourceTable
      label={t('test.title', { name: channel.name })}
      columns={columns}
      rows={channel.models}
      rowKey={(model) => model}
    />
  );
}

const Result = ({ outcome }: { readonly outcome: Outcome | undefined }) => (
  <span role="status">
    {typeof outcome === 'object' && <span className={outcome.ok ? 'test-passed' : 'test-failed'}>{outcome.text}</span>}
  </span>
);
