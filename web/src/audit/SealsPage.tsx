import { useQuery } from '@apollo/client/react';
import { AnchorButton, Button, Callout } from '@blueprintjs/core';
import { Download } from '@blueprintjs/icons';
import { useMemo } from 'react';
import {
  type SealFieldsFragment,
  SealHeadDocument,
  type SealHeadQuery,
  SealKeysDocument,
  SealsDocument,
} from '../generated/audit/seals.js';
import { CopyButton } from '../kit/CopyButton.js';
import { Fact, Facts } from '../kit/Facts.js';
import { formatExactly } from '../kit/figures.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { Section } from '../kit/Section.js';
import { readsSettings, useSignedIn } from '../kit/SessionProvider.js';
import { StatusTag } from '../kit/StatusTag.js';
import { saveFile } from '../kit/saveFile.js';
import { Time } from '../kit/Time.js';
import type { Column } from '../kit/table/columns.js';
import { ListPage } from '../kit/table/ListPage.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useKeysetPages } from '../kit/table/useKeysetPages.js';
import { type Translate, useText } from '../kit/words/i18n.js';
import { AuditPages } from './AuditPages.js';
import { CompareHead } from './CompareHead.js';
import { sealTexts } from './seals.texts.js';
import type { sealsZh } from './seals.zh.js';

/** A seal is made every ten seconds at most. */
const everyMs = 15_000;

const sealColumns = (t: Translate<typeof sealsZh>): readonly Column<SealFieldsFragment>[] => [
  {
    id: 'number',
    header: t('column.number'),
    heading: true,
    cell: ({ number }) => <span className="figures">{number}</span>,
  },
  { id: 'at', header: t('column.at'), cell: ({ at }) => <Time at={at} /> },
  {
    id: 'positions',
    header: t('column.positions'),
    cell: ({ first, last }) => (
      <span className="figures">
        {first}–{last}
      </span>
    ),
  },
  {
    id: 'events',
    header: t('column.events'),
    priority: 2,
    align: 'end',
    cell: ({ events }) => formatExactly(events),
  },
  {
    id: 'hash',
    header: t('column.hash'),
    priority: 3,
    cell: ({ eventsHash }) => <code title={eventsHash}>{eventsHash.slice(0, 16)}…</code>,
  },
  { id: 'key', header: t('column.key'), priority: 3, cell: ({ keyId }) => <code>{keyId}</code> },
  {
    id: 'head',
    header: t('column.head'),
    priority: 2,
    cell: ({ head }) => <CopyButton text={head} label={t('copy')} />,
  },
];

/** The seals over the log, and whether they are what somebody has noted. */
export function SealsPage() {
  const t = useText(sealTexts);
  const { after, size, paging } = useKeysetPages();
  const before = /^\d{1,15}$/.test(after ?? '') ? Number(after) : null;
  const result = useQuery(SealsDocument, {
    variables: { before, first: size },
    fetchPolicy: 'cache-and-network',
    pollInterval: before === null ? everyMs : 0,
    skipPollAttempt: () => document.hidden,
  });
  const items = result.data?.seals.items;
  const last = items?.at(-1);
  const columns = useMemo(() => sealColumns(t), [t]);
  return (
    <ListPage
      title={t('title')}
      help={t('help')}
      actions={<SealFiles />}
      above={
        <>
          <AuditPages />
          <SealState />
          <CompareHead />
        </>
      }
    >
      <ResourceTable
        label={t('table')}
        columnsKey="seals-table-columns"
        columns={columns}
        rows={items}
        rowKey={({ number }) => String(number)}
        result={result}
        empty={t('empty')}
        paging={paging(
          result.data && {
            hasNextPage: result.data.seals.hasMore,
            endCursor: last === undefined ? null : String(last.number),
          },
        )}
      />
    </ListPage>
  );
}

/** The newest seal, and whether the gateway still has those that it has made. */
function SealState() {
  const t = useText(sealTexts);
  const { data, loading, error, refetch } = useQuery(SealHeadDocument, {
    fetchPolicy: 'cache-and-network',
    pollInterval: everyMs,
    skipPollAttempt: () => document.hidden,
  });
  return (
    <Section title={t('state')}>
      {data === undefined ? (
        <QueryNotice loading={loading} error={error} refetch={refetch} />
      ) : (
        <NewestSeal {...data.sealHead} />
      )}
    </Section>
  );
}

function NewestSeal({ seal, witness, reason }: SealHeadQuery['sealHead']) {
  const t = useText(sealTexts);
  const intent = witness === 'SAME' ? 'success' : witness === 'REPLACED' ? 'danger' : 'none';
  return (
    <>
      {witness === 'REPLACED' && (
        <Callout intent="danger" compact role="alert">
          {t('replaced', { reason: reason ?? '' })}
        </Callout>
      )}
      <Facts>
        <Fact name={t('newest')}>
          {seal && (
            <>
              <code className="seal-head">{seal.head}</code> <CopyButton text={seal.head} label={t('copy')} />
            </>
          )}
        </Fact>
        <Fact name={t('column.at')}>{seal && <Time at={seal.at} />}</Fact>
        <Fact name={t('witness')}>
          <StatusTag intent={intent}>{t(`witness.${witness}`)}</StatusTag>
        </Fact>
      </Facts>
    </>
  );
}

/** What a check elsewhere needs. */
function SealFiles() {
  const t = useText(sealTexts);
  const takesLog = readsSettings(useSignedIn());
  const { data } = useQuery(SealKeysDocument, { fetchPolicy: 'cache-and-network' });
  const keys = data?.sealKeys ?? [];
  const lines = keys.map(({ publicKey }) => `${publicKey}\n`);
  return (
    <>
      {/* A link: the browser writes it as it comes, and never holds the whole log. */}
      {takesLog && <AnchorButton icon={<Download />} text={t('export')} href="/export/sealed-log.ndjson.gz" download />}
      <Button
        icon={<Download />}
        text={t('keys')}
        disabled={keys.length === 0}
        onClick={() => saveFile('seal-keys.txt', new Blob(lines))}
      />
    </>
  );
}
