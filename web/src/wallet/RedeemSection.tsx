import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import { RedeemDocument } from '../generated/wallet/wallet.js';
import { TextField } from '../kit/form/Fields.js';
import { newOrderKey } from '../kit/form/orderKey.js';
import { formatQuota } from '../kit/quota.js';
import { Section } from '../kit/Section.js';
import { useQuotaUnits, useStatus } from '../kit/SessionProvider.js';
import { toaster } from '../kit/Toasts.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { walletTexts } from './wallet.texts.js';

export function RedeemSection() {
  const t = useText(walletTexts);
  const units = useQuotaUnits();
  const { topUpLink } = useStatus();
  const [code, setCode] = useState('');
  // For as long as the code stands there: sent again, because nobody knew the answer, it is the same order.
  const [orderKey, setOrderKey] = useState(newOrderKey);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [redeem, { loading }] = useMutation(RedeemDocument, { context: { errors: 'inline' } });

  const type = (typed: string): void => {
    setCode(typed);
    setOrderKey(newOrderKey());
    setProblem(undefined);
  };

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const wanted = code.trim();
    if (wanted === '') return setProblem(t('redeem.missing'));
    if (loading) return;
    try {
      const { data } = await redeem({ variables: { code: wanted, orderKey } });
      type('');
      toaster.success(t('redeem.done', { quota: formatQuota(data?.redeem ?? 0, units) }));
    } catch (error) {
      setProblem(errorText(error));
    }
  };

  return (
    <Section title={t('redeem.title')}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label={t('redeem.code')}
          hint={t('redeem.hint')}
          error={problem}
          value={code}
          onChange={type}
          maxLength={64}
          monospace
        />
        <Button type="submit" intent="primary" text={t('redeem.submit')} loading={loading} />
      </form>
      {topUpLink !== '' && (
        <a href={topUpLink} target="_blank" rel="noopener noreferrer">
          {t('redeem.link')}
        </a>
      )}
    </Section>
  );
}
