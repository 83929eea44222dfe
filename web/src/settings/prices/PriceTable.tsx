import { useMutation, useQuery } from '@apollo/client/react';
import { Button, Card } from '@blueprintjs/core';
import { Add, Export, History, Import } from '@blueprintjs/icons';
import { useState } from 'react';
import { ExportPricesDocument, PriceTableDocument } from '../../generated/settings/prices/prices.js';
import { saveFile } from '../../kit/saveFile.js';
import { FilterBar, SelectFilter, TextFilter } from '../../kit/table/FilterBar.js';
import { itemOf, namedBy, useOpenItem } from '../../kit/table/openItem.js';
import { ResourceTable } from '../../kit/table/ResourceTable.js';
import { useListParams } from '../../kit/table/useListParams.js';
import { useNumberedPages } from '../../kit/table/useNumberedPages.js';
import { commonTexts } from '../../kit/words/common.texts.js';
import { useText } from '../../kit/words/i18n.js';
import { BulkEdit } from './BulkEdit.js';
import { ImportPrices } from './ImportPrices.js';
import { historyItem, PriceDrawer } from './PriceDrawer.js';
import { PriceHistoryDrawer } from './PriceHistory.js';
import { pricesTexts } from './prices.texts.js';
import { usePriceColumns } from './usePriceColumns.js';

const newItem = 'newprice';
const importItem = 'importprices';
const kind = 'price';

const origins = ['RECORD', 'OPTION', 'BUILT_IN', 'NONE'] as const;
const filters = ['UNPRICED', 'DIFFERS', 'COMING', 'SERVED'] as const;
const sorts = ['NAME', 'NAME_DESC', 'INPUT', 'INPUT_DESC', 'OUTPUT', 'OUTPUT_DESC', 'REFUSED_DESC'] as const;

/** Every model that has a price, is served or was called without one. `unpriced`: the latter alone. */
export function PriceTable({ unpriced }: { readonly unpriced: boolean }) {
  const t = useText(pricesTexts);
  const common = useText(commonTexts);
  const [params, setParams] = useListParams({ model: '', origin: '', only: '', sort: 'NAME' });
  const { page, size, paging } = useNumberedPages();
  const { open, show, close } = useOpenItem();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [exportPrices, { loading: exporting }] = useMutation(ExportPricesDocument);
  const origin = origins.find((name) => name === params.origin) ?? null;
  const filter = unpriced ? 'UNPRICED' : (filters.find((name) => name === params.only) ?? null);
  const sort = sorts.find((name) => name === params.sort) ?? 'NAME';
  const result = useQuery(PriceTableDocument, {
    variables: { search: params.model, origin, filter, sort, page, size },
    fetchPolicy: 'cache-and-network',
  });
  const columns = usePriceColumns();
  const table = result.data?.priceTable;

  const saveExport = async (): Promise<void> => {
    const models = selected.size === 0 ? null : [...selected];
    const { data } = await exportPrices({ variables: { models } });
    if (data === undefined) return;
    const day = new Date().toISOString().slice(0, 10);
    saveFile(`prices-${day}.json`, new Blob([data.exportPrices], { type: 'application/json' }));
  };
  const changed = (): void => {
    setSelected(new Set());
    void result.refetch().catch(() => undefined);
  };
  const edited = open === newItem ? '' : namedBy(kind, open);
  const active = [params.model, ...(unpriced ? [] : [params.origin, params.only])].filter((text) => text !== '').length;

  return (
    <>
      <FilterBar active={active} onReset={() => setParams({ model: '', origin: '', only: '' })}>
        <TextFilter label={t('filter.search')} value={params.model} onChange={(model) => setParams({ model })} />
        {!unpriced && (
          <>
            <SelectFilter
              label={t('filter.origin')}
              value={origin ?? ''}
              options={[
                { value: '', label: common('all') },
                ...origins.map((value) => ({ value, label: t(`origin.${value}`) })),
              ]}
              onChange={(value) => setParams({ origin: value })}
            />
            <SelectFilter
              label={t('filter.only')}
              value={filter ?? ''}
              options={[
                { value: '', label: common('all') },
                ...filters.map((value) => ({ value, label: t(`only.${value}`) })),
              ]}
              onChange={(value) => setParams({ only: value })}
            />
          </>
        )}
      </FilterBar>
      <Card className="list-card">
        <ResourceTable
          label={t(unpriced ? 'table.unpriced' : 'table.all')}
          columns={columns}
          columnsKey="price-columns"
          rows={table?.items}
          rowKey={({ model }) => model}
          result={result}
          opens={({ model }) => itemOf(kind, model)}
          selection={{ selected, onChange: setSelected, keyOf: ({ model }) => model, nameOf: ({ model }) => model }}
          sort={{ value: sort, onSort: (value) => setParams({ sort: value }) }}
          empty={t(unpriced ? 'table.allSet' : 'table.none')}
          paging={paging(table?.total)}
          toolbar={
            <>
              <Button icon={<Add />} intent="primary" text={t('table.add')} onClick={() => show(newItem)} />
              {selected.size > 0 && <BulkEdit models={[...selected]} onChanged={changed} />}
              <Button
                icon={<Export />}
                text={t(selected.size === 0 ? 'file.export' : 'file.exportSelected')}
                loading={exporting}
                // Said where all mutations fail.
                onClick={() => void saveExport().catch(() => undefined)}
              />
              <Button icon={<Import />} text={t('file.import')} onClick={() => show(importItem)} />
              <Button icon={<History />} text={t('table.history')} onClick={() => show(historyItem)} />
            </>
          }
        />
      </Card>
      {edited !== null && <PriceDrawer key={edited} name={edited} onChanged={changed} onClose={close} />}
      {open === importItem && <ImportPrices onChanged={changed} onClose={close} />}
      <PriceHistoryDrawer open={open} onChanged={changed} onClose={close} />
    </>
  );
}
