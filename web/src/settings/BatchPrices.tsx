import { Button, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { Edit, Trash } from '@blueprintjs/icons';
import { type FormEvent, useState } from 'react';
import { SelectField, TextField } from '../kit/form/Fields.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import {
  type ModelPrices,
  nothing,
  type PriceTableKey,
  priceTableKeys,
  ratioKeys,
  typedNumber,
} from './modelPrices.js';
import { settingsTexts } from './settings.texts.js';
import { useSettingName } from './settingWords.js';

interface BatchPricesProps {
  readonly names: readonly string[];
  readonly canDelete: boolean;
  readonly onSet: (names: readonly string[], prices: Partial<ModelPrices>) => void;
}

/** What can be done to all models that are ticked. */
export function BatchPrices({ names, canDelete, onSet }: BatchPricesProps) {
  const t = useText(settingsTexts);
  const common = useText(commonTexts);
  const [asking, setAsking] = useState(false);
  return (
    <>
      <span className="selection-count" role="status">
        {common('select.count', { selected: names.length })}
      </span>
      <Button icon={<Edit />} text={t('prices.batch')} onClick={() => setAsking(true)} />
      {canDelete && (
        <Button intent="danger" icon={<Trash />} text={common('delete')} onClick={() => onSet(names, nothing)} />
      )}
      {asking && (
        <BatchDialog
          count={names.length}
          onCancel={() => setAsking(false)}
          onSubmit={(prices) => {
            setAsking(false);
            onSet(names, prices);
          }}
        />
      )}
    </>
  );
}

interface BatchDialogProps {
  readonly count: number;
  readonly onCancel: () => void;
  readonly onSubmit: (prices: Partial<ModelPrices>) => void;
}

type What = PriceTableKey | 'all';

/** A price by call and ratios exclude each other: one takes the other away. */
function BatchDialog({ count, onCancel, onSubmit }: BatchDialogProps) {
  const t = useText(settingsTexts);
  const common = useText(commonTexts);
  const name = useSettingName();
  const [what, setWhat] = useState<What>('ModelRatio');
  const [texts, setTexts] = useState<Partial<Record<PriceTableKey, string>>>({});
  const [judged, setJudged] = useState(false);
  const asked: readonly PriceTableKey[] = what === 'all' ? ratioKeys : [what];
  const problemOf = (key: PriceTableKey): string | undefined => {
    const value = typedNumber(texts[key] ?? '');
    if (value === null && what === 'all') return t('prices.problem.allNeeded');
    if (value === null || value === undefined) return t('prices.problem.number');
    return key === 'ModelPrice' && value === 0 ? t('prices.problem.zero') : undefined;
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setJudged(true);
    if (asked.some((key) => problemOf(key) !== undefined)) return;
    const prices = Object.fromEntries(asked.map((key) => [key, typedNumber(texts[key] ?? '') ?? null]));
    onSubmit(what === 'ModelPrice' ? { ...nothing, ...prices } : { ModelPrice: null, ...prices });
  };
  return (
    <Dialog isOpen onClose={onCancel} title={t('prices.batchTitle', { count })} shouldReturnFocusOnClose>
      <form onSubmit={submit} noValidate>
        <DialogBody>
          <SelectField<What>
            label={t('prices.what')}
            value={what}
            options={[
              ...priceTableKeys.map((key) => ({ value: key, label: name(key) })),
              { value: 'all' as const, label: t('prices.allRatios') },
            ]}
            onChange={setWhat}
          />
          {asked.map((key) => (
            <TextField
              key={key}
              label={name(key)}
              required
              value={texts[key] ?? ''}
              error={judged ? problemOf(key) : undefined}
              onChange={(text) => setTexts({ ...texts, [key]: text })}
            />
          ))}
        </DialogBody>
        <DialogFooter
          actions={
            <>
              <Button text={common('cancel')} onClick={onCancel} />
              <Button type="submit" intent="primary" text={t('prices.take')} />
            </>
          }
        />
      </form>
    </Dialog>
  );
}
