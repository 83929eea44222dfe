import { Button, ButtonGroup, Callout } from '@blueprintjs/core';
import type { Column } from '../../kit/table/columns.js';
import { ResourceTable } from '../../kit/table/ResourceTable.js';
import { useText } from '../../kit/words/i18n.js';
import type { PricePeriods } from './priceRecord.js';
import { pricesTexts } from './prices.texts.js';
import { usePartName } from './priceWords.js';
import { comparedRows } from './recordParts.js';

interface PriceConflictProps {
  readonly mine: PricePeriods;
  /** null: they have taken the price away. */
  readonly theirs: PricePeriods | null;
  readonly onTake: () => void;
  readonly onKeep: () => void;
}

type Row = ReturnType<typeof comparedRows>[number];

/** What somebody else has made of a price meanwhile, beside what is typed. */
export function PriceConflict({ mine, theirs, onTake, onKeep }: PriceConflictProps) {
  const t = useText(pricesTexts);
  const partName = usePartName();
  const rows = comparedRows(mine, theirs ?? []);
  const columns: readonly Column<Row>[] = [
    {
      id: 'part',
      header: t('conflict.part'),
      heading: true,
      wraps: true,
      cell: ({ part, from }) => (from === '' ? partName(part) : t('part.from', { part: partName(part), day: from })),
    },
    { id: 'theirs', header: t('conflict.theirs'), align: 'end', cell: (row) => row.theirs ?? '—' },
    { id: 'mine', header: t('conflict.mine'), align: 'end', cell: (row) => row.mine ?? '—' },
  ];
  return (
    <Callout intent="warning" title={t('conflict.title')} role="alert" className="price-conflict">
      <p>{t('conflict.body')}</p>
      <ResourceTable
        label={`${t('conflict.theirs')}, ${t('conflict.mine')}`}
        columns={columns}
        rows={rows}
        rowKey={({ from, part }) => `${from} ${part}`}
        empty={t('conflict.same')}
      />
      <ButtonGroup>
        <Button text={t('conflict.take')} onClick={onTake} />
        <Button text={t('conflict.keep')} onClick={onKeep} />
      </ButtonGroup>
    </Callout>
  );
}
