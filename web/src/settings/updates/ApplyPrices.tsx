import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import {
  ApplyAllPricesDocument,
  ApplyPricesDocument,
  type PriceDifferencesQueryVariables,
} from '../../generated/settings/updates/updates.js';
import { useConfirm } from '../../kit/form/ConfirmProvider.js';
import { toaster } from '../../kit/Toasts.js';
import { useText } from '../../kit/words/i18n.js';
import type { DifferencesSeen } from './PriceDifferences.js';
import { updatesTexts } from './updates.texts.js';

interface ApplyPricesProps {
  readonly source: string;
  readonly filter: PriceDifferencesQueryVariables['filter'];
  readonly seen: DifferencesSeen;
  readonly selected: ReadonlySet<string>;
  /** Also after an order that was refused: something has changed. */
  readonly onApplied: () => Promise<void>;
}

/** Applies what is selected, or all that the filters find, once it was said what that means. */
export function ApplyPrices({ source, filter, seen, selected, onApplied }: ApplyPricesProps) {
  const t = useText(updatesTexts);
  const confirm = useConfirm();
  const [applyPicked, picking] = useMutation(ApplyPricesDocument);
  const [applyAll, all] = useMutation(ApplyAllPricesDocument);
  const { reading, seenAt, applicable, belowPurchase, items } = seen;
  // Nobody confirms what the question has not named.
  const orderWith = (below: number) => ({ source, reading, seenAt, belowPurchase: below > 0 });
  const picked = [...selected];
  const pickedWith = (caution: 'BEYOND_BOUNDS' | 'BELOW_PURCHASE'): number =>
    items.filter(({ model, cautions }) => selected.has(model) && cautions.includes(caution)).length;
  const noteOf = (beyond: number, below: number): string =>
    [
      ...(beyond === 0 ? [] : [t('apply.beyond', { count: beyond })]),
      ...(below === 0 ? [] : [t('apply.below', { count: below })]),
    ].join(' ');

  const ask = (count: number, body: 'apply.body' | 'apply.bodyAll', note: string): Promise<boolean> =>
    confirm({
      title: t('apply.title', { count }),
      body: `${t(body, { count, source })} ${note}`.trim(),
      confirm: t('apply.confirm'),
      intent: 'primary',
    });
  const finish = async (applied: number | undefined): Promise<void> => {
    if (applied !== undefined) toaster.success(t('apply.done', { count: applied }));
  };
  const work = async (order: () => Promise<void>): Promise<void> => {
    // Said where all mutations fail.
    await order().catch(() => undefined);
    await onApplied().catch(() => undefined);
  };

  const submitPicked = async (): Promise<void> => {
    const below = pickedWith('BELOW_PURCHASE');
    const note = noteOf(pickedWith('BEYOND_BOUNDS'), below);
    if (!(await ask(picked.length, 'apply.body', note))) return;
    await work(async () => {
      const { data } = await applyPicked({ variables: { seen: orderWith(below), models: picked } });
      await finish(data?.applyPrices.applied);
    });
  };
  const submitAll = async (): Promise<void> => {
    if (!(await ask(applicable, 'apply.bodyAll', noteOf(0, belowPurchase)))) return;
    await work(async () => {
      const { data } = await applyAll({ variables: { seen: orderWith(belowPurchase), filter, count: applicable } });
      await finish(data?.applyAllPrices.applied);
    });
  };

  return (
    <>
      <Button
        intent="primary"
        text={t('apply', { count: picked.length })}
        disabled={picked.length === 0}
        loading={picking.loading}
        onClick={() => void submitPicked()}
      />
      <Button
        text={t('applyAll', { count: applicable })}
        disabled={applicable === 0}
        loading={all.loading}
        onClick={() => void submitAll()}
      />
    </>
  );
}
