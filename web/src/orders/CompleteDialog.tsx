import { useMutation } from '@apollo/client/react';
import { Button, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import { CompleteOrderDocument } from '../generated/orders/orders.js';
import { TextField } from '../kit/form/Fields.js';
import { useStepUp } from '../kit/proof/StepUpProvider.js';
import { toaster } from '../kit/Toasts.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { ordersTexts } from './orders.texts.js';

/** Credits an order whose money was seen elsewhere, with a reason. */
export function CompleteDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const t = useText(ordersTexts);
  const common = useText(commonTexts);
  const withStepUp = useStepUp();
  const [reason, setReason] = useState('');
  const [judged, setJudged] = useState(false);
  const [complete, { loading }] = useMutation(CompleteOrderDocument, { context: { errors: 'inline' } });
  const isMissing = reason.trim() === '';

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setJudged(true);
    if (isMissing || loading) return;
    const done = await withStepUp('PAYMENTS', (stepUp) => complete({ variables: { id, reason, stepUp } }));
    if (done === null) return;
    toaster.success(t('complete.done'));
    onClose();
  };

  return (
    <Dialog isOpen onClose={onClose} title={t('complete.title', { id })} shouldReturnFocusOnClose>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <DialogBody>
          <p>{t('complete.body')}</p>
          <TextField
            label={t('complete.reason')}
            required
            error={judged && isMissing ? t('complete.missing') : undefined}
            value={reason}
            onChange={setReason}
            maxLength={500}
            autoFocus
          />
        </DialogBody>
        <DialogFooter
          actions={
            <>
              <Button text={common('cancel')} onClick={onClose} />
              <Button type="submit" intent="primary" text={t('complete.submit')} loading={loading} />
            </>
          }
        />
      </form>
    </Dialog>
  );
}
