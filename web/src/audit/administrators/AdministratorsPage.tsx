import { useQuery } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { Download } from '@blueprintjs/icons';
import { useMemo } from 'react';
import { Navigate } from 'react-router-dom';
import {
  type AdministeredSubject,
  type AdministratorOrder,
  AdministratorsLogDocument,
} from '../../generated/audit/administrators/administrators.js';
import { useExports } from '../../kit/export/useExports.js';
import { FormProblem } from '../../kit/form/FormProblem.js';
import { isRoot, readsAll, useSignedIn } from '../../kit/SessionProvider.js';
import { FilterBar, SelectFilter, TextFilter } from '../../kit/table/FilterBar.js';
import { ListPage } from '../../kit/table/ListPage.js';
import { MomentFilter } from '../../kit/table/MomentFilter.js';
import { ResourceTable } from '../../kit/table/ResourceTable.js';
import { useKeysetPages } from '../../kit/table/useKeysetPages.js';
import { useListParams } from '../../kit/table/useListParams.js';
import { commonTexts } from '../../kit/words/common.texts.js';
import { useText } from '../../kit/words/i18n.js';
import { AuditPages } from '../AuditPages.js';
import { actColumns } from './actColumns.js';
import './administrators.css';
import { administratorsTexts } from './administrators.texts.js';

const kinds = [
  'ADDED',
  'EDITED',
  'ENABLED',
  'DISABLED',
  'REMOVED',
  'ERASED',
  'ROLE_CHANGED',
  'GROUP_CHANGED',
  'PASSWORD_CHANGED',
  'ACCESS_TOKEN_ISSUED',
  'SECOND_FACTOR_CHANGED',
  'SIGN_INS_ENDED',
  'BALANCE_ADJUSTED',
  'COMPLETED_BY_HAND',
  'CLEARED',
  'LEFT_OUT',
] as const satisfies readonly AdministratorOrder[];
const subjects = [
  'USER',
  'API_KEY',
  'CHANNEL',
  'CODE',
  'OPTION',
  'PRICES',
  'PAYMENT',
  'USAGE_LOG',
  'READ_MODEL',
] as const satisfies readonly AdministeredSubject[];

const unfiltered = { by: '', kind: '', subject: '', id: '', from: 0, to: 0 };
type Params = Readonly<Record<keyof typeof unfiltered, string | number>>;

const given = (number: number): number | null => (number > 0 ? number : null);
const filled = (text: string): string | null => (text === '' ? null : text);

/** The parameters as the export of the same list names them; what is not given is left out. */
const exportQueryOf = (params: Params): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params)
      .filter(([, value]) => value !== '' && value !== 0)
      .map(([name, value]) => [
        name,
        name === 'kind' || name === 'subject' ? String(value).toLowerCase().replaceAll('_', '-') : String(value),
      ]),
  );

/** For whoever reads everything: what administrators did. */
export function AdministratorsPage() {
  const viewer = useSignedIn();
  return readsAll(viewer) ? <AdministratorsList /> : <Navigate to="/audit" replace />;
}

function AdministratorsList() {
  const t = useText(administratorsTexts);
  const common = useText(commonTexts);
  const root = isRoot(useSignedIn());
  const [params, setParams] = useListParams(unfiltered);
  const { after, size, paging } = useKeysetPages();
  const { underWay, problem, download } = useExports();
  const kind = kinds.find((known) => known === params.kind);
  const subject = subjects.find((known) => known === params.subject);
  const result = useQuery(AdministratorsLogDocument, {
    variables: {
      by: filled(params.by),
      kinds: kind === undefined ? null : [kind],
      subject: subject ?? null,
      subjectId: subject === undefined ? null : filled(params.id),
      from: given(params.from),
      to: given(params.to),
      after: after === null ? null : Number(after),
      first: size,
    },
    fetchPolicy: 'cache-and-network',
  });
  const log = result.data?.administratorsLog;
  const last = log?.items.at(-1);
  const columns = useMemo(() => actColumns(t, root), [t, root]);
  const all = { value: '', label: common('all') };

  return (
    <ListPage
      title={t('title')}
      help={t('help')}
      actions={(['csv', 'ndjson'] as const).map((ending) => (
        <Button
          key={ending}
          icon={<Download />}
          text={t(`download.${ending}`)}
          loading={underWay.has(`administrators.${ending}`)}
          onClick={() => void download(`administrators.${ending}`, exportQueryOf(params))}
        />
      ))}
      above={
        <>
          <AuditPages />
          <FormProblem text={problem} />
          <FilterBar
            active={Object.values(params).filter((value) => value !== '' && value !== 0).length}
            onReset={() => setParams(unfiltered)}
          >
            <TextFilter
              label={t('filter.by')}
              placeholder={t('filter.byHint')}
              value={params.by}
              onChange={(by) => setParams({ by })}
            />
            <SelectFilter
              label={t('filter.kind')}
              value={kind ?? ''}
              options={[all, ...kinds.map((known) => ({ value: known, label: t(`kind.${known}`) }))]}
              onChange={(chosen) => setParams({ kind: chosen })}
            />
            <SelectFilter
              label={t('filter.subject')}
              value={subject ?? ''}
              options={[all, ...subjects.map((known) => ({ value: known, label: t(`subject.${known}`) }))]}
              onChange={(chosen) => setParams({ subject: chosen, id: chosen === '' ? '' : params.id })}
            />
            <TextFilter
              label={t('filter.subjectId')}
              placeholder={t('filter.subjectIdHint')}
              value={params.id}
              onChange={(id) => setParams({ id })}
            />
            <MomentFilter label={t('filter.from')} at={params.from} onChange={(from) => setParams({ from })} />
            <MomentFilter label={t('filter.to')} at={params.to} onChange={(to) => setParams({ to })} />
          </FilterBar>
        </>
      }
    >
      <ResourceTable
        label={t('table')}
        columnsKey="administrators-table-columns"
        columns={columns}
        rows={log?.items}
        rowKey={({ position }) => String(position)}
        result={result}
        empty={t('empty')}
        paging={paging(
          log && { hasNextPage: log.hasMore, endCursor: last === undefined ? null : String(last.position) },
        )}
      />
    </ListPage>
  );
}
