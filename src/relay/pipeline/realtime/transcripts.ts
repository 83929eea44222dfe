import { RecentSet } from '../../../data-structures/recent-set.js';
import { noUsage } from '../../../domain/call/usage.js';
import { CallId } from '../../../domain/kernel/ids.js';
import { factsOf } from '../../../domain/models/model-facts.js';
import { isSoldBy } from '../../../domain/pricing/rates.js';
import type { Demand } from '../../contracts/endpoint.js';
import { RelayError } from '../../contracts/errors.js';
import { countIn, isObject, type JsonObject, scalarText } from '../../json/json.js';
import { claimedUsage } from '../../metering/believed-usage.js';
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
import { checkTranscription } from './client-events.js';
import { transcribedBy } from './upstream-events.js';

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

/** Turns by one model. */
interface Run {
  readonly model: string;
  readonly parts: CallSession;
  readonly estimate: Estimate;
}

/** One that has been asked for; upstream may refuse the event it was asked for by. */
interface Awaited extends Run {
  readonly event: string;
}

/*
 * Events of both sides begin, charge and end runs. They do so one after the other, so that no reservation is left whose
 * run has been ended meanwhile.
 */
export class Transcripts {
  private inUse: Run | null = null;
  private awaited: Awaited | null = null;
  private closed = false;
  private last: Promise<unknown> = Promise.resolve();
  private runs = 0;
  private readonly charged = new RecentSet<string>(maxRemembered);

  constructor(
    private readonly ports: BillingPorts,
    private readonly call: AnsweredCall,
    private readonly tally: RealtimeTally,
  ) {}

  /** This model has been asked for, by this event. Throws RelayError: it has no price here, or cannot be afforded. */
  reserve(model: string, event: string): Promise<void> {
    return this.inTurn(async () => {
      if (this.closed || this.isInUse(model)) return;
      const run = this.awaited?.model === model ? this.awaited : await this.opened(model);
      if (run !== this.awaited) await this.drop();
      this.awaited = { ...run, event };
    });
  }

  /** Upstream has refused an event. */
  refused(event: string): Promise<void> {
    return this.inTurn(async () => {
      if (this.awaited?.event === event) await this.drop();
    });
  }

  /**
   * Upstream says how its session is set up: it may have a model transcribe that nobody has asked for here. Resolves with
   * why the session ends; null: it goes on.
   */
  async setUp(event: JsonObject): Promise<RelayError | null> {
    const transcribing = transcribedBy(event);
    if (transcribing === null) return null;
    try {
      await this.use(checkTranscription(transcribing));
      return null;
    } catch (error) {
      if (error instanceof RelayError) return error;
      throw error;
    }
  }

  /** They are made by this model from now on. Throws as `reserve`. */
  private use(model: string): Promise<void> {
    return this.inTurn(async () => {
      if (this.closed || this.isInUse(model)) return;
      const { awaited, inUse } = this;
      if (awaited?.model === model) this.awaited = null;
      this.inUse = awaited?.model === model ? awaited : await this.opened(model);
      await this.giveBack(inUse);
    });
  }

  /** Charges one. Resolves with why there will be no other; null: there may be. */
  completed(event: JsonObject): Promise<RelayError | null> {
    return this.inTurn(() => this.charge(event));
  }

  /** Gives back what is reserved for the next one. There are none from now on. */
  conclude(): Promise<void> {
    this.closed = true;
    return this.inTurn(async () => {
      const { inUse } = this;
      this.inUse = null;
      await Promise.all([this.giveBack(inUse), this.drop()]);
    });
  }

  private inTurn<Result>(step: () => Promise<Result>): Promise<Result> {
    const done = this.last.then(step);
    this.last = done.catch(() => {});
    return done;
  }

  private isInUse(model: string): boolean {
    return this.inUse?.model === model && !this.inUse.parts.isOver;
  }

  private async opened(model: string): Promise<Run> {
    const { ports, call } = this;
    const { resolution, apiKey, incoming } = call;
    const settings = ports.directory.settings();
    checkModelLimit(call, model);
    const price = priceFor({ model, group: resolution.group, mode: 'transcription' }, call, settings);
    const demand = demandOf(model);
    const names = new Set([model]);
    const estimate = estimateReservation({ demand, names, price, settings, thinking: 0, allowed: noUsage });
    const { unlimited, budget } = apiKey?.terms ?? inPerson;
    const facts = { ...callFacts(call), model };
    const session = CallId(`${incoming.requestId}t${this.runs++}`);
    const opening = await openCallSession(ports.meter, { session, facts, terms: { unlimited, budget }, estimate });
    if (!opening.ok) throw paymentRefusal(opening.shortage, estimate, settings);
    return { model, parts: opening.session, estimate };
  }

  private async charge(event: JsonObject): Promise<RelayError | null> {
    const { inUse, ports } = this;
    const turn = `${scalarText(event.item_id)} ${scalarText(event.content_index)}`;
    if (inUse === null || inUse.parts.isOver || this.charged.has(turn)) return null;
    const { parts, estimate, model } = inUse;
    this.charged.add(turn);
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
    const claimed = claimedUsage(used, reported);
    const ending = { outcome: 'completed', firstTokenMs: null, useTimeMs: 0, serviceTier: undefined, claimed } as const;
    const settlement = { ...settlementOf(told, answer, used, ending), upstreamModel: null };
    const settled = await parts.settlePart(settlement, estimate);
    return settled.ok ? null : paymentRefusal(settled.shortage, estimate, ports.directory.settings());
  }

  private async drop(): Promise<void> {
    const { awaited } = this;
    this.awaited = null;
    await this.giveBack(awaited);
  }

  private async giveBack(run: Run | null): Promise<void> {
    if (run === null || run.parts.isOver) return;
    const attempts = this.call.course.tried.slice(-1);
    await run.parts.release({ kind: 'caller-left', attempts, useTimeMs: 0, unknownAttempts: 0 });
  }
}
