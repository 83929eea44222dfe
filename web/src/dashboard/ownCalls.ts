import type { OwnLineFragment } from '../generated/dashboard/ownUsage.js';
import { windowSeconds } from './trafficHistory.js';

/* One's own calls of the last quarter of an hour, newest first, and what they come to. */

/** Shown even when they are older than the window. */
export const linesShown = 20;
const mostLines = 5_000;

/** Lines that arrived, oldest first, put before those there are; each once, whatever is delivered again. */
export function withLines(
  lines: readonly OwnLineFragment[],
  arrived: readonly OwnLineFragment[],
  now: number,
): readonly OwnLineFragment[] {
  const known = new Set(lines.slice(0, arrived.length + linesShown).map(({ id }) => id));
  const fresh = arrived.filter(({ id }) => !known.has(id)).reverse();
  const oldest = now - windowSeconds;
  return [...fresh, ...lines].filter(({ createdAt }, at) => at < linesShown || createdAt >= oldest).slice(0, mostLines);
}

export interface Minute {
  /** Unix seconds, when the minute begins. */
  readonly at: number;
  /** null, like quota: part of the minute is not known. */
  readonly requests: number | null;
  readonly quota: number | null;
}

const minuteOf = (at: number): number => at - (at % 60);

/** The fifteen minutes up to the present one, quiet ones included. `completeFrom`: before it, lines are missing. */
export function byMinute(lines: readonly OwnLineFragment[], now: number, completeFrom: number): readonly Minute[] {
  const last = minuteOf(now);
  const sums = new Map<number, { requests: number; quota: number }>();
  for (let at = last - windowSeconds + 60; at <= last; at += 60) sums.set(at, { requests: 0, quota: 0 });
  for (const { createdAt, type, quota } of lines) {
    const sum = sums.get(minuteOf(createdAt));
    if (sum === undefined || type !== 'CONSUME') continue;
    sum.requests++;
    sum.quota += quota;
  }
  return [...sums].map(([at, sum]) => (at < completeFrom ? { at, requests: null, quota: null } : { at, ...sum }));
}
