import { formatPercent } from '../kit/figures.js';
import { growth } from './historyRange.js';

interface GrowthProps {
  readonly now: number | null;
  readonly before: number | null;
}

/** By how much a figure has grown; nothing where there is nothing to compare it with. */
export function Growth({ now, before }: GrowthProps) {
  const grown = now === null || before === null ? null : growth(now, before);
  if (grown === null) return null;
  const sign = grown > 0 ? '+' : grown < 0 ? '−' : '±';
  return <span className="figures">{`${sign}${formatPercent(Math.abs(grown))}`}</span>;
}
