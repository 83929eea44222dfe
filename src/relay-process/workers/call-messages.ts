import type { SpendingTerms } from '../../domain/api-key/api-key-terms.js';
import type { CallFacts, CallOutcome, CallSettled, SettledTask, UsageSource } from '../../domain/call/call.js';
import type { Settlement } from '../../domain/call/call-conclusion.js';
import type { KeptObject } from '../../domain/call/kept-object.js';
import type { Usage } from '../../domain/call/usage.js';
import type { UsageBound } from '../../domain/call/usage-bound.js';
import { type PackedFacts, packFacts, unpackFacts } from '../../domain/events/packed-calls.js';
import type { CallId, ChannelId } from '../../domain/kernel/ids.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { Budget } from '../../domain/ledger/budget.js';
import type { Price } from '../../domain/pricing/pricing.js';
import type { ReservationEstimate } from '../../relay/metering/reservation-estimate.js';
import type { Turn } from './calls-of-workers.js';

/*
 * The two questions of every call as lists: with the names of their members they are three times as long, and take three
 * times as long to be read.
 */

export type ReserveMessage = readonly [
  callId: CallId,
  facts: PackedFacts,
  unlimited: boolean,
  budget: Budget | null,
  price: Price,
  promptTokens: number,
  bound: UsageBound,
  conservative: UsageBound,
  answers: number,
  asked: number | null,
  outputLimit: number,
  contextLimit: number | null,
  guessed: boolean,
  overhead: number,
  conservativeOverhead: number,
  mayLower: boolean,
  max: Quota,
  min: Quota,
  minOfKey: Quota,
];

export const encodeReserve = (
  callId: CallId,
  facts: CallFacts,
  { unlimited, budget }: SpendingTerms,
  estimate: ReservationEstimate,
): ReserveMessage => {
  const { limits } = estimate;
  return [
    callId,
    packFacts(facts),
    unlimited,
    budget,
    estimate.price,
    estimate.promptTokens,
    estimate.bound,
    estimate.conservative,
    estimate.answers,
    estimate.asked,
    limits.output,
    limits.context,
    limits.guessed,
    estimate.overhead,
    estimate.conservativeOverhead,
    estimate.mayLower,
    estimate.max,
    estimate.min,
    estimate.minOfKey,
  ];
};

export function decodeReserve(message: ReserveMessage): {
  readonly callId: CallId;
  readonly facts: CallFacts;
  readonly terms: SpendingTerms;
  readonly estimate: ReservationEstimate;
} {
  return {
    callId: message[0],
    facts: unpackFacts(message[1]),
    terms: { unlimited: message[2], budget: message[3] },
    estimate: {
      price: message[4],
      promptTokens: message[5],
      bound: message[6],
      conservative: message[7],
      answers: message[8],
      asked: message[9],
      limits: { output: message[10], context: message[11], guessed: message[12] },
      overhead: message[13],
      conservativeOverhead: message[14],
      mayLower: message[15],
      max: message[16],
      min: message[17],
      minOfKey: message[18],
    },
  };
}

export type ReservationMessage = readonly [turn: Turn, reserved: Quota, outputLimit: number | null, output: number];

export type SettleMessage = readonly [
  callId: CallId,
  usage: Usage,
  usageSource: UsageSource,
  outcome: CallOutcome,
  channelId: ChannelId,
  attempts: readonly ChannelId[],
  /** null: none failed. */
  failedAttempts: NonNullable<CallSettled['failedAttempts']> | null,
  upstreamModel: string | null,
  useTimeMs: number,
  firstTokenMs: number | null,
  reasoningEffort: string | null,
  unknownAttempts: number,
  serviceTier: string | null,
  /** null: nothing. */
  kept: readonly KeptObject[] | null,
  /** null: none. */
  task: SettledTask | null,
  /** null: it does not say. */
  upstreamCost: string | null,
  /** null: nothing, or it was believed. */
  claimed: Usage | null,
  /** null: it names none. */
  answerId: string | null,
];

export const encodeSettlement = (callId: CallId, settlement: Settlement): SettleMessage => [
  callId,
  settlement.usage,
  settlement.usageSource,
  settlement.outcome,
  settlement.channelId,
  settlement.attempts,
  settlement.failedAttempts ?? null,
  settlement.upstreamModel,
  settlement.useTimeMs,
  settlement.firstTokenMs,
  settlement.reasoningEffort,
  settlement.unknownAttempts,
  settlement.serviceTier ?? null,
  settlement.kept ?? null,
  settlement.task ?? null,
  settlement.upstreamCost ?? null,
  settlement.claimed ?? null,
  settlement.answerId ?? null,
];

export const decodeSettlement = (message: SettleMessage): Settlement => ({
  usage: message[1],
  usageSource: message[2],
  outcome: message[3],
  channelId: message[4],
  attempts: message[5],
  failedAttempts: message[6] ?? undefined,
  upstreamModel: message[7],
  useTimeMs: message[8],
  firstTokenMs: message[9],
  reasoningEffort: message[10],
  unknownAttempts: message[11],
  serviceTier: message[12] ?? undefined,
  kept: message[13] ?? undefined,
  task: message[14] ?? undefined,
  upstreamCost: message[15] ?? undefined,
  claimed: message[16] ?? undefined,
  answerId: message[17] ?? undefined,
});
