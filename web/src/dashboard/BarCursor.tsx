import { type KeyboardEvent, useState } from 'react';
import { Link } from 'react-router-dom';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import type { StackedChartProps } from './StackedChart.js';

/** Where a key leads to among `count` places. */
function moved(key: string, index: number, count: number, back: string, forth: string): number {
  if (key === back) return Math.max(0, index - 1);
  return key === forth ? Math.min(count - 1, index + 1) : index;
}

/**
 * The bars of a chart by the keyboard: one link, to the bar that the arrow keys have moved it to. It is seen while it has
 * the focus, so that a chart is one stop of the tab key and not hundreds.
 */
export function BarCursor({
  starts,
  layers,
  clock,
  format,
  linkOf,
}: Pick<StackedChartProps, 'starts' | 'layers' | 'clock' | 'format' | 'linkOf'>) {
  const t = useText(dashboardTexts);
  const [at, setAt] = useState({ layer: 0, piece: Number.POSITIVE_INFINITY });
  // The range moves on with the clock, and what it is split by may change.
  const layer = Math.min(at.layer, layers.length - 1);
  const piece = Math.min(at.piece, starts.length - 1);
  const [share, start] = [layers[layer], starts[piece]];
  if (share === undefined || start === undefined) return null;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
    setAt({
      layer: moved(event.key, layer, layers.length, 'ArrowUp', 'ArrowDown'),
      piece: moved(event.key, piece, starts.length, 'ArrowLeft', 'ArrowRight'),
    });
  };
  return (
    <Link className="bar-cursor" to={linkOf(layer, piece)} onKeyDown={onKeyDown} title={t('history.keys')}>
      <span aria-live="polite">
        {t('history.bar', { name: share.name, time: clock(start), value: format(share.values[piece] ?? 0) })}
      </span>
    </Link>
  );
}
