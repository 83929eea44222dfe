import type { PriceRepairShownFragment, RepairSumsShownFragment } from '../../generated/audit/repairs/repairs.js';
import { Fact, Facts } from '../../kit/Facts.js';
import { formatExactly } from '../../kit/figures.js';
import { formatQuota } from '../../kit/quota.js';
import { useQuotaUnits } from '../../kit/SessionProvider.js';
import { Time } from '../../kit/Time.js';
import { useText } from '../../kit/words/i18n.js';
import { chargeDigits } from '../other-prices/DifferenceText.js';
import { originText } from './repairColumns.js';
import { filters } from './repairDraft.js';
import { repairsTexts } from './repairs.texts.js';

const moments = ['endedAt', 'undoAt', 'undoneAt'] as const;
const leftOut = ['changed', 'undoChanged'] as const;

/** All that was ordered, and what became of it. */
export function RepairDetail({ repair }: { readonly repair: PriceRepairShownFragment }) {
  const t = useText(repairsTexts);
  const units = useQuotaUnits();
  const sums = ({ calls, given, taken }: RepairSumsShownFragment): string =>
    t('sums', {
      calls: formatExactly(calls),
      given: formatQuota(given, units, chargeDigits),
      taken: formatQuota(taken, units, chargeDigits),
    });
  return (
    <Facts>
      <Fact name={t('id')}>
        <code>{repair.id}</code>
      </Fact>
      <Fact name={t('event')}>
        <span className="figures">{repair.position}</span>
      </Fact>
      <Fact name={t('column.by')}>{repair.by?.username}</Fact>
      <Fact name={t('column.period')}>
        <Time at={repair.from} /> – <Time at={repair.to} />
      </Fact>
      {filters.map((name) => (
        <Fact key={name} name={t(name)}>
          {repair[name]}
        </Fact>
      ))}
      <Fact name={t('column.right')}>{originText(t, repair)}</Fact>
      <Fact name={t('charging')}>{t(`charging.${repair.charge}`)}</Fact>
      <Fact name={t('planned')}>{sums(repair.planned)}</Fact>
      <Fact name={t('posted')}>{sums(repair.posted)}</Fact>
      <Fact name={t('undone')}>{repair.undoAt !== null && sums(repair.undone)}</Fact>
      {leftOut.map((name) => (
        <Fact key={name} name={t(name)}>
          {repair[name] > 0 && formatExactly(repair[name])}
        </Fact>
      ))}
      {moments.map((name) => (
        <Fact key={name} name={t(name)}>
          {repair[name] !== null && <Time at={repair[name]} />}
        </Fact>
      ))}
    </Facts>
  );
}
