import { noUsage } from '../../../domain/call/usage.js';
import { CallId } from '../../../domain/kernel/ids.js';
import { factsOf } from '../../../domain/models/model-facts.js';
import { isSoldBy } from '../../../domain/pricing/rates.js';
import type { Demand } from '../../contracts/endpoint.js';
import type { RelayError } from '../../contracts/errors.js';
import { countIn, isObject, type JsonObject, scalarText } from '../../json/json.js';
import { type CallSession, openCallSession } from '../../metering/call-session.js';
import { countedPrompt } from '../../metering/prompt-tally.js';
import type { RealtimeTally } from '../../metering/realtime-tally.js';
import { type Estimate, estimateReservation } from '../../metering/reservation-estimate.js';
import { fastestWords, soundTokens, transcriptionUsage } from '../../metering/transcription-usage.js';
import { readRealtimeUsage } from '../../protocols/openai/realtime-usage.js';
import { SeenText } from '../../text/seen-text.js';
import { checkModelLimit, priceFor } from '../call-checks.js';
import type { AnsweredCall } from '../call-context.js';
import { settlementOf } from '../conclude.js';
import { paymentRefusal } from '../payment-refusal.js';
import { callFacts, inPerson } from '../reserve.js';
import type { BillingPorts } from './billing.js';

/*
 * What is spoken may be written down by a model of its own. Its price is that model's, so transcripts are a run of parts
 * beside that of the responses: the next one is reserved as long as they are switched on.
 */

/** Seconds of one turn that are reserved for, and believed. */
const longestTurn = 600;
/** Turns that have been charged, so that none is twice. */
const maxRemembered = 64;

function demandOf(model: string): Demand {
  const expected = soundTokens(longestTurn);
  const recording = { said: null, expected: longestTurn, max: longestTurn };
  const seconds = longestTurn;
  if (factsOf(model).transcribesByToken !== true) {
    const plain = countedPrompt(expected);
    const prompt = { ...plain, conservative: { ...plain.conservative, seconds }, max: { ...plain.max, seconds } };
    return { prompt, answers: 0, asked: null, counted: true, standsFor: 'seconds', recording };
  }
  const heard = { input: expected, audioInput: expected, seconds };
  const prompt = { expected, conservative: heard, max: heard, uncounted: true, brings: false };
  return { prompt, answers: 1, asked: longestTurn * fastestWords, counted: true, recording };
}

export class Transcripts {
  private parts: CallSession | null = null;
  private estimate: Estimate | null = null;
  private model = '';
  private runs = 0;
  private readonly charged = new Set<string>();

  constructor(
    private readonly ports: BillingPorts,
    private readonly call: AnsweredCall,
    private readonly tally: RealtimeTally,
  ) {}

  /** They are made by this model from now on. Throws RelayError: it has no price here, or cannot be afforded. */
  async begin(model: string): Promise<void> {
    if (model === this.model && this.parts?.isOver === false) return;
    const { ports, call } = this;
    const { resolution, apiKey, incoming } = call;
    const settings = ports.directory.settings();
    checkModelLimit(call, model);
    const price = priceFor({ model, group: resolution.group, mode: 'transcription' }, call, settings);
    const demand = demandOf(model);
    const names = new Set([model]);
    const estimate = estimateReservation({ demand, names, price, settings, thinking: 0, allowed: noUsage });
    await this.conclude();
    const { unlimited, budget } = apiKey?.terms ?? inPerson;
    const facts = { ...callFacts(call), model };
    const session = CallId(`${incoming.requestId}t${this.runs++}`);
    const opening = await openCallSession(ports.meter, { session, facts, terms: { unlimited, budget }, estimate });
    if (!opening.ok) throw paymentRefusal(opening.shortage, estimate, settings);
    this.parts = opening.session;
    this.estimate = estimate;
    this.model = model;
  }

  /** Charges one. Resolves with why there will be no other; null: there may be. */
  async completed(event: JsonObject): Promise<RelayError | null> {
    const { parts, estimate, model, ports } = this;
    const turn = `${scalarText(event.item_id)} ${scalarText(event.content_index)}`;
    if (parts === null || estimate === null || parts.isOver || this.charged.has(turn)) return null;
    this.remember(turn);
    const said = new SeenText(scalarText(event.transcript));
    const usage = isObject(event.usage) ? event.usage : {};
    const seconds = countIn(usage.seconds) ?? 0;
    const reported = readRealtimeUsage(usage) ?? (seconds > 0 ? { seconds: Math.ceil(Number(usage.seconds)) } : null);
    const expected = Math.min(Math.ceil(this.tally.lastTurn), longestTurn);
    const recording = { said: null, expected, max: longestTurn };
    const { bound } = parts.reservation;
    const used = transcriptionUsage(reported, { said, toolCalls: 0, finishReason: null }, recording, {
      ...{ bound, model },
      bySecond: isSoldBy(estimate.price, 'seconds'),
    });
    const { resolution, course, answer } = this.call;
    const told = { resolution, course: { tried: course.tried.slice(-1), failed: undefined, unknownAttempts: 0 } };
    const ending = { outcome: 'completed', firstTokenMs: null, useTimeMs: 0, serviceTier: undefined } as const;
    const settlement = { ...settlementOf(told, answer, used, ending), upstreamModel: null };
    const settled = await parts.settlePart(settlement, estimate);
    return settled.ok ? null : paymentRefusal(settled.shortage, estimate, ports.directory.settings());
  }

  /** Gives back what is reserved for the next one. */
  async conclude(): Promise<void> {
    const { parts, call } = this;
    this.parts = null;
    if (parts === null || parts.isOver) return;
    const attempts = call.course.tried.slice(-1);
    await parts.release({ kind: 'caller-left', attempts, useTimeMs: 0, unknownAttempts: 0 });
  }

  private remember(turn: string): void {
    this.charged.add(turn);
    for (const oldest of this.charged) {
      if (this.charged.size <= maxRemembered) break;
      this.charged.delete(oldest);
    }
  }
}
