import { useText } from '../../kit/words/i18n.js';
import { updatesTexts } from './updates.texts.js';
import { type Move, useMoveWords } from './useMoveWords.js';

/** What is seen of a price without unfolding it. */
const shown = 3;

interface PriceMovesProps {
  readonly moves: readonly Move[];
  readonly all?: boolean;
}

/** Old and new amounts, one line each. */
export function PriceMoves({ moves, all = false }: PriceMovesProps) {
  const t = useText(updatesTexts);
  const nameOf = useMoveWords();
  const seen = all ? moves : moves.slice(0, shown);
  return (
    <ul className="price-moves">
      {seen.map(({ name, before, after, from }) => (
        <li key={`${name} ${from}`}>
          {nameOf(name)}{' '}
          <span className="figures">
            {before ?? '—'} → {after ?? '—'}
          </span>
          {from !== null && ` ${t('differences.from', { day: from })}`}
        </li>
      ))}
      {moves.length > seen.length && <li>{t('differences.more', { count: moves.length - seen.length })}</li>}
    </ul>
  );
}
