import { useApolloClient, useMutation, useQuery } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { Undo } from '@blueprintjs/icons';
import { type FormEvent, useId, useState } from 'react';
import {
  ChangeModelPricesDocument,
  ModelPriceDocument,
  PriceEditorGroupsDocument,
  type StatedPriceFieldsFragment,
} from '../../generated/settings/prices/prices.js';
import { useConfirm } from '../../kit/form/ConfirmProvider.js';
import { TextField } from '../../kit/form/Fields.js';
import { FormDrawer } from '../../kit/form/FormDrawer.js';
import { FormProblem } from '../../kit/form/FormProblem.js';
import { QueryNotice } from '../../kit/QueryNotice.js';
import { toaster } from '../../kit/Toasts.js';
import { DetailDrawer } from '../../kit/table/DetailDrawer.js';
import { DrawerLink } from '../../kit/table/DrawerLink.js';
import { itemOf } from '../../kit/table/openItem.js';
import { errorText, failureCode } from '../../kit/words/errors.js';
import { useText } from '../../kit/words/i18n.js';
import { ExampleBill, firstExample } from './ExampleBill.js';
import { type FieldProblem, fieldProblemIn } from './fieldProblem.js';
import { PeriodForm } from './PeriodForm.js';
import { PeriodTabs } from './PeriodTabs.js';
import { PriceConflict } from './PriceConflict.js';
import {
  draftOf,
  emptyPeriod,
  inUnit,
  isFree,
  type PeriodDraft,
  type PriceDraft,
  recordOf,
  sameRecord,
} from './priceDraft.js';
import { periodsIn } from './priceRecord.js';
import { pricesTexts } from './prices.texts.js';
import { useExampleBill } from './useExampleBill.js';

export const historyItem = 'pricehistory';

interface PriceDrawerProps {
  /** Empty: a model that is to be named. */
  readonly name: string;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** What one model costs, with all that can be said of it. */
export function PriceDrawer({ name, onChanged, onClose }: PriceDrawerProps) {
  const t = useText(pricesTexts);
  const result = useQuery(ModelPriceDocument, {
    variables: { model: name },
    fetchPolicy: 'network-only',
    skip: name === '',
  });
  const stated = result.data?.modelPrice;
  if (name !== '' && stated === undefined)
    return (
      <DetailDrawer title={t('editor.edit', { name })} size="wide" onClose={onClose}>
        <QueryNotice {...result} />
      </DetailDrawer>
    );
  return <PriceEditor name={name} stated={stated ?? null} onChanged={onChanged} onClose={onClose} />;
}

interface PriceEditorProps extends PriceDrawerProps {
  /** As it was when the drawer was opened; null: nothing is. */
  readonly stated: StatedPriceFieldsFragment | null;
}

function PriceEditor({ name, stated, onChanged, onClose }: PriceEditorProps) {
  const t = useText(pricesTexts);
  const [model, setModel] = useState(name);
  const [first] = useState(() => draftOf(periodsIn(stated?.periods)));
  const [draft, setDraft] = useState<PriceDraft>(first);
  const [selected, setSelected] = useState(0);
  /** Of the record that was seen last. */
  const [seenAt, setSeenAt] = useState(stated?.seenAt ?? -1);
  const [theirs, setTheirs] = useState<StatedPriceFieldsFragment | null>(null);
  const [refused, setRefused] = useState<{ readonly field: FieldProblem | null; readonly text: string } | null>(null);
  const [judged, setJudged] = useState(false);
  const period = draft.periods[selected] ?? emptyPeriod(draft.unit);
  const [terms, setTerms] = useState(() => firstExample(period));
  const groups = useQuery(PriceEditorGroupsDocument).data?.groups ?? [];
  const [change, { loading: saving }] = useMutation(ChangeModelPricesDocument, { context: { errors: 'inline' } });
  const client = useApolloClient();
  const confirm = useConfirm();
  const heading = useId();

  const record = recordOf(draft);
  const hasTier = period.serviceTiers.some(({ tier }) => tier.trim() === terms.serviceTier);
  const example = hasTier ? terms : { ...terms, serviceTier: '' };
  const { bill, problem: typed, error } = useExampleBill(model, record, selected, example);
  const field = typed ?? refused?.field ?? null;
  const isChanged = !sameRecord(record, recordOf(first));
  const nameMissing = judged && model.trim() === '';

  const edit = (next: PriceDraft): void => {
    setDraft(next);
    setRefused(null);
  };
  const setPeriod = (next: PeriodDraft): void =>
    edit({ ...draft, periods: draft.periods.map((other, index) => (index === selected ? next : other)) });

  const store = async (periods: unknown, mine: number): Promise<void> => {
    try {
      const changes = [{ model: model.trim(), periods, seenAt: mine }];
      await change({ variables: { changes, kind: 'EDITOR' } });
      toaster.success(t('editor.saved'));
      onChanged();
      onClose();
    } catch (failure) {
      if (failureCode(failure) === 'price-changed') {
        const { data } = await client.query({
          query: ModelPriceDocument,
          variables: { model: model.trim() },
          fetchPolicy: 'network-only',
        });
        if (data !== undefined) return setTheirs(data.modelPrice);
      }
      setRefused({ field: fieldProblemIn(failure), text: errorText(failure) });
    }
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setJudged(true);
    if (model.trim() === '') return;
    if (name !== '' && !isChanged && stated?.recorded !== null) return toaster.warning(t('editor.unchanged'));
    const question = { title: t('free.title'), body: t('free.body', { models: 1 }), confirm: t('free.confirm') };
    if (isFree(record) && !(await confirm({ ...question, intent: 'warning' }))) return;
    await store(record, seenAt);
  };
  const backToBuiltIn = async (): Promise<void> => {
    const question = {
      title: t('editor.toBuiltIn'),
      body: t('editor.toBuiltInBody', { name }),
      confirm: t('editor.toBuiltIn'),
    };
    if (await confirm(question)) await store(null, seenAt);
  };
  const takeTheirs = (other: StatedPriceFieldsFragment): void => {
    setDraft(draftOf(periodsIn(other.periods)));
    setSelected(0);
    setSeenAt(other.seenAt);
    setTheirs(null);
  };
  const keepMine = (other: StatedPriceFieldsFragment): void => {
    setSeenAt(other.seenAt);
    setTheirs(null);
  };

  return (
    <FormDrawer
      title={name === '' ? t('editor.add') : t('editor.edit', { name })}
      size="wide"
      submitText={t('editor.save')}
      busy={saving}
      unsaved={isChanged}
      onClose={onClose}
    >
      {(id) => (
        <div className="price-editor">
          <form id={id} noValidate aria-labelledby={heading} onSubmit={(event) => void submit(event)}>
            <p id={heading} className="price-note">
              {t(originKey(stated))}
            </p>
            {theirs !== null && (
              <PriceConflict
                mine={record}
                theirs={periodsIn(theirs.periods)}
                onTake={() => takeTheirs(theirs)}
                onKeep={() => keepMine(theirs)}
              />
            )}
            <FormProblem text={refused?.text ?? null} />
            {name === '' && (
              <TextField
                label={t('editor.model')}
                value={model}
                required
                error={nameMissing ? t('editor.modelNeeded') : undefined}
                onChange={setModel}
              />
            )}
            <PeriodTabs draft={draft} selected={selected} onSelect={setSelected} onChange={edit} />
            <PeriodForm
              key={selected}
              period={period}
              unit={draft.unit}
              path={`periods[${selected}]`}
              problem={field}
              prices={bill?.quantities ?? []}
              onChange={setPeriod}
              onUnit={(unit) => edit(inUnit(draft, unit))}
            />
            {name !== '' && (
              <div className="price-buttons">
                <DrawerLink open={itemOf(historyItem, name)}>{t('editor.history')}</DrawerLink>
                {stated !== null && stated.recorded !== null && (
                  <Button
                    size="small"
                    icon={<Undo />}
                    text={t('editor.toBuiltIn')}
                    onClick={() => void backToBuiltIn()}
                  />
                )}
              </div>
            )}
          </form>
          <ExampleBill
            period={period}
            terms={terms}
            groups={groups}
            bill={bill}
            problem={typed !== null ? t('bill.wrong') : error === undefined || error === null ? null : errorText(error)}
            onChange={setTerms}
          />
        </div>
      )}
    </FormDrawer>
  );
}

function originKey(
  stated: StatedPriceFieldsFragment | null,
): 'editor.from.RECORD' | 'editor.from.NONE' | 'editor.from.OTHER' {
  if (stated === null || (stated.periods ?? null) === null) return 'editor.from.NONE';
  return (stated.recorded ?? null) === null ? 'editor.from.OTHER' : 'editor.from.RECORD';
}
