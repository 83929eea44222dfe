import type { OwnLineFragment } from '../generated/dashboard/ownUsage.js';

/* One's own newest calls. */

export const linesShown = 20;

/** Lines that arrived, oldest first, put before those there are; each once, whatever is delivered again. */
export function withLines(
  lines: readonly OwnLineFragment[],
  arrived: readonly OwnLineFragment[],
): readonly OwnLineFragment[] {
  const known = new Set(lines.map(({ id }) => id));
  const fresh = arrived.filter(({ id }) => !known.has(id)).reverse();
  return [...fresh, ...lines].slice(0, linesShown);
}
