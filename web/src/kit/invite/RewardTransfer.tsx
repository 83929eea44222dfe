import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import { TransferInviteRewardDocument } from '../../generated/kit/invite/invite.js';
import { newOrderKey } from '../form/orderKey.js';
import { QuotaInput } from '../form/QuotaInput.js';
import { formatQuota } from '../quota.js';
import { useQuotaUnits } from '../SessionProvider.js';
import { toaster } from '../Toasts.js';
import { useText } from '../words/i18n.js';
import { inviteTexts } from './invite.texts.js';

/** `waiting`: what there is to transfer, in quota. */
export function RewardTransfer({ waiting }: { readonly waiting: number }) {
  const t = useText(inviteTexts);
  const units = useQuotaUnits();
  const [quota, setQuota] = useState<number | null>(null);
  const [judged, setJudged] = useState(false);
  // One order for each transfer: the form stays when one is done.
  const [orderKey, setOrderKey] = useState(newOrderKey);
  const [transfer, { loading }] = useMutation(TransferInviteRewardDocument);
  const min = Math.max(1, Math.ceil(units.quotaPerUnit));
  const minText = t('minTransfer', { amount: formatQuota(min, units) });

  const problem = (): string | undefined => {
    if (quota === null || quota < min) return minText;
    return quota > waiting ? t('tooMuch', { amount: formatQuota(waiting, units) }) : undefined;
  };

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setJudged(true);
    if (loading || quota === null || problem() !== undefined) return;
    await transfer({ variables: { quota, orderKey } }).then(
      () => {
        toaster.success(t('done'));
        setQuota(null);
        setJudged(false);
        setOrderKey(newOrderKey());
      },
      () => undefined, // Said where all mutations fail.
    );
  };

  if (waiting < min) return <p className="section-note">{minText}</p>;
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <QuotaInput
        label={t('amount')}
        hint={minText}
        value={quota}
        onChange={setQuota}
        error={judged ? problem() : undefined}
      />
      <div className="invite-actions">
        <Button type="submit" intent="primary" text={t('transfer')} loading={loading} />
        <Button text={t('all')} disabled={loading} onClick={() => setQuota(waiting)} />
      </div>
    </form>
  );
}
