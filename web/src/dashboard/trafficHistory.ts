import type { TotalFiguresFragment } from '../generated/dashboard/traffic.js';

/* The last quarter of an hour as the charts show it: a point every few seconds, however often figures arrive. */

export const windowSeconds = 15 * 60;
/** 180 points per line are drawn in a blink; 900 would not be, every second. */
const stepSeconds = 5;
/** Missing for so long, the line is broken rather than drawn through what nobody saw. */
const gapSeconds = 3 * stepSeconds;

/** `at`: Unix seconds. Figures are null where a line is broken. */
export type TrafficPoint = { readonly at: number } & {
  readonly [Figure in keyof TotalFiguresFragment]: TotalFiguresFragment[Figure] | null;
};
export type TrafficFigure = keyof TotalFiguresFragment;

const stepOf = (at: number): number => Math.floor(at / stepSeconds);

const broken = (at: number): TrafficPoint => ({
  at,
  requestsPerMinute: null,
  tokensPerMinute: null,
  quotaPerMinute: null,
  errorRate: null,
  latencyP50Ms: null,
  latencyP95Ms: null,
  firstTokenP50Ms: null,
  firstTokenP95Ms: null,
});

/** The newest figures of a step stand for it; what is older than the window is forgotten. */
export function remembering(history: readonly TrafficPoint[], point: TrafficPoint): readonly TrafficPoint[] {
  const kept = history.filter(({ at }) => at > point.at - windowSeconds && stepOf(at) < stepOf(point.at));
  const last = kept.at(-1);
  const gap = last !== undefined && last.requestsPerMinute !== null && point.at - last.at > gapSeconds;
  return gap ? [...kept, broken(last.at + stepSeconds), point] : [...kept, point];
}

const isPoint = (value: unknown): value is TrafficPoint =>
  typeof value === 'object' && value !== null && 'at' in value && typeof value.at === 'number';

/** What `JSON.stringify` made of a history; anything else is no history. */
export function historyFrom(text: string | null): readonly TrafficPoint[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) && value.every(isPoint) ? value : [];
  } catch {
    return [];
  }
}
