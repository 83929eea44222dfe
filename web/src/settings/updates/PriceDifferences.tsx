import { useQuery } from '@apollo/client/react';
import { useState } from 'react';
import {
  type PriceDifferenceFieldsFragment,
  PriceDifferencesDocument,
  type PriceDifferencesQuery,
} from '../../generated/settings/updates/updates.js';
import { formatRate } from '../../kit/figures.js';
import { Section } from '../../kit/Section.js';
import { StatusTag } from '../../kit/StatusTag.js';
import type { Column } from '../../kit/table/columns.js';
import { FilterBar, SelectFilter, TextFilter } from '../../kit/table/FilterBar.js';
import { ResourceTable } from '../../kit/table/ResourceTable.js';
import { useListParams } from '../../kit/table/useListParams.js';
import { useNumberedPages } from '../../kit/table/useNumberedPages.js';
import { useText } from '../../kit/words/i18n.js';
import { ApplyPrices } from './ApplyPrices.js';
import { PriceMoves } from './PriceMoves.js';
import { SkippedPrices } from './SkippedPrices.js';
import { updatesTexts } from './updates.texts.js';

export type Difference = PriceDifferenceFieldsFragment;
export type DifferencesSeen = PriceDifferencesQuery['priceDifferences'];

const kinds = ['NEW', 'DEARER', 'CHEAPER', 'OTHER_KIND', 'GONE', 'SAME'] as const;
const kindIntents = { DEARER: 'warning', CHEAPER: 'success', NEW: 'primary', OTHER_KIND: 'danger' } as const;
const maxRows = 50;

const defaults = { source: '', model: '', kind: '', served: 'yes' };

function useDifferenceColumns(): readonly Column<Difference>[] {
  const t = useText(updatesTexts);
  return [
    {
      id: 'model',
      header: t('differences.model'),
      heading: true,
      cell: ({ model }) => model,
      under: ({ vendor }) => vendor,
    },
    {
      id: 'kind',
      header: t('differences.kind'),
      cell: ({ kind }) => (
        <StatusTag intent={kind in kindIntents ? kindIntents[kind as keyof typeof kindIntents] : 'none'}>
          {t(`kind.${kind}`)}
        </StatusTag>
      ),
    },
    {
      id: 'factor',
      header: t('differences.factor'),
      align: 'end',
      cell: ({ factor, cautions }) =>
        factor === null ? (
          '—'
        ) : (
          <StatusTag intent={cautions.includes('BEYOND_BOUNDS') ? 'danger' : 'none'}>
            × {formatRate(Number(factor))}
          </StatusTag>
        ),
    },
    {
      id: 'moves',
      header: t('differences.moves'),
      wraps: true,
      cell: ({ moves }) => <PriceMoves moves={moves} />,
    },
    {
      id: 'cautions',
      header: t('differences.cautions'),
      wraps: true,
      priority: 2,
      cell: ({ cautions, groupsBelow, isFree }) => (
        <span className="price-cautions">
          {isFree && <StatusTag>{t('differences.free')}</StatusTag>}
          {cautions.map((caution) => (
            <StatusTag key={caution} intent="warning">
              {t(`caution.${caution}`, { groups: groupsBelow.join(', ') })}
            </StatusTag>
          ))}
        </span>
      ),
    },
  ];
}

/** What a source would change, model by model. */
export function PriceDifferences({ source }: { readonly source: string }) {
  const t = useText(updatesTexts);
  const columns = useDifferenceColumns();
  const [{ model, kind, served }, setParams] = useListParams(defaults);
  const { page, size, paging } = useNumberedPages(maxRows);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const wanted = kinds.find((name) => name === kind);
  const filter = {
    ...{ search: model, kinds: wanted === undefined ? null : [wanted] },
    ...{ servedOnly: served === 'yes', withinBoundsOnly: false },
  };
  const result = useQuery(PriceDifferencesDocument, {
    variables: { source, filter, page, size },
    fetchPolicy: 'cache-and-network',
  });
  const found = result.data?.priceDifferences;
  const active = [model !== '', kind !== '', served !== 'yes'].filter(Boolean).length;
  return (
    <Section title={t('differences.title', { source })}>
      <p className="section-note">
        {found?.counts
          .map(({ kind: name, count }) => t('differences.count', { kind: t(`kind.${name}`), count }))
          .join(' · ')}
      </p>
      <FilterBar active={active} onReset={() => setParams({ model: '', kind: '', served: 'yes' })}>
        <TextFilter label={t('differences.search')} value={model} onChange={(text) => setParams({ model: text })} />
        <SelectFilter
          label={t('differences.kind')}
          value={kind}
          options={[
            { value: '', label: t('differences.changes') },
            ...kinds.map((name) => ({ value: name, label: t(`kind.${name}`) })),
          ]}
          onChange={(name) => setParams({ kind: name })}
        />
        <SelectFilter
          label={t('differences.served')}
          value={served}
          options={[
            { value: 'yes', label: t('differences.servedOnly') },
            { value: 'no', label: t('differences.all') },
          ]}
          onChange={(which) => setParams({ served: which })}
        />
      </FilterBar>
      <ResourceTable
        label={t('differences.title', { source })}
        columns={columns}
        rows={found?.items}
        rowKey={(row) => row.model}
        result={result}
        selection={{ selected, onChange: setSelected, keyOf: (row) => row.model, nameOf: (row) => row.model }}
        detail={(row) => <DifferenceDetail row={row} />}
        isMuted={({ isApplicable }) => !isApplicable}
        empty={t('differences.none')}
        paging={paging(found?.total)}
        toolbar={
          found !== undefined && (
            <ApplyPrices
              {...{ source, filter, seen: found, selected }}
              onApplied={async () => {
                setSelected(new Set());
                await result.refetch();
              }}
            />
          )
        }
      />
      {found !== undefined && found.skippedTotal > 0 && <SkippedPrices source={source} total={found.skippedTotal} />}
    </Section>
  );
}

function DifferenceDetail({ row: { moves, margin, unread, vendor } }: { readonly row: Difference }) {
  const t = useText(updatesTexts);
  return (
    <div className="price-difference">
      <PriceMoves moves={moves} all />
      <p>
        {t('differences.margin')} <span className="figures">× {margin}</span>
      </p>
      {vendor !== null && <p>{t('differences.vendor', { vendor })}</p>}
      {unread.length > 0 && <p>{t('differences.unread', { members: unread.join(', ') })}</p>}
    </div>
  );
}
