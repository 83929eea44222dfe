import { useMemo } from 'react';
import type { Column } from '../kit/table/columns.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { formatTime } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { useQuantityText } from '../kit/words/useQuantityText.js';
import { callTexts } from './call.texts.js';
import { factorText, optionText } from './priceFactor.js';
import type { ShownReceipt } from './ReceiptPage.js';
import { receiptTexts } from './receipt.texts.js';

type Factor = ShownReceipt['factors'][number];

/** Every factor of the price, with the event that set it. */
export function ReceiptFactors({ factors }: { readonly factors: readonly Factor[] }) {
  const t = useText(receiptTexts);
  const call = useText(callTexts);
  const quantity = useQuantityText();
  const columns = useMemo<readonly Column<Factor>[]>(
    () => [
      {
        id: 'factor',
        header: call('origin.factor'),
        heading: true,
        wraps: true,
        cell: ({ factor }) => factorText(factor, call, quantity),
      },
      { id: 'value', header: call('origin.value'), align: 'end', cell: ({ value }) => value },
      {
        id: 'option',
        header: call('origin.option'),
        wraps: true,
        cell: ({ option, entry, inRecord }) =>
          inRecord ? call('origin.record') : option !== null && <code>{optionText(option, entry)}</code>,
      },
      {
        id: 'setBy',
        header: t('factors.setBy'),
        wraps: true,
        cell: ({ kind, at, position }) => {
          if (at === null || position === null) return call(kind === 'BUILT_IN' ? 'origin.builtIn' : 'origin.unknown');
          return t('factors.event', { position, at: formatTime(Math.floor(at / 1_000)) });
        },
      },
    ],
    [t, call, quantity],
  );
  return (
    <div className="billing-lines">
      <ResourceTable label={t('factors')} columns={columns} rows={factors} rowKey={({ factor }) => factor} />
    </div>
  );
}
