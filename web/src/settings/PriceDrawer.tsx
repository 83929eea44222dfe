import { Radio, RadioGroup } from '@blueprintjs/core';
import { useState } from 'react';
import { TextField } from '../kit/form/Fields.js';
import { FormDrawer } from '../kit/form/FormDrawer.js';
import { useText } from '../kit/words/i18n.js';
import { type ModelPrices, type PriceTables, pricesOf, priceTableKeys, ratioKeys } from './modelPrices.js';
import { type Billing, formOf, inBilling, judge, type PriceForm, type PriceProblems } from './priceForm.js';
import { settingsTexts } from './settings.texts.js';

interface PriceDrawerProps {
  /** Empty: a model that is to be named. */
  readonly name: string;
  readonly tables: PriceTables;
  readonly onSet: (names: readonly string[], prices: ModelPrices) => void;
  readonly onClose: () => void;
}

const billings: readonly Billing[] = ['ratio', 'dollars', 'call'];

/** What one model costs: by call, by ratios, or by the dollars that become ratios. */
export function PriceDrawer({ name, tables, onSet, onClose }: PriceDrawerProps) {
  const t = useText(settingsTexts);
  const [form, setForm] = useState<PriceForm>(() => formOf(name, pricesOf(tables, name)));
  const [judged, setJudged] = useState(false);
  const isTaken = (wanted: string): boolean => name === '' && priceTableKeys.some((key) => tables[key].has(wanted));
  const { problems, prices } = judge(form, isTaken);
  const shown: PriceProblems = judged ? problems : new Map();
  const wrong = (field: 'name' | 'call' | (typeof ratioKeys)[number]): string | undefined => {
    const problem = shown.get(field);
    return problem === undefined ? undefined : t(`prices.problem.${problem}`);
  };
  return (
    <FormDrawer
      title={name === '' ? t('prices.add') : t('prices.edit', { name })}
      submitText={t('prices.take')}
      busy={false}
      onClose={onClose}
    >
      {(id) => (
        <form
          id={id}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            setJudged(true);
            if (prices === null) return;
            onSet([form.name.trim()], prices);
            onClose();
          }}
        >
          <p className="price-note">{t('prices.takeNote')}</p>
          <TextField
            label={t('prices.name')}
            value={form.name}
            required
            disabled={name !== ''}
            error={wrong('name')}
            onChange={(next) => setForm({ ...form, name: next })}
          />
          <RadioGroup
            label={t('prices.billing')}
            selectedValue={form.billing}
            onChange={({ currentTarget }) => setForm(inBilling(form, currentTarget.value as Billing))}
          >
            {billings.map((billing) => (
              <Radio key={billing} value={billing} label={t(`prices.by.${billing}`)} />
            ))}
          </RadioGroup>
          {form.billing === 'call' ? (
            <TextField
              label={t('prices.call')}
              value={form.call}
              required
              error={wrong('call')}
              onChange={(call) => setForm({ ...form, call })}
            />
          ) : (
            ratioKeys.map((key) => (
              <TextField
                key={key}
                label={t(`prices.${form.billing === 'ratio' ? 'ratio' : 'dollars'}.${key}`)}
                value={form.token[key]}
                required={key === 'ModelRatio'}
                error={wrong(key)}
                onChange={(next) => setForm({ ...form, token: { ...form.token, [key]: next } })}
              />
            ))
          )}
        </form>
      )}
    </FormDrawer>
  );
}
