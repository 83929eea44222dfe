import { Callout } from '@blueprintjs/core';
import { useMemo } from 'react';
import type { RepairPreviewQuery } from '../../generated/audit/repairs/repairs.js';
import { CopyButton } from '../../kit/CopyButton.js';
import { Fact, Facts } from '../../kit/Facts.js';
import { formatExactly } from '../../kit/figures.js';
import { QuotaText } from '../../kit/QuotaText.js';
import { formatQuota } from '../../kit/quota.js';
import { Section } from '../../kit/Section.js';
import { isRoot, useQuotaUnits, useSignedIn } from '../../kit/SessionProvider.js';
import { StatusTag } from '../../kit/StatusTag.js';
import type { Column } from '../../kit/table/columns.js';
import { ResourceTable } from '../../kit/table/ResourceTable.js';
import { commonTexts } from '../../kit/words/common.texts.js';
import { type Translate, useText } from '../../kit/words/i18n.js';
import { chargeDigits, DifferenceText } from '../other-prices/DifferenceText.js';
import { PostRepair } from './PostRepair.js';
import { repairsTexts } from './repairs.texts.js';
import type { repairsZh } from './repairs.zh.js';

type Preview = RepairPreviewQuery['repairPreview'];
type Row = Preview['rows'][number];

interface RepairPreviewProps {
  readonly preview: Preview;
  readonly onAgain: () => void;
  readonly onPosted: () => void;
}

/** What a repair would post: who gets back how much, who pays, and what is left. */
export function RepairPreview({ preview, onAgain, onPosted }: RepairPreviewProps) {
  const t = useText(repairsTexts);
  const common = useText(commonTexts);
  const units = useQuotaUnits();
  const mayPost = isRoot(useSignedIn());
  const columns = useMemo(() => rowColumns(t), [t]);
  const { digest, seen, unpriced, planned, left, rows, rowCount } = preview;
  return (
    <Section title={t('preview')}>
      <Facts>
        <Fact name={t('seen')}>{formatExactly(seen)}</Fact>
        <Fact name={t('calls')}>{formatExactly(planned.calls)}</Fact>
        <Fact name={t('given')}>
          <QuotaText quota={planned.given} digits={chargeDigits} />
        </Fact>
        <Fact name={t('taken')}>
          <QuotaText quota={planned.taken} digits={chargeDigits} />
        </Fact>
        <Fact name={t('digest')}>
          <code title={digest}>{digest.slice(0, 16)}…</code> <CopyButton text={digest} label={common('copy')} />
        </Fact>
      </Facts>
      {unpriced > 0 && (
        <Callout intent="warning" compact>
          {t('unpriced', { calls: formatExactly(unpriced) })}
        </Callout>
      )}
      {left.calls > 0 && (
        <Callout compact>
          {t('left', { calls: formatExactly(left.calls), quota: formatQuota(left.taken, units, chargeDigits) })}
        </Callout>
      )}
      <ResourceTable
        label={t('rows')}
        columns={columns}
        rows={rows}
        rowKey={({ userId, model }) => `${userId} ${model}`}
        empty={t('nothing')}
      />
      {rows.length < rowCount && <p className="section-note">{t('more', { shown: rows.length, count: rowCount })}</p>}
      {mayPost && planned.calls > 0 && (
        <PostRepair digest={digest} planned={planned} onAgain={onAgain} onPosted={onPosted} />
      )}
    </Section>
  );
}

const rowColumns = (t: Translate<typeof repairsZh>): readonly Column<Row>[] => [
  {
    id: 'user',
    header: t('row.user'),
    heading: true,
    cell: ({ user, userId }) => user?.username ?? t('row.erased', { id: userId }),
  },
  { id: 'model', header: t('model'), cell: ({ model }) => model },
  { id: 'calls', header: t('row.calls'), align: 'end', priority: 2, cell: ({ calls }) => formatExactly(calls) },
  {
    id: 'charged',
    header: t('row.charged'),
    align: 'end',
    priority: 2,
    cell: ({ charged }) => <QuotaText quota={charged} digits={chargeDigits} />,
  },
  {
    id: 'right',
    header: t('row.right'),
    align: 'end',
    priority: 2,
    cell: ({ right }) => <QuotaText quota={right} digits={chargeDigits} />,
  },
  {
    id: 'difference',
    header: t('row.difference'),
    align: 'end',
    cell: ({ charged, right }) => <DifferenceText difference={right - charged} />,
  },
  {
    id: 'effect',
    header: t('row.effect'),
    cell: ({ charged, right }) =>
      right !== charged && (
        <StatusTag intent={right < charged ? 'success' : 'warning'}>
          {t(right < charged ? 'row.gets' : 'row.pays')}
        </StatusTag>
      ),
  },
];
