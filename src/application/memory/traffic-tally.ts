import { durationClasses, percentileOf } from '../../domain/kernel/durations.js';
import type { Sample } from './traffic-samples.js';

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

/** Adds up samples, and can take each out again: the same few operations, however many there are. */
export class TrafficTally {
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
