import { useMutation, useQuery } from '@apollo/client/react';
import { Button, ButtonGroup, RadioGroup } from '@blueprintjs/core';
import { type FormEvent, useDeferredValue, useState } from 'react';
import { BeginTopUpDocument, TopUpOffersDocument, TopUpPriceDocument } from '../generated/wallet/topUp.js';
import { NumberField } from '../kit/form/NumberField.js';
import { newOrderKey } from '../kit/form/orderKey.js';
import { useMethodName } from '../kit/payment/useMethodName.js';
import { formatQuota, quotaPresets } from '../kit/quota.js';
import { Section } from '../kit/Section.js';
import { useQuotaUnits, useStatus } from '../kit/SessionProvider.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { goAndPay } from './checkout.js';
import { topUpTexts } from './topUp.texts.js';

/** Where quota can be bought; nothing where it cannot. */
export function TopUpSection() {
  const { onlineTopUp } = useStatus();
  return onlineTopUp ? <TopUpForm /> : null;
}

function TopUpForm() {
  const t = useText(topUpTexts);
  const units = useQuotaUnits();
  const nameOf = useMethodName();
  const { data: offered } = useQuery(TopUpOffersDocument, { fetchPolicy: 'cache-and-network' });
  const methods = offered?.topUpOffers.methods ?? [];
  const minimum = Math.max(offered?.topUpOffers.minimum ?? 1, 1);
  const [typed, setTyped] = useState<number | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  // The same order for as long as it asks for the same: sent again, because nobody knew the answer, it is one.
  const [orderKey, setOrderKey] = useState(newOrderKey);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [isLeaving, setIsLeaving] = useState(false);
  const [begin, { loading }] = useMutation(BeginTopUpDocument, { context: { errors: 'inline' } });

  const amount = typed ?? minimum;
  const method = chosen ?? methods[0]?.method ?? '';
  const isEnough = Number.isSafeInteger(amount) && amount >= minimum;
  const asked = useDeferredValue(amount);
  const { data: priced, error } = useQuery(TopUpPriceDocument, {
    variables: { amount: asked, method },
    skip: !isEnough || method === '',
    fetchPolicy: 'cache-and-network',
    context: { errors: 'inline' },
  });
  const price = isEnough ? priced?.topUpPrice : undefined;

  const presets = quotaPresets
    .map((quota) => (units.inCurrency ? quota / units.quotaPerUnit : quota))
    .filter((preset) => Number.isSafeInteger(preset) && preset >= minimum);

  const change = (apply: () => void): void => {
    apply();
    setOrderKey(newOrderKey());
    setProblem(undefined);
  };

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!isEnough) return setProblem(t('amount.least', { minimum }));
    if (loading || isLeaving) return;
    try {
      const { data } = await begin({ variables: { amount, method, orderKey } });
      if (data === undefined) return;
      setIsLeaving(true);
      goAndPay(data.beginTopUp);
    } catch (refused) {
      setProblem(errorText(refused));
    }
  };

  return (
    <Section title={t('title')}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <NumberField
          label={t(units.inCurrency ? 'amount.dollars' : 'amount.quota')}
          hint={t('amount.least', { minimum })}
          error={problem ?? (isEnough && error !== undefined ? errorText(error) : undefined)}
          value={typed ?? minimum}
          onChange={(value) => change(() => setTyped(value))}
          min={0}
        />
        <ButtonGroup className="top-up-presets">
          {presets.map((preset) => (
            <Button
              key={preset}
              size="small"
              active={preset === amount}
              text={units.inCurrency ? `$${preset}` : formatQuota(preset, units)}
              onClick={() => change(() => setTyped(preset))}
            />
          ))}
        </ButtonGroup>
        <RadioGroup
          label={t('method')}
          inline
          selectedValue={method}
          options={methods.map(({ method: value }) => ({ value, label: nameOf(value) }))}
          onChange={({ currentTarget }) => change(() => setChosen(currentTarget.value))}
        />
        <p className="top-up-price" role="status" aria-label={t('price')}>
          {t('price')}: <strong>{price ? `${price.money} ${price.currency}` : t('price.unknown')}</strong>
        </p>
        <Button
          type="submit"
          intent="primary"
          text={t(isLeaving ? 'leaving' : 'pay')}
          loading={loading}
          disabled={method === '' || isLeaving}
        />
      </form>
    </Section>
  );
}
