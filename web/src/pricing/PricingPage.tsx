import './pricing.css';
import { useQuery } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { Cross, Duplicate } from '@blueprintjs/icons';
import { useMemo, useState } from 'react';
import {
  type BillingKind,
  PriceGroupsDocument,
  type PriceGroupsQuery,
  PriceListDocument,
  type PriceListSort,
} from '../generated/pricing/pricing.js';
import { BuiltInPricesDay } from '../kit/BuiltInPricesDay.js';
import { useCopy } from '../kit/CopyProvider.js';
import { formatExactly } from '../kit/figures.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { useStatus, useViewer } from '../kit/SessionProvider.js';
import { FilterBar, SelectFilter, TextFilter } from '../kit/table/FilterBar.js';
import { ListPage } from '../kit/table/ListPage.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useListParams } from '../kit/table/useListParams.js';
import { useNumberedPages } from '../kit/table/useNumberedPages.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { PriceDetail } from './PriceDetail.js';
import { pricingTexts } from './pricing.texts.js';
import { pricingColumns } from './pricingColumns.js';

type Groups = PriceGroupsQuery['priceGroups'];

const kinds = ['TOKEN', 'CALL'] as const satisfies readonly BillingKind[];
const sorts = [
  'NEAREST',
  'NAME_DESC',
  'INPUT',
  'INPUT_DESC',
  'OUTPUT',
  'OUTPUT_DESC',
] as const satisfies readonly PriceListSort[];

/** What calls cost, for everybody: by group, and without sign-in those of the group everybody begins in. */
export function PricingPage() {
  const t = useText(pricingTexts);
  const { data, loading, error, refetch } = useQuery(PriceGroupsDocument, { fetchPolicy: 'cache-and-network' });
  if (data !== undefined) return <PricesByGroup groups={data.priceGroups} />;
  return (
    <ListPage title={t('title')}>
      <QueryNotice loading={loading} error={error} refetch={refetch} />
    </ListPage>
  );
}

function PricesByGroup({ groups: { own, usable } }: { readonly groups: Groups }) {
  const t = useText(pricingTexts);
  const common = useText(commonTexts);
  const { quotaPerUnit } = useStatus();
  const [params, setParams] = useListParams({ search: '', group: '', billing: '', sort: 'NEAREST' });
  const { page, size, paging } = useNumberedPages();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const copy = useCopy();
  // An address may name a group that is gone, or was somebody else's.
  const chosen = usable.find(({ name }) => name === params.group);
  const shown = chosen ?? usable.find(({ name }) => name === own);
  const sort = sorts.find((one) => one === params.sort) ?? 'NEAREST';
  const list = useQuery(PriceListDocument, {
    variables: {
      group: chosen?.name ?? null,
      search: params.search,
      billing: kinds.find((kind) => kind === params.billing) ?? null,
      sort,
      page,
      size,
    },
    fetchPolicy: 'cache-and-network',
  });
  const columns = useMemo(
    () => pricingColumns({ t, quotaPerUnit, group: shown?.name, onGroup: (group) => setParams({ group }) }),
    [t, quotaPerUnit, shown?.name, setParams],
  );
  const isFiltered = params.search !== '' || params.billing !== '';
  return (
    <ListPage
      title={t('title')}
      help={t('reference')}
      above={
        <>
          <div className="pricing-notes">
            <GroupNote own={own} usable={usable} shown={shown} />
            <BuiltInPricesDay />
            <Callout compact>{t('formula', { quotaPerUnit: formatExactly(Number(quotaPerUnit)) })}</Callout>
          </div>
          <FilterBar
            active={[params.search, params.billing, params.group].filter((value) => value !== '').length}
            onReset={() => setParams({ search: '', billing: '', group: '' })}
          >
            <TextFilter label={t('filter.search')} value={params.search} onChange={(search) => setParams({ search })} />
            <SelectFilter
              label={t('filter.group')}
              value={shown?.name ?? ''}
              options={[
                ...(shown === undefined ? [{ value: '', label: own }] : []),
                ...usable.map(({ name, ratio }) => ({ value: name, label: t('filter.groupChoice', { name, ratio }) })),
              ]}
              onChange={(group) => setParams({ group: group === own ? '' : group })}
            />
            <SelectFilter
              label={t('filter.billing')}
              value={params.billing}
              options={[
                { value: '', label: common('all') },
                ...kinds.map((kind) => ({ value: kind, label: t(`billing.${kind}`) })),
              ]}
              onChange={(billing) => setParams({ billing })}
            />
          </FilterBar>
        </>
      }
    >
      <ResourceTable
        label={t('title')}
        columnsKey="pricing-table-columns"
        columns={columns}
        rows={list.data?.priceList.items}
        rowKey={({ name }) => name}
        result={list}
        sort={{ value: sort, onSort: (chosen) => setParams({ sort: chosen }) }}
        empty={t(isFiltered ? 'empty' : 'empty.all')}
        isMuted={({ available }) => !available}
        selection={{ selected, onChange: setSelected, keyOf: ({ name }) => name, nameOf: ({ name }) => name }}
        toolbar={
          selected.size > 0 ? (
            <>
              <Button
                size="small"
                icon={<Duplicate size={14} />}
                text={t('copy.selected', { count: selected.size })}
                onClick={() => void copy([...selected].join(','))}
              />
              <Button
                size="small"
                variant="minimal"
                icon={<Cross size={14} />}
                aria-label={t('select.none')}
                title={t('select.none')}
                onClick={() => setSelected(new Set())}
              />
            </>
          ) : undefined
        }
        detail={(model) => <PriceDetail model={model} />}
        paging={paging(list.data?.priceList.total)}
      />
    </ListPage>
  );
}

/** Whose prices these are. */
function GroupNote({ own, usable, shown }: Groups & { readonly shown: Groups['usable'][number] | undefined }) {
  const t = useText(pricingTexts);
  const viewer = useViewer();
  const ownRatio = usable.find(({ name }) => name === own)?.ratio;
  if (shown !== undefined && shown.name !== own)
    return <Callout compact>{t('group.shown', { group: shown.name, ratio: shown.ratio })}</Callout>;
  if (ownRatio === undefined)
    return (
      <Callout compact intent="warning">
        {t('group.retired', { group: own })}
      </Callout>
    );
  return viewer === null ? (
    <Callout compact intent="warning">
      {t('group.stranger', { group: own, ratio: ownRatio })}
    </Callout>
  ) : (
    <Callout compact intent="primary">
      {t('group.own', { group: own, ratio: ownRatio })}
    </Callout>
  );
}
