import type { Settlement } from '../../../src/domain/call/call-conclusion.js';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { Estimate } from '../../../src/relay/metering/reservation-estimate.js';
import { plainPrice } from './calls.js';

/** An answer that cost so many tokens of input, and nothing else: at the plain price, as much quota. */
export const settlementOf = (input: number): Settlement => ({
  usage: { input },
  usageSource: 'upstream',
  outcome: 'completed',
  channelId: ChannelId(3),
  attempts: [ChannelId(2), ChannelId(3)],
  upstreamModel: null,
  useTimeMs: 900,
  firstTokenMs: null,
  reasoningEffort: null,
  unknownAttempts: 0,
});

/** Of a call that needs exactly so much held. */
export const estimateOf = (quota: number): Estimate => ({
  price: plainPrice,
  promptTokens: 30,
  bound: { input: 30, output: 70 },
  conservative: { input: 30, output: 70 },
  uncounted: false,
  recording: null,
  pictureTokens: null,
  answers: 1,
  asked: 70,
  limits: { output: 70, context: null, guessed: false },
  overhead: 0,
  conservativeOverhead: 0,
  mayLower: false,
  max: Quota(quota),
  min: Quota(quota),
  minOfKey: Quota(quota),
});
