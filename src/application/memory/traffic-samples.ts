import type { FailedAttempt } from '../../domain/call/call.js';
import { completionTokens, promptTokens } from '../../domain/call/usage.js';
import type { Recorded } from '../../domain/events/events.js';
import { durationClassOf } from '../../domain/kernel/durations.js';
import type { ChannelId } from '../../domain/kernel/ids.js';

/* What one event of the log adds to the figures of live traffic. */

export interface Sample {
  /** An attempt that failed counts for its channel alone. */
  readonly of: 'call' | 'attempt';
  readonly second: number;
  /** 1; 0 for what comes later of a call that has been counted. */
  readonly requests: 0 | 1;
  readonly channelId: ChannelId | null;
  readonly model: string;
  readonly tokens: number;
  readonly quota: number;
  readonly failed: boolean;
  readonly latency: number | null;
  readonly firstToken: number | null;
}

export const attemptOf = (second: number, { channelId, durationMs }: FailedAttempt): Sample => ({
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

/** Of an outcome that says anything of the channel it asked. */
export const failedAttemptsOf = ({ event }: Recorded): readonly FailedAttempt[] =>
  (event.type === 'CallSettled' || event.type === 'CallReleased' ? event.failedAttempts : undefined) ?? noneFailed;

export function sampleOf({ event }: Recorded, second: number): Sample | null {
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
        // An upstream that reports what cannot be is out of order, though its answer was of use.
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
        // Those whose failures are recorded count by them.
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
