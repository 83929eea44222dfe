import { drawn, type Random } from '../random.js';
import { dayMs, hourMs } from './hours.js';

/* What goes wrong with the channels of the demo: now and then by itself, and for some hours on some days. */

interface Fault {
  /** What upstream answered; null: nothing in time. */
  readonly status: number | null;
  readonly code: string;
  /** The error that the caller gets when nobody else answers. */
  readonly callerStatus: number;
  /** How long it takes at the median, in milliseconds. */
  readonly tookMs: number;
}

const limited: Fault = { status: 429, code: 'rate_limit_exceeded', callerStatus: 429, tookMs: 160 };
const broken: Fault = { status: 500, code: 'server_error', callerStatus: 500, tookMs: 900 };
const overloaded: Fault = { status: 503, code: 'overloaded', callerStatus: 503, tookMs: 450 };
const filtered: Fault = { status: 400, code: 'content_filter', callerStatus: 400, tookMs: 600 };
/** Upstream may have done the work and charge for it: nobody knows. */
export const unanswered: Fault = { status: null, code: 'do_request_failed', callerStatus: 500, tookMs: 30_000 };
const keyRefused: Fault = { status: 401, code: 'invalid_api_key', callerStatus: 401, tookMs: 140 };

interface Manners {
  /** At the median, in milliseconds. */
  readonly firstTokenMs: number;
  readonly tokensPerSecond: number;
  /** How many attempts fail on an ordinary day; 0 to 1. */
  readonly failing: number;
}

const usualManners: Manners = { firstTokenMs: 450, tokensPerSecond: 60, failing: 0.01 };

const manners: Readonly<Record<string, Manners>> = {
  east: { firstTokenMs: 380, tokensPerSecond: 75, failing: 0.006 },
  west: { firstTokenMs: 620, tokensPerSecond: 48, failing: 0.015 },
  anthropic: { firstTokenMs: 760, tokensPerSecond: 62, failing: 0.012 },
  flaky: { firstTokenMs: 240, tokensPerSecond: 90, failing: 0.12 },
};

export const mannersOf = (channel: string): Manners => manners[channel] ?? usualManners;

const everyday = [
  { share: 4, fault: limited },
  { share: 3, fault: broken },
  { share: 2, fault: overloaded },
  { share: 1.5, fault: filtered },
  { share: 1, fault: unanswered },
];

interface Incident {
  readonly channel: string;
  /** Milliseconds since the past began. */
  readonly from: number;
  readonly to: number;
  /** How many attempts fail meanwhile; 0 to 1. */
  readonly failing: number;
  readonly fault: Fault;
}

const incident = (channel: string, day: number, hour: number, hours: number, failing: number, fault: Fault) => {
  const from = day * dayMs + hour * hourMs;
  return { channel, from, to: from + hours * hourMs, failing, fault };
};

/** When the flaky channel goes out, and for how long. */
interface Outage {
  /** Milliseconds since the past began. */
  readonly at: number;
  readonly forMs: number;
}

const outage = (day: number, hour: number, minutes: number): Outage => ({
  at: day * dayMs + hour * hourMs,
  forMs: minutes * 60_000,
});

export const outages: readonly Outage[] = [
  outage(2, 14.2, 35),
  outage(6, 9.7, 90),
  outage(7, 16.1, 20),
  outage(12, 13.4, 200),
  outage(19, 10.9, 55),
  outage(24, 15.3, 130),
  outage(28, 12.6, 40),
  // Over before the last day begins, whatever hour of it the demo is started in.
  outage(28, 21.5, 65),
];

/** Until a call has found out that its key is refused, all of them do. */
const unnoticedMs = 8 * 60_000;

const incidents: readonly Incident[] = [
  // More than a weekend, whatever day the past begins on.
  incident('west', 8, 9, 60, 0.3, limited),
  incident('east', 15, 9, 1.5, 0.6, overloaded),
  incident('anthropic', 21, 14, 1, 0.45, overloaded),
  incident('east', 22, 1, 4, 0.7, broken),
  incident('west', 27, 17, 2.5, 0.3, unanswered),
  ...outages.map(({ at }) => ({
    ...{ channel: 'flaky', from: at - unnoticedMs, to: at },
    ...{ failing: 1, fault: keyRefused },
  })),
];

/** How an attempt goes that begins so many milliseconds after the past; null: well. */
export function demoFaultOf(channel: string, sinceBegin: number, random: Random): Fault | null {
  const chance = random();
  for (const { channel: of, from, to, failing, fault } of incidents)
    if (of === channel && sinceBegin >= from && sinceBegin < to && chance < failing) return fault;
  return chance < mannersOf(channel).failing ? drawn(everyday, random).fault : null;
}
