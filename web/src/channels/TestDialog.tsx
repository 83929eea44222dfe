import { useQuery } from '@apollo/client/react';
import { Button, Dialog, DialogBody, HTMLTable, Tag } from '@blueprintjs/core';
import { useState } from 'react';
import { EditedChannelDocument, type EditedChannelFragment } from '../generated/channels/channels.js';
import { QueryNotice } from '../shared/QueryNotice.js';
import { namedBy, useOpenItem } from '../shared/table/openItem.js';
import { errorText } from '../shared/words/errors.js';
import { useText } from '../shared/words/i18n.js';
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
        <p>{t('test.help')}</p>
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
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const note = (model: string, outcome: Outcome): void =>
    setOutcomes((before) => new Map([...before, [model, outcome]]));

  const test = async (model: string): Promise<void> => {
    note(model, 'running');
    try {
      const { ok, message, seconds } = await orders.test(channel, model);
      const text = ok ? t('test.passed', { seconds: seconds.toFixed(2) }) : t('test.failed', { reason: message });
      note(model, { ok, text });
    } catch (error) {
      note(model, { ok: false, text: errorText(error) });
    }
  };

  return (
    <HTMLTable compact className="test-models">
      <thead>
        <tr>
          <th scope="col">{t('test.model')}</th>
          <th scope="col">{t('test.result')}</th>
          <th scope="col">
            <span className="visually-hidden">{t('action.test')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {channel.models.map((model) => {
          const outcome = outcomes.get(model);
          return (
            <tr key={model}>
              <th scope="row">
                {model} {model === (channel.testModel ?? channel.models[0]) && <Tag minimal>{t('test.usual')}</Tag>}
              </th>
              <td>
                <span role="status">
                  {typeof outcome === 'object' && (
                    <span className={outcome.ok ? 'test-passed' : 'test-failed'}>{outcome.text}</span>
                  )}
                </span>
              </td>
              <td className="cell-end">
                <Button
                  size="small"
                  text={t('action.test')}
                  aria-label={t('action.testName', { name: model })}
                  loading={outcome === 'running'}
                  onClick={() => void test(model)}
                />
              </td>
            </tr>
          );
        })}
      </tbody>
    </HTMLTable>
  );
}
