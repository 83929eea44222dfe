import type { LastMinutesQuery } from '../generated/dashboard/history.js';
import type { TotalFiguresFragment } from '../generated/dashboard/traffic.js';

/* The last hour as the charts show it: minutes that the server knows, then a point every few seconds. */

export const windowSeconds = 60 * 60;
/** 180 points per line are drawn in a blink; 3,600 would not be, every second. */
const stepSeconds = 20;
/** Missing for so long, the line is broken rather than drawn through what nobody saw. */
const gapSeconds = 2 * 60;
const minute = 60;

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

export type Piece = LastMinutesQuery['usageHistory']['pieces'][number];

/** The last hour, in whole minutes and the present one. `now`: Unix seconds. */
export function lastHour(now: number): { readonly from: number; readonly to: number } {
  const to = (Math.floor(now / minute) + 1) * minute;
  return { from: to - windowSeconds, to };
}

/** What the server counted before `until` (Unix seconds): the figures of each minute, at its end. */
export const minutesBefore = (pieces: readonly Piece[], until: number): readonly TrafficPoint[] =>
  pieces.flatMap(({ start, requests, errors, quota, promptTokens, completionTokens, latency, firstToken }) => {
    const at = start + minute;
    if (at > until) return [];
    const calls = requests + errors;
    return {
      at,
      requestsPerMinute: calls,
      tokensPerMinute: promptTokens + completionTokens,
      quotaPerMinute: quota,
      errorRate: calls === 0 ? 0 : errors / calls,
      latencyP50Ms: latency.p50,
      latencyP95Ms: latency.p95,
      firstTokenP50Ms: firstToken.p50,
      firstTokenP95Ms: firstToken.p95,
    };
  });
