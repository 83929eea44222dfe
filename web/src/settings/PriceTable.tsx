import { useMutation, useQuery } from '@apollo/client/react';
import { Button, Callout, Card } from '@blueprintjs/core';
import { Add, Reset } from '@blueprintjs/icons';
import { useMemo, useState } from 'react';
import { ResetModelRatiosDocument, UnpricedModelsDocument } from '../generated/settings/prices.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { FormProblem } from '../kit/form/FormProblem.js';
import { toaster } from '../kit/Toasts.js';
import type { Column } from '../kit/table/columns.js';
import { TextFilter } from '../kit/table/FilterBar.js';
import { itemOf, namedBy, useOpenItem } from '../kit/table/openItem.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useListParams } from '../kit/table/useListParams.js';
import { useNumberedPages } from '../kit/table/useNumberedPages.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { BatchPrices } from './BatchPrices.js';
import { type ModelPrices, type PriceRow, priceRows, pricesOf, priceTableKeys } from './modelPrices.js';
import { PriceDrawer } from './PriceDrawer.js';
import { priceSection } from './sections.js';
import { settingsTexts } from './settings.texts.js';
import { useSettingName } from './settingWords.js';
import { usePriceDrafts } from './usePriceDrafts.js';
import { useSectionSave } from './useSectionSave.js';

const newItem = 'newprice';
const kind = 'price';

interface PriceTableProps {
  readonly of: 'priced' | 'unpriced';
}

/** Models by row. What is done here is typed into the tables, and saved with them. */
export function PriceTable({ of }: PriceTableProps) {
  const t = useText(settingsTexts);
  const common = useText(commonTexts);
  const name = useSettingName();
  const unpriced = useQuery(UnpricedModelsDocument, { fetchPolicy: 'cache-and-network', skip: of === 'priced' });
  const { tables, set } = usePriceDrafts();
  const saving = useSectionSave(priceSection);
  const [{ model }, setParams] = useListParams({ model: '' });
  const { page, size, paging } = useNumberedPages();
  const { open, show, close } = useOpenItem();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const unpricedModels = unpriced.data?.unpricedModels;

  const columns = useMemo(
    (): readonly Column<PriceRow>[] => [
      { id: 'name', header: t('prices.name'), heading: true, cell: (row) => row.name },
      ...priceTableKeys.map((key) => ({
        id: key,
        header: name(key),
        align: 'end' as const,
        cell: ({ prices }: PriceRow) => <span className="figures">{prices[key] ?? '—'}</span>,
      })),
    ],
    [t, name],
  );

  if (tables === null) return <Callout intent="warning">{t('prices.notTables')}</Callout>;
  // What has just been given a price, and is not saved yet, stays: it is shown with it.
  const all =
    of === 'priced' ? priceRows(tables) : unpricedModels?.map((one) => ({ name: one, prices: pricesOf(tables, one) }));
  const found = all?.filter((row) => row.name.toLowerCase().includes(model.toLowerCase()));
  // A list that has become shorter ends earlier.
  const shownPage = Math.min(page, Math.max(1, Math.ceil((found?.length ?? 0) / size)));
  const rows = found?.slice((shownPage - 1) * size, shownPage * size);
  const edited = open === newItem ? '' : namedBy(kind, open);
  const submit = async (): Promise<void> => {
    await saving.submit();
    if (of === 'unpriced') await unpriced.refetch();
  };
  const done = (names: readonly string[], prices: Partial<ModelPrices>): void => {
    set(names, prices);
    setSelected(new Set());
  };

  return (
    <>
      <FormProblem text={saving.problem === null ? null : `${saving.problem} ${t('prices.seeTexts')}`} />
      <div className="price-filter">
        <TextFilter label={t('prices.search')} value={model} onChange={(wanted) => setParams({ model: wanted })} />
      </div>
      <Card className="list-card">
        <ResourceTable
          label={t(of === 'priced' ? 'prices.visual' : 'prices.unset_models')}
          columns={columns}
          rows={rows}
          rowKey={(row) => row.name}
          result={of === 'priced' ? undefined : unpriced}
          opens={(row) => itemOf(kind, row.name)}
          selection={{ selected, onChange: setSelected, keyOf: (row) => row.name, nameOf: (row) => row.name }}
          empty={t(of === 'priced' ? 'prices.none' : 'prices.allSet')}
          paging={{ ...paging(found?.length), page: shownPage }}
          toolbar={
            <>
              <Button
                intent="primary"
                text={common('save')}
                loading={saving.busy}
                onClick={() => void submit().catch(() => undefined)}
              />
              <Button icon={<Add />} text={t('prices.add')} onClick={() => show(newItem)} />
              {of === 'priced' && <ResetRatios />}
              {selected.size > 0 && <BatchPrices names={[...selected]} canDelete={of === 'priced'} onSet={done} />}
            </>
          }
        />
      </Card>
      {edited !== null && <PriceDrawer key={edited} name={edited} tables={tables} onSet={done} onClose={close} />}
    </>
  );
}

function ResetRatios() {
  const t = useText(settingsTexts);
  const confirm = useConfirm();
  const { forgetRatios } = usePriceDrafts();
  const [reset, { loading }] = useMutation(ResetModelRatiosDocument);
  const ask = async (): Promise<void> => {
    const question = {
      title: t('prices.reset'),
      body: t('prices.resetBody'),
      confirm: t('prices.resetConfirm'),
      typed: t('prices.resetTyped'),
    };
    if (!(await confirm(question))) return;
    await reset();
    forgetRatios();
    toaster.success(t('prices.resetDone'));
  };
  return (
    <Button
      icon={<Reset />}
      text={t('prices.reset')}
      loading={loading}
      // Said where all mutations fail.
      onClick={() => void ask().catch(() => undefined)}
    />
  );
}
