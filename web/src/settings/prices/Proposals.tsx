import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { useState } from 'react';
import { ChangeModelPricesDocument, type ProposalFragment } from '../../generated/settings/prices/prices.js';
import { useConfirm } from '../../kit/form/ConfirmProvider.js';
import { toaster } from '../../kit/Toasts.js';
import type { Column } from '../../kit/table/columns.js';
import { ResourceTable } from '../../kit/table/ResourceTable.js';
import { type PageSize, pageSizes } from '../../kit/table/usePageSize.js';
import { useText } from '../../kit/words/i18n.js';
import { pricesTexts } from './prices.texts.js';
import { usePartName } from './priceWords.js';

interface ProposalsProps {
  readonly label: string;
  readonly proposals: readonly ProposalFragment[];
  readonly kind: 'EDITOR' | 'IMPORT' | 'REVERT';
  /** REVERT: the change that is taken back. */
  readonly revertOf?: number;
  readonly onApplied: () => void;
}

const isEffective = ({ differences, notEdited }: ProposalFragment): boolean =>
  notEdited === null && differences.length > 0;

const becomesFree = ({ differences }: ProposalFragment): boolean =>
  differences.some(({ part, after }) => after === '$0' && (part === 'call' || part === 'tokens.input'));

/** What would change, model by model; all of it, or what is ticked, is applied in one order. */
export function Proposals({ label, proposals, kind, revertOf, onApplied }: ProposalsProps) {
  const t = useText(pricesTexts);
  const effective = proposals.filter(isEffective);
  const [selected, setSelected] = useState<ReadonlySet<string>>(() => new Set(effective.map(({ model }) => model)));
  const [page, setPage] = useState(1);
  const [size, setSize] = useState<PageSize>(pageSizes[0]);
  const confirm = useConfirm();
  const [change, { loading }] = useMutation(ChangeModelPricesDocument);
  const chosen = effective.filter(({ model }) => selected.has(model));

  const apply = async (): Promise<void> => {
    const free = chosen.filter(becomesFree).length;
    const question = { title: t('free.title'), body: t('free.body', { models: free }), confirm: t('free.confirm') };
    if (free > 0 && !(await confirm({ ...question, intent: 'warning' }))) return;
    const changes = chosen.map(({ model, periods, seenAt }) => ({ model, periods, seenAt }));
    await change({ variables: { changes, kind, revertOf: revertOf ?? null } });
    toaster.success(t('proposal.applied', { count: chosen.length }));
    onApplied();
  };
  const columns: readonly Column<ProposalFragment>[] = [
    { id: 'model', header: t('proposal.model'), heading: true, cell: ({ model }) => model },
    {
      id: 'changes',
      header: t('proposal.changes'),
      wraps: true,
      cell: (proposal) => <ProposedChanges proposal={proposal} />,
    },
  ];
  return (
    <>
      <p className="price-note">{t('proposal.note', { models: effective.length })}</p>
      <ResourceTable
        label={label}
        columns={columns}
        rows={proposals.slice((page - 1) * size, page * size)}
        rowKey={({ model }) => model}
        selection={{ selected, onChange: setSelected, keyOf: ({ model }) => model, nameOf: ({ model }) => model }}
        paging={{
          kind: 'numbered',
          page,
          total: proposals.length,
          size,
          onPage: setPage,
          onSize: (wanted) => {
            setSize(wanted);
            setPage(1);
          },
        }}
      />
      <Button
        intent="primary"
        className="price-apply"
        text={t('proposal.apply', { count: chosen.length })}
        disabled={chosen.length === 0}
        loading={loading}
        // That it was refused is said where all mutations fail.
        onClick={() => void apply().catch(() => undefined)}
      />
    </>
  );
}

function ProposedChanges({ proposal }: { readonly proposal: ProposalFragment }) {
  const t = useText(pricesTexts);
  const { differences, notEdited, periods } = proposal;
  if (notEdited !== null) return <span className="cell-second">{t(`proposal.${notEdited}`)}</span>;
  if (differences.length === 0) return <span className="cell-second">{t('proposal.none')}</span>;
  return (
    <>
      {(periods ?? null) === null && <div className="cell-second">{t('proposal.removed')}</div>}
      <Differences differences={differences} />
    </>
  );
}

const shown = 12;

/** Part by part, from what to what. */
export function Differences({ differences }: { readonly differences: ProposalFragment['differences'] }) {
  const t = useText(pricesTexts);
  const partName = usePartName();
  return (
    <ul className="price-differences">
      {differences.slice(0, shown).map(({ from, part, before, after }) => (
        <li key={`${from} ${part}`}>
          {from === null ? partName(part) : t('part.from', { part: partName(part), day: from })}
          {': '}
          <span className="figures">
            {before ?? '—'} → {after ?? '—'}
          </span>
        </li>
      ))}
      {differences.length > shown && <li>{t('proposal.more', { count: differences.length - shown })}</li>}
    </ul>
  );
}
