import { useQuery } from '@apollo/client/react';
import { Card } from '@blueprintjs/core';
import { useMemo, useState } from 'react';
import {
  type AuditedInput,
  type AuditedKind,
  BalanceAtDocument,
  type MovementCause,
  QuotaHistoryDocument,
} from '../generated/audit/audit.js';
import { Fact, Facts } from '../kit/Facts.js';
import { QuotaText } from '../kit/QuotaText.js';
import { readsAll, useSignedIn } from '../kit/SessionProvider.js';
import { FilterBar, SelectFilter, TextFilter } from '../kit/table/FilterBar.js';
import { ListPage } from '../kit/table/ListPage.js';
import { MomentFilter } from '../kit/table/MomentFilter.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useKeysetPages } from '../kit/table/useKeysetPages.js';
import { useListParams } from '../kit/table/useListParams.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { auditTexts } from './audit.texts.js';
import { type Movement, movementColumns } from './movementColumns.js';

const kinds = [
  'USER',
  'API_KEY',
  'CHANNEL',
  'CODE',
  'PAYMENT',
  'TASK',
  'CALL',
] as const satisfies readonly AuditedKind[];
const causes = [
  'GRANT',
  'ADJUSTMENT',
  'TOP_UP',
  'TOP_UP_RETURN',
  'REDEMPTION',
  'INVITE_REWARD',
  'INVITE_TRANSFER',
  'ALLOWANCE',
  'RESERVATION',
  'SETTLEMENT',
  'RELEASE',
  'SUSPENSE',
  'REFUND',
] as const satisfies readonly MovementCause[];

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
  const common = useText(commonTexts);
  const viewer = useSignedIn();
  const all = readsAll(viewer);
  const [params, setParams] = useListParams({ kind: 'USER', id: viewer.id, cause: '', at: 0 });
  const { after, size, paging } = useKeysetPages();
  const kind = kinds.find((known) => known === params.kind) ?? 'USER';
  const cause = causes.find((known) => known === params.cause);
  const of = { kind, id: params.id };
  const result = useQuery(QuotaHistoryDocument, {
    variables: { of, causes: cause === undefined ? null : [cause], after: placeIn(after), first: size, all },
    fetchPolicy: 'cache-and-network',
  });
  const items = result.data?.quotaHistory.items;
  const last = items?.at(-1);
  const columns = useMemo(() => movementColumns(t), [t]);
  const everyCause = { value: '', label: common('all') };

  return (
    <ListPage
      title={t('title')}
      above={
        <>
          <FilterBar
            active={[params.id !== viewer.id || kind !== 'USER', cause !== undefined].filter(Boolean).length}
            onReset={() => setParams({ kind: 'USER', id: viewer.id, cause: '', at: 0 })}
          >
            <SelectFilter
              label={t('filter.kind')}
              value={kind}
              options={kinds.map((known) => ({ value: known, label: t(`kind.${known}`) }))}
              onChange={(chosen) => setParams({ kind: chosen })}
            />
            <TextFilter
              label={t('filter.id')}
              placeholder={t('filter.idHint')}
              value={params.id}
              onChange={(id) => setParams({ id })}
            />
            <SelectFilter
              label={t('filter.cause')}
              value={cause ?? ''}
              options={[everyCause, ...causes.map((known) => ({ value: known, label: t(`cause.${known}`) }))]}
              onChange={(chosen) => setParams({ cause: chosen })}
            />
            <BalanceFilter at={params.at} onChange={(at) => setParams({ at })} />
          </FilterBar>
          <BalanceThen of={of} at={params.at} />
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

/** Now, until another time is chosen. */
function useMoment(at: number): number {
  const [opened] = useState(() => Math.floor(Date.now() / 1000));
  return at > 0 ? at : opened;
}

function BalanceFilter({ at, onChange }: { readonly at: number; readonly onChange: (at: number) => void }) {
  const t = useText(auditTexts);
  return <MomentFilter label={t('filter.at')} at={useMoment(at)} onChange={onChange} />;
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
