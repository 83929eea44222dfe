/* How counts, shares and durations are written, wherever they stand. Units that are the same in every language. */

/** What stands for a figure that there is none of. */
const noFigure = '—';

const steps = [
  { from: 1e9, unit: 1e9, letter: 'B' },
  { from: 1e6, unit: 1e6, letter: 'M' },
  { from: 1e4, unit: 1e3, letter: 'k' },
] as const;

/** All digits, grouped by thousands. */
export const formatExactly = (value: number): string => value.toLocaleString('en-US');

/** 12345 → 12.3k, 1200000 → 1.2M. Below ten thousand all digits. */
export function abbreviate(value: number): string {
  const size = Math.abs(value);
  // 999,950 would read 1000.0k: what rounds up to the next step belongs there.
  const step = steps.find(({ from, unit, letter }) => size >= (letter === 'k' ? from : from - unit / 20_000));
  return step === undefined ? formatExactly(value) : `${(value / step.unit).toFixed(1)}${step.letter}`;
}

/** How much there is in a minute, on an average: with decimals where it is little. */
export const formatRate = (value: number): string => abbreviate(Number(value.toFixed(value < 10 ? 2 : 0)));

/** 0 to 1 → percent, with a decimal near both ends, where it matters most. Nearly nothing is not 0%, nearly all not 100%. */
export function formatPercent(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.05) return '<0.1%';
  if (percent >= 99.95 && percent < 100) return '>99.9%';
  const isNearEnd = percent < 10 || (percent > 90 && percent < 100);
  return `${percent.toFixed(isNearEnd ? 1 : 0).replace(/\.0$/, '')}%`;
}

/** Milliseconds as they are read, in three digits: 340 ms, 1.50 s, 15.0 s, 150 s. null: there is no sample. */
export function formatDuration(milliseconds: number | null): string {
  if (milliseconds === null) return noFigure;
  // What would round to 1000 ms, 10.00 s or 100.0 s belongs to the next step.
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  return `${seconds.toFixed(seconds < 9.995 ? 2 : seconds < 99.95 ? 1 : 0)} s`;
}

/** Two of them beside each other; one dash where there is neither. */
export const formatDurations = (p50: number | null, p95: number | null): string =>
  p50 === null && p95 === null ? noFigure : `${formatDuration(p50)} / ${formatDuration(p95)}`;

/** How a figure is written beside an axis: decimals that say nothing would only take room there. $9.0000 → $9. */
export const asTick = (figure: string): string =>
  figure.replace(/\.(\d*?)0+(?=\D|$)/, (_, digits) => digits && `.${digits}`);
