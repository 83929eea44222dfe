import type { CallOutcome } from '../../../domain/call/call.js';
import { authenticateOwner } from '../../admission/authenticate.js';
import type { Got } from '../../answers/answer-reading.js';
import { networkFailure, RelayError, refusalFor } from '../../contracts/errors.js';
import {
  type CallerSide,
  goodbyes,
  isSayable,
  type TwoWaySession,
  type TwoWaySocket,
} from '../../contracts/two-way.js';
import { isObject, type JsonObject, parseJson, scalarText, textIn } from '../../json/json.js';
import { realtimeInput } from '../../metering/realtime-input.js';
import {
  appendedSound,
  eventName,
  responseNamed,
  soundDeltas,
  textDeltas,
} from '../../protocols/openai/realtime-events.js';
import type { AnsweredCall } from '../call-context.js';
import type { StagePorts } from '../stage-ports.js';
import { RealtimeBilling } from './billing.js';
import {
  asksApart,
  bringsUnseen,
  type ClientEvent,
  checkEventWords,
  checkSession,
  checkTranscription,
  invalidEvent,
  readClientEvent,
  withUpstreamModel,
} from './client-events.js';
import { Lane } from './lane.js';
import { SentEvents } from './sent-events.js';
import { Transcripts } from './transcripts.js';
import {
  eventsRead,
  lastResponseMs,
  reckoningMs,
  responseEnd,
  responseIn,
  soundFormat,
  transcribed,
  transcribedBy,
  withShownFailures,
} from './upstream-events.js';

/*
 * A realtime session: messages go both ways as they are, and what costs something is charged before its end is passed
 * on. It ends with either side, with the quota, or with the right to call.
 */

type Conversation = Extract<Got, { kind: 'conversation' }>;
type SessionPorts = Pick<
  StagePorts,
  'clock' | 'meter' | 'directory' | 'log' | 'largeWork' | 'config' | 'gate' | 'vault' | 'wrongKeys' | 'apiKeyStatus'
>;

/** Of an event that brings sound: what stands around it. */
const aroundSound = 200;

/** Serves the session till its end. True: it ended as sessions do. */
export async function serveSession(
  ports: SessionPorts,
  call: AnsweredCall,
  conversation: Conversation,
): Promise<boolean> {
  const billing = new RealtimeBilling(ports, call);
  try {
    return await new RealtimeSession(ports, call, conversation, billing).ended;
  } finally {
    billing.leave();
  }
}

class RealtimeSession implements TwoWaySession {
  readonly ended: Promise<boolean>;
  quietSince = performance.now();
  private settle: (succeeded: boolean) => void = () => {};
  private readonly transcripts: Transcripts;
  private readonly sent = new SentEvents();
  private readonly upstream: TwoWaySocket;
  private readonly caller: CallerSide | null;
  private readonly fromCaller: Lane;
  private readonly fromUpstream: Lane;
  private upstreamFull = false;
  private callerFullSince: number | null = null;
  private leaving: { readonly code: number; readonly reason: string; readonly since: number } | null = null;
  private cancelled = false;
  /** `performance.now()` of the last that upstream sent, or was asked for. */
  private upstreamQuietSince = performance.now();
  private left: CallOutcome | null = null;
  private over = false;

  constructor(
    private readonly ports: SessionPorts,
    private readonly call: AnsweredCall,
    private readonly conversation: Conversation,
    private readonly billing: RealtimeBilling,
  ) {
    this.ended = new Promise((resolve) => {
      this.settle = resolve;
    });
    this.transcripts = new Transcripts(ports, call, billing.tally);
    this.upstream = conversation.socket;
    const caller = call.connection.twoWay?.open(this) ?? null;
    this.caller = caller;
    this.fromUpstream = new Lane(this.upstream, (error) => this.failed(error));
    this.fromCaller = new Lane(caller ?? this.upstream, (error) => this.failed(error));
    if (caller === null) {
      void this.conclude('caller-left', goodbyes.normal, '');
      return;
    }
    this.listen(caller);
  }

  get busy(): boolean {
    return this.billing.underWay > 0;
  }

  look(asks: boolean): void {
    if (this.over) return;
    this.billing.dropDoubted();
    if (!this.busy) this.atRest();
    const { callerStallMs } = this.ports.config;
    if (this.callerFullSince !== null && performance.now() - this.callerFullSince > callerStallMs) {
      this.caller?.terminate();
      this.callerLeft('caller-stalled');
    } else if (this.lingers) this.cancel('completed');
    else if (this.isSilent) {
      this.caller?.tell(networkFailure('the upstream does not go on with its response'));
      void this.conclude('upstream-broke', goodbyes.failure, 'upstream');
    } else if (asks && !this.upstream.ping()) this.upstreamClosed(null);
    else void this.mayCall().catch((error: unknown) => this.refuse(error));
  }

  end(code: number, reason: string): void {
    this.leaving ??= { code, reason, since: performance.now() };
    if (!this.busy) void this.conclude('completed', code, reason);
  }

  /** A response holds up the end of the session. */
  private get lingers(): boolean {
    return this.busy && performance.now() - (this.leaving?.since ?? Infinity) > lastResponseMs;
  }

  /** A response is under way of which nothing comes, though whatever comes would be read. */
  private get isSilent(): boolean {
    const quietMs = performance.now() - this.upstreamQuietSince;
    return this.busy && !this.fromUpstream.busy && quietMs > this.ports.config.streamIdleMs;
  }

  private listen(caller: CallerSide): void {
    const { upstream, fromCaller, fromUpstream } = this;
    caller.listen({
      message: (bytes, isBinary) => fromCaller.take(() => this.callerSays(bytes, isBinary)),
      drained: () => this.callerTakesMore(),
      closed: () => this.callerLeft('caller-left'),
    });
    upstream.listen({
      message: (bytes, isBinary) => fromUpstream.take(() => this.upstreamSays(bytes, isBinary)),
      drained: () => {
        if (!this.upstreamFull) return;
        this.upstreamFull = false;
        fromCaller.release();
      },
      closed: (code) => fromUpstream.take(() => this.upstreamClosed(code)),
    });
  }

  /** Whoever called may still. Throws RelayError. */
  private async mayCall(): Promise<void> {
    if (this.call.apiKey !== null) await authenticateOwner(this.ports, this.call.incoming);
  }

  private callerSays(bytes: Buffer, isBinary: boolean): void | Promise<void> {
    if (this.over || this.left !== null) return;
    this.quietSince = performance.now();
    this.billing.heardOf();
    if (isBinary) {
      this.caller?.tell(invalidEvent('', 'messages must be text: sound goes in base64, in input_audio_buffer.append'));
      void this.conclude('completed', goodbyes.unsupported, 'messages are text');
      return;
    }
    const sound = appendedSound(bytes);
    if (sound === null) return this.clientEvent(bytes);
    this.billing.tally.heard(sound);
    return this.passUp(bytes);
  }

  private async clientEvent(bytes: Buffer): Promise<void> {
    const value = await this.large(bytes, () => parseJson(bytes.toString()));
    if (this.over) return;
    try {
      const event = readClientEvent(value);
      const { sensitiveWords } = this.ports.directory.settings();
      await this.ports.largeWork.runSteps(bytes.length, () => checkEventWords(event, sensitiveWords));
      await this.passUp(await this.checked(event, bytes));
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      this.caller?.tell(error);
    }
  }

  /** The event as it goes upstream. Throws RelayError. */
  private async checked(event: ClientEvent, bytes: Buffer): Promise<Buffer> {
    const { resolution, answer } = this.call;
    const models = [resolution.requestedModel, answer.upstreamModel] as const;
    if (event.type === 'input_audio_buffer.append') this.billing.tally.heard(scalarText(event.audio).length);
    else this.billing.tally.wrote(await this.large(bytes, () => realtimeInput(event, bytes.length, models)));
    if (asksApart(event)) this.billing.tally.askedApart();
    if (bringsUnseen(event)) this.billing.tally.growsUnseen();
    const updates = event.type === 'session.update';
    if (!updates && event.type !== 'response.create') return bytes;
    if (updates) checkSession(event, models);
    const { id, event: named } = this.sent.named(event);
    const transcribing = updates ? transcribedBy(event) : null;
    if (transcribing !== null) await this.transcripts.reserve(checkTranscription(transcribing), id);
    if (!updates) await this.asks(id);
    return await this.large(bytes, () => Buffer.from(JSON.stringify(withUpstreamModel(named, answer.upstreamModel))));
  }

  private large<Result>({ length }: Buffer, work: () => Result): Result | Promise<Result> {
    return this.ports.largeWork.run(length, work);
  }

  /** Throws RelayError. */
  private async asks(event: string): Promise<void> {
    try {
      await this.mayCall();
    } catch (error) {
      this.refuse(error);
      throw error;
    }
    const asked = await this.billing.ask(event);
    this.upstreamQuietSince = performance.now();
    if (asked === 'too-many')
      throw new RelayError(429, 'rate_limit_exceeded', 'too many responses at once in a session');
    if (asked === 'unaffordable')
      throw new RelayError(403, 'insufficient_user_quota', 'the quota is not sufficient for another response at once');
  }

  private passUp(bytes: Buffer): void | Promise<void> {
    if (this.billing.covered) this.sendUp(bytes);
    else return this.coverFirst(bytes);
  }

  private async coverFirst(bytes: Buffer): Promise<void> {
    if (await this.billing.raise()) this.sendUp(bytes);
    else await this.endFor(new RelayError(403, 'insufficient_user_quota', 'the quota is not sufficient to go on'));
  }

  private sendUp(bytes: Buffer): void {
    if (this.over) return;
    this.upstream.send(bytes);
    if (this.upstreamFull || !this.upstream.full) return;
    this.upstreamFull = true;
    this.fromCaller.hold();
  }

  private callerTakesMore(): void {
    if (this.callerFullSince === null) return;
    this.callerFullSince = null;
    this.upstreamQuietSince = performance.now();
    this.fromUpstream.release();
  }

  private sendDown(bytes: Buffer | string): void {
    const { caller } = this;
    if (this.over || caller === null) return;
    caller.send(bytes);
    if (this.callerFullSince !== null || !caller.full) return;
    this.callerFullSince = performance.now();
    this.fromUpstream.hold();
  }

  private upstreamSays(bytes: Buffer, isBinary: boolean): void | Promise<void> {
    if (this.over) return;
    this.upstreamQuietSince = performance.now();
    const name = isBinary ? null : eventName(bytes);
    if (name !== null && soundDeltas.has(name)) {
      const response = this.billing.overlap ? responseNamed(bytes) : '';
      this.billing.delivered(response, { sound: Math.max(bytes.length - aroundSound, 0) });
      this.sendDown(bytes);
    } else if (name !== null && !eventsRead.has(name)) this.sendDown(bytes);
    else return this.upstreamEvent(bytes);
  }

  private async upstreamEvent(bytes: Buffer): Promise<void> {
    const event = await this.large(bytes, () => parseJson(bytes.toString()));
    if (this.over) return;
    if (!isObject(event) || textIn(event.type) === null) {
      const { requestId } = this.call.incoming;
      this.ports.log.warn({ requestId }, 'an upstream sent what is no event of a session; it was left out');
      return;
    }
    const refusal = await this.account(event);
    const { failureIn } = this.conversation;
    const shown = withShownFailures({ failureIn, faulted: this.call.faulted }, this.sent.shown(event));
    this.sendDown(shown === null ? bytes : JSON.stringify(shown));
    if (refusal !== null) await this.endFor(refusal);
    else if (!this.busy) this.atRest();
  }

  /** What an event means for what the session costs. Resolves with why it ends; null: it goes on. */
  private async account(event: JsonObject): Promise<RelayError | null> {
    const { billing } = this;
    const { tally } = billing;
    const type = scalarText(event.type);
    const delta = scalarText(event.delta);
    if (textDeltas.has(type)) billing.delivered(scalarText(event.response_id), { words: delta });
    else if (soundDeltas.has(type)) billing.delivered(scalarText(event.response_id), { sound: delta.length });
    else if (type === 'response.created') {
      if (!billing.begun(scalarText(responseIn(event).id)))
        return networkFailure('the upstream answered what nobody had asked');
    } else if (type === 'response.done') return billing.done(responseEnd(event));
    else if (type === 'session.created' || type === 'session.updated') {
      tally.speaks(soundFormat(event) ?? 'pcm16');
      return this.transcripts.setUp(event);
    } else if (type === transcribed) return this.transcripts.completed(event);
    else if (type === 'input_audio_buffer.committed') tally.committed();
    else if (type === 'input_audio_buffer.cleared' || type === 'input_audio_buffer.speech_started') tally.cleared();
    else if (type === 'error') {
      const refused = isObject(event.error) ? scalarText(event.error.event_id) : '';
      billing.refused(refused);
      await this.transcripts.refused(refused);
    }
    return null;
  }

  /** No response is under way: what waited for that can be done. */
  private atRest(): void {
    const { left, leaving } = this;
    if (left !== null) void this.conclude(left, goodbyes.normal, '');
    else if (leaving !== null) void this.conclude('completed', leaving.code, leaving.reason);
  }

  private upstreamClosed(code: number | null): void {
    if (this.over) return;
    if (code === null) this.caller?.tell(networkFailure('the upstream broke off the connection'));
    const said = code !== null && isSayable(code) ? code : goodbyes.failure;
    void this.conclude(this.left ?? 'upstream-broke', said, code === null ? 'upstream' : '');
  }

  /** Asks upstream what its response has cost so far, and waits no longer for that than a moment. */
  private callerLeft(outcome: CallOutcome): void {
    if (this.over || this.left !== null) return;
    this.left = outcome;
    this.callerTakesMore();
    if (this.busy) this.cancel(outcome);
    else void this.conclude(outcome, goodbyes.normal, '');
  }

  private cancel(outcome: CallOutcome): void {
    if (this.cancelled) return;
    this.cancelled = true;
    const { code = goodbyes.normal, reason = '' } = this.leaving ?? {};
    this.upstream.send('{"type":"response.cancel"}');
    setTimeout(() => void this.conclude(this.left ?? outcome, code, reason), reckoningMs);
  }

  /** There is no quota for more, or an upstream that must not go on. */
  private async endFor(error: RelayError): Promise<void> {
    this.caller?.tell(error);
    const isOurs = error.status < 500;
    const code = isOurs ? goodbyes.policy : goodbyes.failure;
    await this.conclude(isOurs ? 'quota-ran-out' : 'upstream-broke', code, error.code ?? '');
  }

  /** Who called may no longer. */
  private refuse(error: unknown): void {
    if (this.over) return;
    const refusal = refusalFor(error, this.call.incoming.requestId, this.ports.log);
    // What cannot be asked at present is no refusal.
    if (refusal.status >= 500) return;
    this.caller?.tell(refusal);
    void this.conclude('completed', goodbyes.policy, refusal.code ?? '');
  }

  private failed(error: unknown): void {
    if (this.over) return;
    this.caller?.tell(refusalFor(error, this.call.incoming.requestId, this.ports.log));
    void this.conclude('upstream-broke', goodbyes.failure, '');
  }

  /** Once. Never rejects. */
  private async conclude(outcome: CallOutcome, code: number, reason: string): Promise<void> {
    if (this.over) return;
    this.over = true;
    this.upstream.close(goodbyes.normal, '');
    const concluding = await Promise.allSettled([this.billing.conclude(outcome), this.transcripts.conclude()]);
    for (const { reason: err } of concluding.filter((one) => one.status === 'rejected'))
      this.ports.log.error({ err, requestId: this.call.incoming.requestId }, 'a session could not be concluded');
    this.caller?.close(code, reason);
    this.settle(outcome === 'completed' || outcome === 'caller-left');
  }
}
