import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { Refresh } from '@blueprintjs/icons';
import { useState } from 'react';
import { FetchPriceSourceDocument, type PriceSourceFieldsFragment } from '../../generated/settings/updates/updates.js';
import { StatusTag } from '../../kit/StatusTag.js';
import { Time } from '../../kit/Time.js';
import { toaster } from '../../kit/Toasts.js';
import type { Column } from '../../kit/table/columns.js';
import { ResourceTable } from '../../kit/table/ResourceTable.js';
import { formatTime } from '../../kit/time.js';
import { useText } from '../../kit/words/i18n.js';
import { updatesTexts } from './updates.texts.js';

interface PriceSourceListProps {
  readonly result: { readonly loading: boolean; readonly error?: unknown; readonly refetch: () => unknown };
  readonly sources: readonly PriceSourceFieldsFragment[] | undefined;
  /** The name of the one whose differences are shown. */
  readonly chosen: string;
  readonly onLook: (name: string) => void;
  /** Also after a try that failed. */
  readonly onFetched: () => Promise<void>;
}

/** Sources with their states, and what can be done with each. */
export function PriceSourceList({ result, sources, chosen, onLook, onFetched }: PriceSourceListProps) {
  const t = useText(updatesTexts);
  const [fetchSource] = useMutation(FetchPriceSourceDocument);
  const [busy, setBusy] = useState<string | null>(null);

  const fetch = async (name: string): Promise<void> => {
    setBusy(name);
    try {
      const { data } = await fetchSource({ variables: { name } });
      toaster.success(t('fetched', { models: String(data?.fetchPriceSource.models ?? 0) }));
      onLook(name);
    } catch {
      // Said where all mutations fail, and by the state of the source.
    } finally {
      setBusy(null);
      await onFetched().catch(() => undefined);
    }
  };

  const columns: readonly Column<PriceSourceFieldsFragment>[] = [
    {
      id: 'name',
      header: t('sources.name'),
      heading: true,
      cell: ({ name, isFile }) => (isFile ? t('sources.file') : name),
      under: ({ url }) => url,
    },
    { id: 'state', header: t('sources.state'), wraps: true, cell: (source) => <SourceState source={source} /> },
    { id: 'models', header: t('sources.models'), align: 'end', priority: 2, cell: ({ models }) => models ?? '—' },
    {
      id: 'margin',
      header: t('sources.margin'),
      wraps: true,
      priority: 2,
      cell: (source) => <Margins source={source} />,
    },
    {
      id: 'actions',
      header: t('sources.actions'),
      cell: ({ name, isFile, readAt }) => (
        <span className="price-source-actions">
          {!isFile && (
            <Button
              size="small"
              icon={<Refresh />}
              text={t('fetch')}
              aria-label={t('fetchNamed', { name })}
              loading={busy === name}
              disabled={busy !== null}
              onClick={() => void fetch(name)}
            />
          )}
          {readAt !== null && (
            <Button
              size="small"
              text={t('look')}
              aria-label={t('lookNamed', { name })}
              active={chosen === name}
              onClick={() => onLook(name)}
            />
          )}
        </span>
      ),
    },
  ];

  return (
    <ResourceTable
      label={t('sources.title')}
      columns={columns}
      rows={sources}
      rowKey={({ name }) => name}
      result={result}
      empty={t('sources.none')}
    />
  );
}

function SourceState({ source }: { readonly source: PriceSourceFieldsFragment }) {
  const t = useText(updatesTexts);
  const { isReading, failure, triedAt, readAt, daily, appliesUnasked, bound } = source;
  const unasked = appliesUnasked ? t('sources.unasked', { bound }) : t('sources.daily');
  return (
    <div className="price-source-state">
      {isReading && <StatusTag intent="primary">{t('state.reading')}</StatusTag>}
      {!isReading && failure !== null && <StatusTag intent="danger">{t('state.failed')}</StatusTag>}
      {!isReading && failure === null && (
        <StatusTag intent={readAt === null ? 'none' : 'success'}>
          {t(readAt === null ? 'state.never' : 'state.read')}
        </StatusTag>
      )}
      {triedAt !== null && <Time at={triedAt} />}
      {failure !== null && <p className="price-source-failure">{failure}</p>}
      {failure !== null && readAt !== null && <p>{t('state.kept', { at: formatTime(readAt) })}</p>}
      {daily && <p>{unasked}</p>}
    </div>
  );
}

function Margins({ source }: { readonly source: PriceSourceFieldsFragment }) {
  const t = useText(updatesTexts);
  const { usualMargin, vendorMargins, familyMargins, groupMargins, groupMinimums } = source;
  const named = [...familyMargins, ...vendorMargins].map(({ name, margin }) => `${name} × ${margin}`);
  const groups = groupMargins.map(({ name, margin }) => `${name} × ${margin}`).join(', ');
  const minimums = groupMinimums.map(({ name, margin }) => `${name} × ${margin}`).join(', ');
  return (
    <div>
      <p className="figures">× {usualMargin}</p>
      {named.length > 0 && <p>{named.join(', ')}</p>}
      <p>{t('sources.groups', { groups })}</p>
      {minimums !== '' && <p>{t('sources.minimums', { groups: minimums })}</p>}
    </div>
  );
}
