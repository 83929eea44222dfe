import { useQuery } from '@apollo/client/react';
import { useMemo } from 'react';
import { Link, useSearchParams } from 'react-router-dom';
import {
  type ClosedPeriodFieldsFragment,
  ClosedPeriodsDocument,
  ClosingBalancesDocument,
  type ClosingBalancesQuery,
} from '../generated/audit/books.js';
import { CopyButton } from '../kit/CopyButton.js';
import { formatExactly } from '../kit/figures.js';
import { Section } from '../kit/Section.js';
import { Time } from '../kit/Time.js';
import type { Column } from '../kit/table/columns.js';
import { ListPage } from '../kit/table/ListPage.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useKeysetPages } from '../kit/table/useKeysetPages.js';
import { type Translate, useText } from '../kit/words/i18n.js';
import { AuditPages } from './AuditPages.js';
import { booksTexts } from './books.texts.js';
import type { booksZh } from './books.zh.js';

const periodColumns = (t: Translate<typeof booksZh>): readonly Column<ClosedPeriodFieldsFragment>[] => [
  {
    id: 'period',
    header: t('column.period'),
    heading: true,
    cell: ({ period }) => <Link to={{ search: `period=${period}` }}>{period}</Link>,
  },
  { id: 'until', header: t('column.until'), cell: ({ until }) => <Time at={until} /> },
  {
    id: 'position',
    header: t('column.position'),
    cell: ({ position }) => <span className="figures">{position}</span>,
  },
  {
    id: 'entries',
    header: t('column.entries'),
    priority: 2,
    align: 'end',
    cell: ({ entries }) => formatExactly(entries),
  },
  {
    id: 'seal',
    header: t('column.seal'),
    priority: 2,
    cell: ({ seal }) => (
      <>
        <code title={seal}>{seal.slice(0, 16)}…</code> <CopyButton text={seal} label={t('copy')} />
      </>
    ),
  },
  {
    id: 'archive',
    header: t('column.archive'),
    priority: 3,
    cell: ({ archive }) =>
      archive && <span title={archive.digest}>{t('archived', { events: formatExactly(archive.events) })}</span>,
  },
];

type Balance = ClosingBalancesQuery['closingBalances']['items'][number];

const balanceColumns = (t: Translate<typeof booksZh>): readonly Column<Balance>[] => [
  { id: 'account', header: t('column.account'), heading: true, cell: ({ account }) => <code>{account}</code> },
  {
    id: 'amount',
    header: t('column.amount'),
    align: 'end',
    // Of any size: no number of this browser holds them all.
    cell: ({ amount }) => <span className="figures">{amount}</span>,
  },
];

/** Periods whose books are closed; of one of them what each account held at its end. */
export function BooksPage() {
  const t = useText(booksTexts);
  const [search] = useSearchParams();
  const period = search.get('period');
  const result = useQuery(ClosedPeriodsDocument, { fetchPolicy: 'cache-and-network' });
  const columns = useMemo(() => periodColumns(t), [t]);
  return (
    <ListPage title={t('title')} help={t('help')} above={<AuditPages />}>
      <ResourceTable
        label={t('table')}
        columnsKey="books-table-columns"
        columns={columns}
        rows={result.data?.closedPeriods}
        rowKey={(closed) => closed.period}
        result={result}
        empty={t('empty')}
      />
      {period !== null && <ClosingBalances period={period} />}
    </ListPage>
  );
}

function ClosingBalances({ period }: { readonly period: string }) {
  const t = useText(booksTexts);
  const { after, size, paging } = useKeysetPages();
  const result = useQuery(ClosingBalancesDocument, {
    variables: { period, after, first: size },
    fetchPolicy: 'cache-and-network',
  });
  const columns = useMemo(() => balanceColumns(t), [t]);
  const page = result.data?.closingBalances;
  return (
    <Section title={t('balances.title', { period })}>
      <ResourceTable
        label={t('balances.table')}
        columnsKey="closing-balances-table-columns"
        columns={columns}
        rows={page?.items}
        rowKey={({ account }) => account}
        result={result}
        empty={t('balances.empty')}
        paging={paging(page && { hasNextPage: page.next !== null, endCursor: page.next })}
      />
    </Section>
  );
}
