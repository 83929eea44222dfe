import { useQuery } from '@apollo/client/react';
import { Button, Card } from '@blueprintjs/core';
import { Download } from '@blueprintjs/icons';
import { useMemo } from 'react';
import { type AuditedInput, BalanceAtDocument, QuotaHistoryDocument } from '../generated/audit/audit.js';
import { useExports } from '../kit/export/useExports.js';
import { Fact, Facts } from '../kit/Facts.js';
import { FormProblem } from '../kit/form/FormProblem.js';
import { QuotaText } from '../kit/QuotaText.js';
import { readsAll, useSignedIn } from '../kit/SessionProvider.js';
import { ListPage } from '../kit/table/ListPage.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useKeysetPages } from '../kit/table/useKeysetPages.js';
import { useListParams } from '../kit/table/useListParams.js';
import { useText } from '../kit/words/i18n.js';
import { AuditFilters, useMoment } from './AuditFilters.js';
import { AuditPages } from './AuditPages.js';
import { auditTexts } from './audit.texts.js';
import { auditDefaults, exportQueryOf, lookedAt } from './auditParams.js';
import { type Movement, movementColumns } from './movementColumns.js';

const exportForms = ['csv', 'ndjson'] as const;

/** Charges of single calls are small. */
const digits = 6;

const cursorOf = ({ position, part }: Movement): string => `${position}.${part}`;

function placeIn(after: string | null) {
  const [, position, part] = /^(\d{1,15})\.(\d)$/.exec(after ?? '') ?? [];
  return position === undefined ? null : { position: Number(position), part: Number(part) };
}

/** Every movement of an account, and what it held at a time. One's own, at the beginning. */
export function AuditPage() {
  const t = useText(auditTexts);
  const viewer = useSignedIn();
  const all = readsAll(viewer);
  const [params, setParams] = useListParams(auditDefaults(viewer.id));
  const { after, size, paging } = useKeysetPages();
  const { underWay, problem, download } = useExports();
  const looked = lookedAt(params);
  const result = useQuery(QuotaHistoryDocument, {
    variables: { ...looked, after: placeIn(after), first: size, all },
    fetchPolicy: 'cache-and-network',
  });
  const items = result.data?.quotaHistory.items;
  const last = items?.at(-1);
  const columns = useMemo(() => movementColumns(t), [t]);

  return (
    <ListPage
      title={t('title')}
      actions={exportForms.map((form) => (
        <Button
          key={form}
          icon={<Download />}
          text={t(`export.${form}`)}
          loading={underWay.has(`history.${form}`)}
          onClick={() => void download(`history.${form}`, exportQueryOf(looked))}
        />
      ))}
      above={
        <>
          <AuditPages />
          <FormProblem text={problem} />
          <AuditFilters params={params} own={viewer.id} onChange={setParams} />
          <BalanceThen of={looked.of} at={params.at} />
        </>
      }
    >
      <ResourceTable
        label={t('table')}
        columnsKey="audit-table-columns"
        columns={columns}
        rows={items}
        rowKey={cursorOf}
        result={result}
        empty={t('empty')}
        paging={paging(
          result.data && {
            hasNextPage: result.data.quotaHistory.hasMore,
            endCursor: last === undefined ? null : cursorOf(last),
          },
        )}
      />
    </ListPage>
  );
}

function BalanceThen({ of, at }: { readonly of: AuditedInput; readonly at: number }) {
  const t = useText(auditTexts);
  const { data } = useQuery(BalanceAtDocument, {
    variables: { of, moment: { at: useMoment(at) } },
    fetchPolicy: 'cache-and-network',
  });
  if (data === undefined) return null;
  const { available, reserved, invites } = data.balanceAt;
  return (
    <Card role="group" aria-label={t('balance.title')}>
      <Facts amounts>
        <Fact name={t('balance.available')}>
          <QuotaText quota={available} digits={digits} />
        </Fact>
        <Fact name={t('balance.reserved')}>
          <QuotaText quota={reserved} digits={digits} />
        </Fact>
        <Fact name={t('balance.invites')}>
          <QuotaText quota={invites} digits={digits} />
        </Fact>
      </Facts>
    </Card>
  );
}
