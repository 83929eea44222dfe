import type { Recorded } from '../../domain/events/events.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Refusal } from '../../domain/kernel/refusal.js';
import type { Clock } from '../ports/storage-ports.js';
import { type RefusedFigures, RefusedTraffic } from './refused-traffic.js';
import type { TailConsumer } from './tail.js';
import { attemptOf, failedAttemptsOf, type Sample, sampleOf } from './traffic-samples.js';
import { type TrafficFigures, TrafficTally } from './traffic-tally.js';

/*
 * The last minute of traffic, in total and by channel and model. Adding a call and forgetting one cost the same few
 * operations. In total and by model a call counts once; a channel counts each attempt, failed ones included, whichever
 * channel answered in the end.
 */

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

export interface LiveTraffic extends TailConsumer {
  refused(refusal: Refusal, count: number): void;
  snapshot(): TrafficSnapshot;
  /** The same at most a quarter of a second old, for many who look again and again. */
  recentSnapshot(): TrafficSnapshot;
}

const recentMs = 250;

/** Drops what is forgotten from the list at the latest when it is so much, and more than half of it. */
const minForgotten = 10_000;

/** The samples of the last minute, added up. */
class TrafficWindow {
  private readonly total = new TrafficTally();
  private readonly channels = new Map<ChannelId, TrafficTally>();
  private readonly models = new Map<string, TrafficTally>();
  private samples: Sample[] = [];
  private forgotten = 0;

  add(sample: Sample): void {
    this.count(sample, 1);
    this.samples.push(sample);
  }

  forgetBefore(second: number): void {
    for (;;) {
      const sample = this.samples[this.forgotten];
      if (sample === undefined || sample.second >= second) break;
      this.count(sample, -1);
      this.forgotten++;
    }
    if (this.forgotten > minForgotten && this.forgotten * 2 > this.samples.length) {
      this.samples = this.samples.slice(this.forgotten);
      this.forgotten = 0;
    }
  }

  figures(): Pick<TrafficSnapshot, 'total' | 'channels' | 'models'> {
    return {
      total: this.total.figures(),
      channels: [...this.channels].map(([channelId, tally]) => ({ channelId, ...tally.figures() })),
      models: [...this.models].map(([model, tally]) => ({ model, ...tally.figures() })),
    };
  }

  private count(sample: Sample, sign: 1 | -1): void {
    if (sample.channelId !== null) countIn(this.channels, sample.channelId, sample, sign);
    if (sample.of === 'attempt') return;
    this.total.count(sample, sign);
    countIn(this.models, sample.model, sample, sign);
  }
}

function countIn<Key>(tallies: Map<Key, TrafficTally>, key: Key, sample: Sample, sign: 1 | -1): void {
  let tally = tallies.get(key);
  if (tally === undefined) {
    tally = new TrafficTally();
    tallies.set(key, tally);
  }
  tally.count(sample, sign);
  if (tally.empty) tallies.delete(key);
}

const oldestAt = (second: number): number => second - windowSeconds + 1;

function takeBatch(window: TrafficWindow, batch: readonly Recorded[], now: number): void {
  const from = oldestAt(now);
  for (const recorded of batch) {
    // What another node's clock dates later counts as of now, or it would outlive the window.
    const second = Math.min(Math.floor(recorded.at / 1000), now);
    if (second < from) continue;
    for (const failed of failedAttemptsOf(recorded)) window.add(attemptOf(second, failed));
    const sample = sampleOf(recorded, second);
    if (sample !== null) window.add(sample);
  }
  window.forgetBefore(from);
}

export function liveTraffic(clock: Clock): LiveTraffic {
  const window = new TrafficWindow();
  const refused = new RefusedTraffic(clock);
  const present = (): number => Math.floor(clock.now() / 1000);
  let recent: TrafficSnapshot | null = null;

  const snapshot = (): TrafficSnapshot => {
    window.forgetBefore(oldestAt(present()));
    return { at: clock.now(), refused: refused.figures(), ...window.figures() };
  };

  return {
    take: (batch) => takeBatch(window, batch, present()),
    refused: (refusal, count) => refused.count(refusal, count),
    snapshot,
    recentSnapshot() {
      // A clock that was set back makes nothing older than it is.
      if (recent === null || Math.abs(clock.now() - recent.at) >= recentMs) recent = snapshot();
      return recent;
    },
  };
}
