import { useMutation } from '@apollo/client/react';
import { ButtonGroup } from '@blueprintjs/core';
import { Refresh, Tick } from '@blueprintjs/icons';
import { useState } from 'react';
import { type ListedOrderFragment, RecheckOrderDocument } from '../generated/orders/orders.js';
import { toaster } from '../kit/Toasts.js';
import { RowAction } from '../kit/table/RowAction.js';
import { useText } from '../kit/words/i18n.js';
import { CompleteDialog } from './CompleteDialog.js';
import { ordersTexts } from './orders.texts.js';

/** What can be done to an order: nothing, once it is completed. */
export function OrderActions({ order: { id, status } }: { readonly order: ListedOrderFragment }) {
  const t = useText(ordersTexts);
  const [isCompleting, setIsCompleting] = useState(false);
  const [recheck, { loading }] = useMutation(RecheckOrderDocument);
  if (status === 'COMPLETED') return null;

  const ask = (): Promise<void> =>
    recheck({ variables: { id } }).then(
      ({ data }) => {
        const isPaid = data?.recheckPayment.status === 'COMPLETED';
        toaster.success(t(isPaid ? 'recheck.done' : 'recheck.open'));
      },
      () => undefined,
    );

  return (
    <ButtonGroup className="row-actions">
      <RowAction
        icon={<Refresh size={14} />}
        label={t('action.recheck', { id })}
        loading={loading}
        onClick={() => void ask()}
      />
      <RowAction icon={<Tick size={14} />} label={t('action.complete', { id })} onClick={() => setIsCompleting(true)} />
      {isCompleting && <CompleteDialog id={id} onClose={() => setIsCompleting(false)} />}
    </ButtonGroup>
  );
}
