import { RecentSet } from '../../../data-structures/recent-set.js';
import type { CallOutcome } from '../../../domain/call/call.js';
import type { Settlement } from '../../../domain/call/call-conclusion.js';
import { answerIdOf } from '../../../domain/call/call-texts.js';
import { completionTokens, promptTokens, type Usage } from '../../../domain/call/usage.js';
import { CallId } from '../../../domain/kernel/ids.js';
import type { Instant } from '../../../domain/kernel/instant.js';
import { chargeOf } from '../../../domain/pricing/pricing.js';
import { networkFailure, RelayError } from '../../contracts/errors.js';
import { claimedUsage, type UsedTokens } from '../../metering/believed-usage.js';
import { CallSession } from '../../metering/call-session.js';
import { RealtimeOutput } from '../../metering/realtime-output.js';
import { RealtimeTally } from '../../metering/realtime-tally.js';
import { believedRealtime, withPricedSound } from '../../metering/realtime-usage.js';
import type { AnsweredCall } from '../call-context.js';
import { settlementOf } from '../conclude.js';
import { paymentRefusal } from '../payment-refusal.js';
import { callFacts, inPerson } from '../reserve.js';
import type { StagePorts } from '../stage-ports.js';
import { AskedResponses } from './asked-responses.js';
import { inputPaidBy, partEstimate } from './part-estimate.js';

/*
 * What a realtime session costs: each response is a part of the session, reserved before it may begin and settled when
 * it ends. With a server that finds out by itself when its caller has spoken, responses begin unasked: so something is
 * reserved for the next one at any time.
 */

interface OpenResponse {
  readonly startedAt: Instant;
  firstTokenMs: number | null;
  readonly output: RealtimeOutput;
}

/** A response that has ended, as its event says. */
export interface EndedResponse {
  readonly id: string;
  readonly failed: boolean;
  readonly usage: Usage | null;
  /** It is a part of the session's conversation: its usage says how long that is. */
  readonly inConversation: boolean;
}

export type BillingPorts = Pick<StagePorts, 'clock' | 'meter' | 'directory' | 'log'>;

/** Responses under way at once: beside that of the conversation there may be some apart from it. */
const maxAtOnce = 4;
/** Responses one after the other to which the caller has sent nothing. */
const maxUnasked = 3;
/** Ids of responses that have ended. */
const maxRemembered = 64;
/** A hold is raised by so much more than is needed at once. */
const ahead = 1.25;

export class RealtimeBilling {
  readonly tally: RealtimeTally;
  private readonly parts: CallSession;
  private readonly open = new Map<string, OpenResponse>();
  /** So that none is charged twice. */
  private readonly ended = new RecentSet<string>(maxRemembered);
  private readonly asked = new AskedResponses();
  /** Of a response whose beginning has not been reported. */
  private early = new RealtimeOutput();
  private unasked = 0;
  private part = 0;
  private paidInput: number;
  private settling: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly ports: BillingPorts,
    private readonly call: AnsweredCall,
  ) {
    const { resolution, reservation, apiKey, incoming } = call;
    this.tally = new RealtimeTally(ports.directory.settings().upstreamPromptTokens);
    const { unlimited, budget } = apiKey?.terms ?? inPerson;
    const order = { session: CallId(incoming.requestId), facts: callFacts(call), terms: { unlimited, budget } };
    this.parts = new CallSession(ports.meter, order, reservation);
    this.paidInput = inputPaidBy(resolution.estimate, reservation.reserved);
    this.note();
  }

  /** Responses under way. */
  get underWay(): number {
    return this.open.size + this.asked.count;
  }

  /** Nothing can be reserved any more. */
  get isOver(): boolean {
    return this.parts.isOver;
  }

  /** What the next response may take in is reserved. */
  get covered(): boolean {
    return Math.min(this.tally.held, this.call.resolution.estimate.bound.input) <= this.paidInput;
  }

  /** Its caller has sent something. */
  heardOf(): void {
    this.unasked = 0;
  }

  /** Raises what is reserved to what the conversation holds; false: that cannot be afforded. */
  async raise(more = 0): Promise<boolean> {
    // What is being settled cannot be raised any more: what comes after it can.
    await this.settling;
    if (this.parts.isOver) return false;
    const responses = Math.max(this.underWay + more, 1);
    const { estimate } = this.call.resolution;
    const { reservation } = this.parts;
    const { held, expected } = this.tally;
    for (const tokens of [estimate.bound.input, held * ahead, held]) {
      const wanted = partEstimate(estimate, tokens, expected, responses).min;
      if (wanted <= reservation.reserved) return this.counted(responses);
    }
    return this.extend(held, responses);
  }

  /** Whether another response may be asked for, by this event. */
  async ask(event: string): Promise<'asked' | 'unaffordable' | 'too-many'> {
    if (this.underWay >= maxAtOnce) return 'too-many';
    if (this.underWay > 0 && !(await this.raise(1))) return 'unaffordable';
    this.asked.add(event);
    return 'asked';
  }

  /** Upstream has refused an event; '': it does not say which. */
  refused(event: string): void {
    this.asked.refused(event, performance.now());
  }

  /** What may have been refused is not waited for without end. */
  dropDoubted(): void {
    this.asked.dropDoubted(performance.now());
  }

  /** False: an upstream that answers without end what nobody has said. */
  begun(id: string): boolean {
    if (this.open.has(id) || this.ended.has(id)) return true;
    if (!this.asked.begun()) this.unasked++;
    this.open.set(id, { startedAt: this.ports.clock.now(), firstTokenMs: null, output: this.early });
    this.early = new RealtimeOutput();
    this.tally.begun(this.open.size === 1);
    this.note();
    return this.unasked <= maxUnasked && this.open.size <= maxAtOnce;
  }

  /** Several responses are under way: it matters whose a piece is. */
  get overlap(): boolean {
    return this.open.size > 1;
  }

  /** Something of a response reaches its caller: words, or characters of sound. What names none is the first one's. */
  delivered(id: string, { words = '', sound = 0 }: { readonly words?: string; readonly sound?: number }): void {
    const [first] = this.open.values();
    const response = this.open.get(id) ?? first;
    const output = response?.output ?? this.early;
    output.said.add(words);
    output.spoken += sound;
    if (response === undefined || response.firstTokenMs !== null) return;
    response.firstTokenMs = Math.max(this.ports.clock.now() - response.startedAt, 0);
    this.note();
  }

  /** Charges a response. Resolves with why there will be no other; null: there may be. Rejects as `settlePart`. */
  async done(response: EndedResponse): Promise<RelayError | null> {
    if (this.ended.has(response.id)) {
      this.ports.log.warn({ requestId: this.call.incoming.requestId }, 'an upstream ended a response twice');
      return null;
    }
    // Without an id, it is the one that began first.
    const id = response.id === '' ? (this.open.keys().next().value ?? '') : response.id;
    const isAllowed = this.open.has(id) || this.begun(id);
    const found = this.open.get(id);
    if (!isAllowed || found === undefined) return networkFailure('the upstream answered what nobody had asked');
    if (id !== '') this.ended.add(id);
    this.open.delete(id);
    if (response.failed) {
      this.tally.ended(null, 0);
      this.note();
      return null;
    }
    const settled = this.settlePart(found, response);
    this.settling = settled.catch(() => {});
    const refusal = await settled;
    if (refusal !== null || this.covered || (await this.raise())) return refusal;
    return new RelayError(403, 'insufficient_user_quota', 'the quota is not sufficient for another response');
  }

  /** The outcome of what is left: responses that were cut are charged by what was seen of them. */
  async conclude(outcome: CallOutcome): Promise<void> {
    await this.settling;
    if (this.parts.isOver) return;
    const { course } = this.call;
    const cut = [...this.open.values()];
    const last = cut.pop();
    if (last === undefined) {
      const unanswered = { attempts: this.part === 0 ? course.tried : course.tried.slice(-1), useTimeMs: 0 };
      await this.parts.release({ kind: 'caller-left', ...unanswered, unknownAttempts: 0 });
      return;
    }
    for (const [index, response] of cut.entries()) {
      const used = this.seenOf(response);
      const next = partEstimate(
        this.call.resolution.estimate,
        this.tally.held,
        this.tally.expected,
        cut.length - index,
      );
      const settled = await this.parts.settlePart(this.settlement(response, used, outcome), next);
      this.part++;
      if (!settled.ok) return;
    }
    await this.parts.settle(this.settlement(last, this.seenOf(last), outcome)).catch(() => {});
  }

  /** Nobody serves the session any more. */
  leave(): void {
    this.parts.leave();
  }

  /** Each has taken the conversation in, whatever others have. */
  private seenOf({ output }: OpenResponse): UsedTokens {
    return believedRealtime(null, this.tally.seen(output), this.parts.reservation.bound);
  }

  private async settlePart(found: OpenResponse, response: EndedResponse): Promise<RelayError | null> {
    const { call, parts, tally, ports } = this;
    const { estimate } = call.resolution;
    const believed = believedRealtime(response.usage, tally.seen(found.output), parts.reservation.bound);
    const used = withPricedSound(believed, estimate.price);
    if (used.usageSource === 'disbelieved')
      ports.log.warn(
        { requestId: call.incoming.requestId, reported: response.usage, bound: parts.reservation.bound },
        'an upstream reported more usage than a response can have; it was counted here',
      );
    const { usage } = used;
    const sound = (usage.audioInput ?? 0) + (usage.cachedAudioInput ?? 0) + (usage.audioOutput ?? 0);
    const whole = promptTokens(usage) + completionTokens(usage);
    // What is still under way takes in no more than it was reserved for when it began.
    const { held } = tally;
    const others = this.underWay;
    const { imageInput: pictures = 0 } = usage;
    const told = { text: whole - sound - pictures, sound, pictures };
    tally.ended(response.inConversation ? told : null, completionTokens(usage));
    const responses = Math.max(others, 1);
    const next = partEstimate(
      estimate,
      others > 0 ? Math.min(held, tally.held) : tally.held,
      tally.expected,
      responses,
    );
    const claimed = claimedUsage(used, response.usage);
    const ended = { claimed, answerId: answerIdOf(response.id) };
    const settled = await parts.settlePart({ ...this.settlement(found, used, 'completed'), ...ended }, next);
    this.part++;
    if (!settled.ok) return paymentRefusal(settled.shortage, next, ports.directory.settings());
    this.counted(responses);
    this.note();
    return null;
  }

  /** Attempts before the session was open are told of once. */
  private settlement({ startedAt, firstTokenMs }: OpenResponse, used: UsedTokens, outcome: CallOutcome): Settlement {
    const { resolution, course, answer } = this.call;
    const told = this.part === 0 ? course : { tried: course.tried.slice(-1), failed: undefined, unknownAttempts: 0 };
    const useTimeMs = Math.max(this.ports.clock.now() - startedAt, 0);
    const ending = { outcome, firstTokenMs, useTimeMs, serviceTier: undefined };
    return settlementOf({ resolution, course: told }, answer, used, ending);
  }

  private async extend(held: number, responses: number): Promise<boolean> {
    const { estimate } = this.call.resolution;
    const { reservation } = this.parts;
    for (const tokens of [held * ahead, held]) {
      const { min } = partEstimate(estimate, tokens, 0, responses);
      if (await reservation.extend(min)) return this.counted(responses);
    }
    return false;
  }

  private counted(responses: number): true {
    const { reservation } = this.parts;
    this.paidInput = inputPaidBy(this.call.resolution.estimate, reservation.reserved / responses);
    return true;
  }

  /** For whoever recovers the part that is under way: it costs nothing before a response has begun. */
  private note(): void {
    const { inFlightCall } = this.parts.reservation;
    const { course, answer, resolution } = this.call;
    const [first] = this.open.values();
    inFlightCall.attempts = course.tried;
    inFlightCall.upstreamModel = answer.upstreamModel === resolution.requestedModel ? null : answer.upstreamModel;
    inFlightCall.sending = first === undefined ? null : { started: true };
    inFlightCall.stream = null;
    if (first === undefined || first.firstTokenMs === null) return;
    inFlightCall.firstTokenMs = first.firstTokenMs;
    inFlightCall.stream = { generated: { said: this.noted } };
  }

  /** What the responses under way have put out. Notes count text: sound stands for as much of it as costs the same. */
  private readonly noted = {
    outputs: (): RealtimeOutput[] => [...this.open.values()].map(({ output }) => output),
    get length(): number {
      return this.outputs().reduce((sum, { length }) => sum + length, 0);
    },
    roughTokens: (): number => {
      const { price } = this.call.resolution.estimate;
      const thousand = 1_000;
      const text = chargeOf({ output: thousand }, price);
      const weight = price.per === 'call' || text <= 0 ? 1 : chargeOf({ audioOutput: thousand }, price) / text;
      return this.noted
        .outputs()
        .reduce((sum, output) => sum + output.said.roughTokens() + this.tally.spokenTokens(output) * weight, 0);
    },
  };
}
