import type { FailedAttempt } from '../../domain/call/call.js';
import { completionTokens, promptTokens } from '../../domain/call/usage.js';
import type { Recorded } from '../../domain/events/events.js';
import { durationClasses, durationClassOf, percentileOf } from '../../domain/kernel/durations.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Refusal } from '../../domain/kernel/refusal.js';
import type { Clock } from '../ports/storage-ports.js';
import { type RefusedFigures, RefusedTraffic } from './refused-traffic.js';
import type { TailConsumer } from './tail.js';

/*
 * The last minute of traffic, in total and by channel and model, from the tail: every node sees all calls. Adding a call
 * and forgetting one cost the same few operations, so a busy gateway pays no more per call than an idle one.
 *
 * In total and by model a call counts once. A channel counts how often it was asked: one that failed has failed, whoever
 * answered the call after it.
 */

export interface TrafficFigures {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly quotaPerMinute: number;
  /** 0 to 1; a failed call is one that was reserved and could not be served. */
  readonly errorRate: number;
  /** Milliseconds, to about 5 %; null without a sample. */
  readonly latencyP50Ms: number | null;
  readonly latencyP95Ms: number | null;
  readonly firstTokenP50Ms: number | null;
  readonly firstTokenP95Ms: number | null;
}

export interface TrafficSnapshot {
  /** Unix milliseconds. */
  readonly at: number;
  readonly total: TrafficFigures;
  /** Calls that were refused before they were reserved: in none of the other figures. Most frequent first. */
  readonly refused: readonly RefusedFigures[];
  readonly channels: readonly (TrafficFigures & { readonly channelId: ChannelId })[];
  readonly models: readonly (TrafficFigures & { readonly model: string })[];
}

const windowSeconds = 60;

interface Sample {
  /** An attempt that failed counts for its channel alone. */
  readonly of: 'call' | 'attempt';
  readonly second: number;
  /** 1; 0 for what is told later of a call that has been counted. */
  readonly requests: 0 | 1;
  readonly channelId: ChannelId | null;
  readonly model: string;
  readonly tokens: number;
  readonly quota: number;
  readonly failed: boolean;
  readonly latency: number | null;
  readonly firstToken: number | null;
}

class Tally {
  private samples = 0;
  private requests = 0;
  private failures = 0;
  private tokens = 0;
  private quota = 0;
  private readonly latency = new Uint32Array(durationClasses);
  private readonly firstToken = new Uint32Array(durationClasses);

  get empty(): boolean {
    return this.samples === 0;
  }

  /** `sign` 1 counts the sample, -1 forgets it. */
  count(sample: Sample, sign: 1 | -1): void {
    this.samples += sign;
    this.requests += sign * sample.requests;
    this.tokens += sign * sample.tokens;
    this.quota += sign * sample.quota;
    if (sample.failed) this.failures += sign;
    if (sample.latency !== null) bump(this.latency, sample.latency, sign);
    if (sample.firstToken !== null) bump(this.firstToken, sample.firstToken, sign);
  }

  figures(): TrafficFigures {
    return {
      requestsPerMinute: this.requests,
      tokensPerMinute: this.tokens,
      quotaPerMinute: this.quota,
      errorRate: this.requests === 0 ? 0 : Math.min(this.failures / this.requests, 1),
      latencyP50Ms: percentileOf(this.latency, 0.5),
      latencyP95Ms: percentileOf(this.latency, 0.95),
      firstTokenP50Ms: percentileOf(this.firstToken, 0.5),
      firstTokenP95Ms: percentileOf(this.firstToken, 0.95),
    };
  }
}

const bump = (counts: Uint32Array, index: number, by: number): void => {
  counts[index] = (counts[index] ?? 0) + by;
};

const attemptOf = (second: number, { channelId, durationMs }: FailedAttempt): Sample => ({
  of: 'attempt',
  second,
  requests: 1,
  channelId,
  model: '',
  tokens: 0,
  quota: 0,
  failed: true,
  latency: durationClassOf(durationMs),
  firstToken: null,
});

const noneFailed: readonly FailedAttempt[] = [];

/** Of an outcome that tells anything of whom it asked. */
const failedAttemptsOf = ({ event }: Recorded): readonly FailedAttempt[] =>
  (event.type === 'CallSettled' || event.type === 'CallReleased' ? event.failedAttempts : undefined) ?? noneFailed;

function sampleOf({ event }: Recorded, second: number): Sample | null {
  switch (event.type) {
    case 'CallSettled':
      return {
        of: 'call',
        second,
        requests: 1,
        channelId: event.channelId,
        model: event.facts.model,
        tokens: promptTokens(event.usage) + completionTokens(event.usage),
        quota: event.charged,
        // An upstream that tells what cannot be is out of order, though its answer was of use.
        failed: event.outcome === 'upstream-broke' || event.usageSource === 'disbelieved',
        latency: durationClassOf(event.useTimeMs),
        firstToken: event.firstTokenMs === null ? null : durationClassOf(event.firstTokenMs),
      };
    case 'CallReleased':
      // A caller that left and a node that died say nothing about the upstream.
      if (event.reason === 'caller-left' || event.reason === 'recovered') return null;
      return {
        of: 'call',
        second,
        requests: 1,
        // Those whose failures are told count by them.
        channelId: event.failedAttempts === undefined ? (event.attempts.at(-1) ?? null) : null,
        model: event.facts.model,
        tokens: 0,
        quota: 0,
        failed: true,
        latency: durationClassOf(event.useTimeMs),
        firstToken: null,
      };
    case 'CallRefunded':
      // The call itself has been counted with its settlement.
      return {
        of: 'call',
        second,
        requests: 0,
        channelId: event.settlement.channelId,
        model: event.facts.model,
        tokens: 0,
        quota: -event.settlement.charged,
        failed: true,
        latency: null,
        firstToken: null,
      };
    default:
      return null;
  }
}

export interface LiveTraffic extends TailConsumer {
  refused(refusal: Refusal, count: number): void;
  snapshot(): TrafficSnapshot;
  /** The same at most a quarter of a second old, for many who look again and again. */
  recentSnapshot(): TrafficSnapshot;
}

const recentMs = 250;

export function liveTraffic(clock: Clock): LiveTraffic {
  const total = new Tally();
  const refused = new RefusedTraffic(clock);
  const channels = new Map<ChannelId, Tally>();
  const models = new Map<string, Tally>();
  let samples: Sample[] = [];
  let forgotten = 0;

  const countIn = <Key>(tallies: Map<Key, Tally>, key: Key, sample: Sample, sign: 1 | -1): void => {
    let tally = tallies.get(key);
    if (tally === undefined) {
      tally = new Tally();
      tallies.set(key, tally);
    }
    tally.count(sample, sign);
    if (tally.empty) tallies.delete(key);
  };

  const count = (sample: Sample, sign: 1 | -1): void => {
    if (sample.channelId !== null) countIn(channels, sample.channelId, sample, sign);
    if (sample.of === 'attempt') return;
    total.count(sample, sign);
    countIn(models, sample.model, sample, sign);
  };

  const add = (sample: Sample): void => {
    count(sample, 1);
    samples.push(sample);
  };

  const forget = (oldestSecond: number): void => {
    for (;;) {
      const sample = samples[forgotten];
      if (sample === undefined || sample.second >= oldestSecond) break;
      count(sample, -1);
      forgotten++;
    }
    if (forgotten > 10_000 && forgotten * 2 > samples.length) {
      samples = samples.slice(forgotten);
      forgotten = 0;
    }
  };

  const present = (): number => Math.floor(clock.now() / 1000);
  const oldestAt = (second: number): number => second - windowSeconds + 1;

  const snapshot = (): TrafficSnapshot => {
    forget(oldestAt(present()));
    return {
      at: clock.now(),
      total: total.figures(),
      refused: refused.figures(),
      channels: [...channels].map(([channelId, tally]) => ({ channelId, ...tally.figures() })),
      models: [...models].map(([model, tally]) => ({ model, ...tally.figures() })),
    };
  };
  let recent: TrafficSnapshot | null = null;

  return {
    take(batch) {
      const now = present();
      const from = oldestAt(now);
      for (const recorded of batch) {
        // What another node's clock dates later counts as of now, or it would outlive the window.
        const second = Math.min(Math.floor(recorded.at / 1000), now);
        if (second < from) continue;
        for (const failed of failedAttemptsOf(recorded)) add(attemptOf(second, failed));
        const sample = sampleOf(recorded, second);
        if (sample !== null) add(sample);
      }
      forget(from);
    },
    refused: (refusal, count) => refused.count(refusal, count),
    snapshot,
    recentSnapshot() {
      // A clock that was set back makes nothing older than it is.
      if (recent === null || Math.abs(clock.now() - recent.at) >= recentMs) recent = snapshot();
      return recent;
    },
  };
}
