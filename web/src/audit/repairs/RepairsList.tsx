import { useMutation, useQuery } from '@apollo/client/react';
import { useMemo } from 'react';
import {
  type PriceRepairShownFragment,
  PriceRepairsDocument,
  UndoPriceRepairDocument,
} from '../../generated/audit/repairs/repairs.js';
import { formatExactly } from '../../kit/figures.js';
import { useConfirm } from '../../kit/form/ConfirmProvider.js';
import { formatQuota } from '../../kit/quota.js';
import { Section } from '../../kit/Section.js';
import { isRoot, useQuotaUnits, useSignedIn } from '../../kit/SessionProvider.js';
import { toaster } from '../../kit/Toasts.js';
import { ResourceTable } from '../../kit/table/ResourceTable.js';
import { useKeysetPages } from '../../kit/table/useKeysetPages.js';
import { useText } from '../../kit/words/i18n.js';
import { chargeDigits } from '../other-prices/DifferenceText.js';
import { RepairDetail } from './RepairDetail.js';
import { repairColumns } from './repairColumns.js';
import { repairsTexts } from './repairs.texts.js';

/** Those of others appear by themselves. */
const everyMs = 15_000;

/** Repairs that were ordered, the newest first, and how far they are. */
export function RepairsList() {
  const t = useText(repairsTexts);
  const root = isRoot(useSignedIn());
  const { after, size, paging } = useKeysetPages();
  const before = /^\d{1,15}$/.test(after ?? '') ? Number(after) : null;
  const result = useQuery(PriceRepairsDocument, {
    variables: { before, first: size },
    fetchPolicy: 'cache-and-network',
    pollInterval: before === null ? everyMs : 0,
    skipPollAttempt: () => document.hidden,
  });
  const undo = useUndo();
  const columns = useMemo(() => repairColumns(t, root ? undo : null), [t, root, undo]);
  const page = result.data?.priceRepairs;
  const last = page?.items.at(-1);
  return (
    <Section title={t('list')}>
      <ResourceTable
        label={t('table')}
        columnsKey="price-repairs-table-columns"
        columns={columns}
        rows={page?.items}
        rowKey={({ id }) => id}
        detail={(repair) => <RepairDetail repair={repair} />}
        result={result}
        empty={t('empty')}
        paging={paging(
          page && { hasNextPage: page.hasMore, endCursor: last === undefined ? null : String(last.position) },
        )}
      />
    </Section>
  );
}

/** Orders the undo of a repair, once its sums were confirmed. */
function useUndo(): (repair: PriceRepairShownFragment) => void {
  const t = useText(repairsTexts);
  const confirm = useConfirm();
  const units = useQuotaUnits();
  const [order] = useMutation(UndoPriceRepairDocument);
  return useMemo(() => {
    const work = async ({ id, posted }: PriceRepairShownFragment): Promise<void> => {
      const body = t('undo.body', {
        calls: formatExactly(posted.calls),
        given: formatQuota(posted.given, units, chargeDigits),
        taken: formatQuota(posted.taken, units, chargeDigits),
      });
      if (!(await confirm({ title: t('undo.title'), body, confirm: t('undo.confirm') }))) return;
      await order({ variables: { id } });
      toaster.success(t('undo.done'));
    };
    // Said where all orders fail.
    return (repair) => void work(repair).catch(() => undefined);
  }, [t, confirm, units, order]);
}
