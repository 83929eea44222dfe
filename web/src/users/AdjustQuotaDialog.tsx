import { useMutation, useQuery } from '@apollo/client/react';
import { Button, ButtonGroup, Dialog, DialogBody, DialogFooter, Radio, RadioGroup } from '@blueprintjs/core';
import { type FormEvent, useId, useState } from 'react';
import { AdjustedUserDocument, type AdjustedUserQuery, AdjustQuotaDocument } from '../generated/users/users.js';
import { Fact, Facts } from '../kit/Facts.js';
import { abbreviate, formatExactly } from '../kit/figures.js';
import { SelectField, TextField } from '../kit/form/Fields.js';
import { useOrderKey } from '../kit/form/orderKey.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { QuotaText } from '../kit/QuotaText.js';
import { toaster } from '../kit/Toasts.js';
import { namedBy, useOpenItem } from '../kit/table/openItem.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import {
  type Adjustment,
  type AdjustmentDraft,
  adjustmentOf,
  amountUnits,
  digitsOf,
  giftPercents,
  quickAmounts,
} from './quotaAdjustment.js';
import { usersTexts } from './users.texts.js';

/** Adjusts a user's quota: `?open=quota-{id}`. */
export function AdjustQuotaDialog() {
  const { open, close } = useOpenItem();
  const id = namedBy('quota', open);
  return id === null ? null : <AdjustedUser key={id} id={id} onClose={close} />;
}

function AdjustedUser({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const t = useText(usersTexts);
  // Somebody spends from it at this moment: the balance of the list may be old.
  const result = useQuery(AdjustedUserDocument, { variables: { id }, fetchPolicy: 'network-only' });
  const name = result.data?.user.username ?? `#${id}`;
  return (
    <Dialog isOpen onClose={onClose} title={t('adjust.title', { name })} shouldReturnFocusOnClose>
      {result.data === undefined ? (
        <DialogBody>
          <QueryNotice {...result} />
        </DialogBody>
      ) : (
        <Steps adjusted={result.data} onClose={onClose} />
      )}
    </Dialog>
  );
}

const takeFocus = (element: HTMLElement | null): void => element?.focus();

interface StepsProps {
  readonly adjusted: AdjustedUserQuery;
  readonly onClose: () => void;
}

function Steps({ adjusted: { user, status }, onClose }: StepsProps) {
  const t = useText(usersTexts);
  const [draft, setDraft] = useState<AdjustmentDraft>({
    direction: 'add',
    unit: status.displayInCurrency ? 'usd' : 'quota',
    amount: '',
    gift: '',
  });
  const [agreed, setAgreed] = useState<Adjustment | null>(null);
  const [adjust, { loading }] = useMutation(AdjustQuotaDocument);
  const orderKey = useOrderKey();
  const rates = { quotaPerUnit: Number(status.quotaPerUnit), yuanPerDollar: Number(status.price) };
  const comesTo = adjustmentOf(draft, rates, user.quota);

  if (agreed === null)
    return (
      <AmountForm
        draft={draft}
        comesTo={comesTo}
        onChange={setDraft}
        onCancel={onClose}
        onNext={() => {
          if (typeof comesTo !== 'string') setAgreed(comesTo);
        }}
      />
    );
  const submit = (): void => {
    void adjust({ variables: { id: user.id, ...agreed, orderKey } }).then(
      () => {
        toaster.success(t('done.adjusted', { name: user.username }));
        onClose();
      },
      () => undefined,
    );
  };
  const { delta, gift } = agreed;
  const rows = [
    { label: t('adjust.before'), quota: user.quota },
    { label: t('adjust.change'), quota: delta },
    ...(gift === 0 ? [] : [{ label: t('adjust.giftAmount'), quota: gift }]),
    { label: t('adjust.after'), quota: user.quota + delta + gift },
  ];
  return (
    <>
      <DialogBody>
        {/* Not a button: the Enter that led here is still held down, and its release would press one. */}
        <p ref={takeFocus} tabIndex={-1} className="adjust-check">
          {t('adjust.check')}
        </p>
        <Facts amounts>
          {rows.map(({ label, quota }) => (
            <Fact key={label} name={label}>
              <QuotaText quota={quota} /> <span className="cell-second figures">{formatExactly(quota)}</span>
            </Fact>
          ))}
        </Facts>
      </DialogBody>
      <DialogFooter
        actions={
          <>
            <Button text={t('adjust.back')} disabled={loading} onClick={() => setAgreed(null)} />
            <Button
              intent={delta < 0 ? 'danger' : 'primary'}
              text={t('adjust.confirm')}
              loading={loading}
              onClick={submit}
            />
          </>
        }
      />
    </>
  );
}

interface AmountFormProps {
  readonly draft: AdjustmentDraft;
  readonly comesTo: ReturnType<typeof adjustmentOf>;
  readonly onChange: (draft: AdjustmentDraft) => void;
  readonly onCancel: () => void;
  readonly onNext: () => void;
}

function AmountForm({ draft, comesTo, onChange, onCancel, onNext }: AmountFormProps) {
  const t = useText(usersTexts);
  const common = useText(commonTexts);
  const [judged, setJudged] = useState(false);
  const quick = useId();
  const problem = typeof comesTo === 'string' ? comesTo : null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setJudged(true);
    onNext();
  };
  return (
    <form onSubmit={submit} noValidate>
      <DialogBody>
        <RadioGroup
          inline
          label={t('adjust.direction')}
          selectedValue={draft.direction}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...draft, direction: value === 'subtract' ? 'subtract' : 'add' })
          }
        >
          <Radio value="add" label={t('adjust.add')} />
          <Radio value="subtract" label={t('adjust.subtract')} />
        </RadioGroup>
        <SelectField
          label={t('adjust.unit')}
          value={draft.unit}
          options={amountUnits.map((unit) => ({ value: unit, label: t(`adjust.unit.${unit}`) }))}
          onChange={(unit) => onChange({ ...draft, unit })}
        />
        <TextField
          label={t('adjust.amount')}
          required
          autoFocus
          value={draft.amount}
          onChange={(typed) => onChange({ ...draft, amount: digitsOf(typed) })}
          hint={
            problem === null && typeof comesTo !== 'string'
              ? t('adjust.preview', { quota: formatExactly(comesTo.delta) })
              : undefined
          }
          error={judged && problem !== null && problem !== 'giftInvalid' ? t(`adjust.${problem}`) : undefined}
        />
        <ButtonGroup id={quick} aria-label={t('adjust.quick')} className="quick-amounts">
          {quickAmounts[draft.unit].map((amount) => (
            <Button
              key={amount}
              size="small"
              text={abbreviate(amount)}
              onClick={() => onChange({ ...draft, amount: String(amount) })}
            />
          ))}
        </ButtonGroup>
        {draft.direction === 'add' && (
          <>
            <TextField
              label={t('adjust.gift')}
              hint={t('adjust.giftHint')}
              value={draft.gift}
              onChange={(typed) => onChange({ ...draft, gift: digitsOf(typed) })}
              error={judged && problem === 'giftInvalid' ? t('adjust.giftInvalid') : undefined}
            />
            <ButtonGroup aria-label={t('adjust.gift')} className="quick-amounts">
              <Button size="small" text={t('adjust.giftNone')} onClick={() => onChange({ ...draft, gift: '' })} />
              {giftPercents.map((percent) => (
                <Button
                  key={percent}
                  size="small"
                  text={`${percent}%`}
                  active={draft.gift === String(percent)}
                  onClick={() => onChange({ ...draft, gift: String(percent) })}
                />
              ))}
            </ButtonGroup>
          </>
        )}
      </DialogBody>
      <DialogFooter
        actions={
          <>
            <Button text={common('cancel')} onClick={onCancel} />
            <Button type="submit" intent="primary" text={t('adjust.next')} />
          </>
        }
      />
    </form>
  );
}
