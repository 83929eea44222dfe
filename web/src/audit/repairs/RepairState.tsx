import { useQuery } from '@apollo/client/react';
import type { Intent } from '@blueprintjs/core';
import { type PriceRepairShownFragment, PriceRepairStateDocument } from '../../generated/audit/repairs/repairs.js';
import { formatExactly } from '../../kit/figures.js';
import { StatusTag } from '../../kit/StatusTag.js';
import { useText } from '../../kit/words/i18n.js';
import { repairsTexts } from './repairs.texts.js';

type Repair = PriceRepairShownFragment;

const everyMs = 1_000;

const intents: Readonly<Record<Repair['state'], Intent>> = {
  POSTING: 'primary',
  POSTED: 'success',
  UNDOING: 'primary',
  UNDONE: 'none',
};

/** How far a repair is; asked for again and again while it goes on. */
export function RepairState({ repair }: { readonly repair: Repair }) {
  const t = useText(repairsTexts);
  const { state, isAbandoned, planned, posted, undone, changed, undoChanged } = repair;
  const isUndone = state === 'UNDOING';
  const [done, all] = isUndone ? [undone.calls + undoChanged, posted.calls] : [posted.calls + changed, planned.calls];
  return (
    <>
      <StatusTag intent={isAbandoned ? 'warning' : intents[state]} {...(isAbandoned && { reason: t('abandoned') })}>
        {t(`state.${state}`)}
      </StatusTag>
      {(state === 'POSTING' || isUndone) && (
        <>
          {' '}
          <span className="figures">{t('progress', { done: formatExactly(done), all: formatExactly(all) })}</span>
          <KeptUpToDate id={repair.id} />
        </>
      )}
    </>
  );
}

/** What it asks for is known under the id of the repair, wherever that is shown. */
function KeptUpToDate({ id }: { readonly id: string }) {
  useQuery(PriceRepairStateDocument, {
    variables: { id },
    fetchPolicy: 'cache-and-network',
    pollInterval: everyMs,
    skipPollAttempt: () => document.hidden,
  });
  return null;
}
