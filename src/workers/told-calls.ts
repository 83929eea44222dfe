import type { SpendingTerms } from '../domain/api-key-terms.js';
import type { Budget } from '../domain/budget.js';
import type { CallFacts, CallOutcome, CallSettled, UsageSource } from '../domain/call.js';
import type { ApiKeyId, CallId, ChannelId, UserId } from '../domain/ids.js';
import type { Price } from '../domain/pricing.js';
import type { Quota } from '../domain/quota.js';
import type { Usage } from '../domain/usage.js';
import type { HoldEstimate } from '../relay/call/hold.js';
import type { Settlement } from '../relay/call/metered.js';
import type { Turn } from './calls-of-workers.js';

/*
 * The two questions of every call as lists: with the names of their members they are three times as long, and take three
 * times as long to be read.
 */

export type ToldOrder = readonly [
  callId: CallId,
  userId: UserId,
  apiKeyId: ApiKeyId | null,
  apiKeyName: string,
  group: string,
  model: string,
  path: string,
  stream: boolean,
  unlimited: boolean,
  budget: Budget | null,
  price: Price,
  promptTokens: number,
  amplePrompt: number,
  ampleSound: number,
  mostPrompt: number,
  mostSound: number,
  mostOutput: number,
  speaks: boolean,
  keeps: boolean,
  searches: Usage | null,
  answers: number,
  asked: number | null,
  outputLimit: number,
  contextLimit: number | null,
  guessed: boolean,
  thinking: number,
  most: Quota,
  least: Quota,
];

export const toldOrder = (
  callId: CallId,
  { userId, apiKeyId, apiKeyName, group, model, path, stream }: CallFacts,
  { unlimited, budget }: SpendingTerms,
  estimate: HoldEstimate,
): ToldOrder => {
  const { bound, limits } = estimate;
  return [
    callId,
    userId,
    apiKeyId,
    apiKeyName,
    group,
    model,
    path,
    stream,
    unlimited,
    budget,
    estimate.price,
    estimate.promptTokens,
    estimate.amplePrompt,
    estimate.ampleSound,
    bound.prompt,
    bound.sound,
    bound.output,
    bound.speaks,
    bound.keeps,
    bound.searches,
    estimate.answers,
    estimate.asked,
    limits.output,
    limits.context,
    limits.guessed,
    estimate.thinking,
    estimate.most,
    estimate.least,
  ];
};

export function orderTold(told: ToldOrder): {
  readonly callId: CallId;
  readonly facts: CallFacts;
  readonly terms: SpendingTerms;
  readonly estimate: HoldEstimate;
} {
  const callId = told[0];
  return {
    callId,
    facts: {
      userId: told[1],
      apiKeyId: told[2],
      apiKeyName: told[3],
      group: told[4],
      model: told[5],
      path: told[6],
      stream: told[7],
    },
    terms: { unlimited: told[8], budget: told[9] },
    estimate: {
      price: told[10],
      promptTokens: told[11],
      amplePrompt: told[12],
      ampleSound: told[13],
      bound: {
        prompt: told[14],
        sound: told[15],
        output: told[16],
        speaks: told[17],
        keeps: told[18],
        searches: told[19],
      },
      answers: told[20],
      asked: told[21],
      limits: { output: told[22], context: told[23], guessed: told[24] },
      thinking: told[25],
      most: told[26],
      least: told[27],
    },
  };
}

export type ToldReservation = readonly [turn: Turn, held: Quota, outputLimit: number | null, output: number];

export type ToldSettlement = readonly [
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
];

export const toldSettlement = (callId: CallId, settlement: Settlement): ToldSettlement => [
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
];

export const settlementTold = (told: ToldSettlement): Settlement => ({
  usage: told[1],
  usageSource: told[2],
  outcome: told[3],
  channelId: told[4],
  attempts: told[5],
  failedAttempts: told[6] ?? undefined,
  upstreamModel: told[7],
  useTimeMs: told[8],
  firstTokenMs: told[9],
  reasoningEffort: told[10],
  unknownAttempts: told[11],
});
