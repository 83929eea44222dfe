import { repeatAfter } from '../../concurrency/at-intervals.js';
import { type CallSettled, callDecider } from '../../domain/call/call.js';
import { type NewEvent, streams } from '../../domain/events/events.js';
import type { CallId, ChannelId, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { newEventId } from '../event-id.js';
import type { Handle } from '../handle.js';
import type {
  AskBackgroundCall,
  BackgroundCall,
  BackgroundCallStore,
  BackgroundCalls,
  BackgroundState,
  DeliveredInBackground,
} from '../ports/background-call-ports.js';
import type { Clock, EventStore, QuotaGate } from '../ports/storage-ports.js';
import { type AtAnEnd, backgroundOutcome } from './background-outcome.js';

/*
 * Calls in the background, from when their upstream has taken them to their outcome. Their upstreams are asked, less and
 * less often, until they are at an end; the call's own stream sees to it that it has one outcome, whoever finds it first.
 */

interface BackgroundCallPorts {
  readonly calls: BackgroundCallStore;
  readonly store: Pick<EventStore, 'readStream'>;
  readonly handle: Handle;
  readonly gate: Pick<QuotaGate, 'chargeLeft'>;
  readonly clock: Clock;
  readonly ask: AskBackgroundCall;
  /** Whether the channel is there still; one that is switched off is. */
  readonly hasChannel: (channel: ChannelId) => boolean;
  /** Whether a process serves the call now, as it does while it streams. */
  readonly isServed: (callId: CallId) => boolean;
  /** Called with each that is known from now on, with the settlement of one, and with each that is at its end. */
  readonly began: (call: BackgroundCall) => void;
  readonly settled: (callId: CallId, settled: NewEvent<CallSettled>) => void;
  readonly ended: (call: BackgroundCall) => void;
  readonly warn: (facts: object, message: string) => void;
}

const lookMs = 500;
const firstPauseMs = 2_000;
const maxPauseMs = 60_000;
const growth = 1.5;
/** What nobody has answered for by then has an unknown outcome. */
const maxAgeMs = 24 * 60 * 60_000;
/** After a long downtime each upstream gets so long to be reached. */
const minTriedMs = 60 * 60_000;
/** Upstreams may not know for a moment what they have just taken. */
const maxMissingMs = 15 * 60_000;
const maxOfUser = 100;
const maxOfAll = 20_000;
const parallel = 16;
/** One upstream that does not answer holds up no others. */
const parallelOfChannel = 4;

interface Open {
  call: BackgroundCall;
  /** Since when this process asks for it. */
  readonly knownAt: Instant;
  /** Since when its upstream does not know it; null: it does, as far as is known. */
  missingSince: Instant | null;
  dueAt: number;
  pauseMs: number;
  stop: boolean;
  /** null: nobody asks now. */
  polling: Promise<void> | null;
}

export class OpenBackgroundCalls implements BackgroundCalls {
  private readonly open = new Map<CallId, Open>();
  /** Of calls whose upstream has not taken them yet. */
  private readonly slots = new Map<CallId, UserId>();
  /** Slots and open calls of each. */
  private readonly ofUser = new Map<UserId, number>();
  /** Those that are being asked for. */
  private readonly polled = new Set<Open>();

  constructor(private readonly ports: BackgroundCallPorts) {}

  /** Those that an earlier process has left. */
  async load(): Promise<void> {
    for (const call of await this.ports.calls.all()) this.add(call, 0);
  }

  /** Starts polling. The result stops it. */
  start(): () => Promise<void> {
    const stop = repeatAfter(lookMs, async () => {
      this.round();
      return lookMs;
    });
    return async () => {
      await stop();
      await Promise.all([...this.polled].map(({ polling }) => polling));
    };
  }

  has(callId: CallId): boolean {
    return this.open.has(callId);
  }

  async takeSlot(callId: CallId, user: UserId): Promise<boolean> {
    if ((this.ofUser.get(user) ?? 0) >= maxOfUser || this.open.size + this.slots.size >= maxOfAll) return false;
    this.slots.set(callId, user);
    this.count(user, 1);
    return true;
  }

  releaseSlot(callId: CallId): void {
    const user = this.slots.get(callId);
    if (user === undefined) return;
    this.slots.delete(callId);
    this.count(user, -1);
  }

  async begin(call: BackgroundCall): Promise<void> {
    // Before it is written, or recovery could take it for one that was lost.
    this.releaseSlot(call.callId);
    this.add(call, firstPauseMs);
    try {
      await this.ports.calls.add(call);
    } catch (error) {
      this.forget(call.callId);
      throw error;
    }
  }

  async isOpen(callId: CallId): Promise<boolean> {
    return this.open.has(callId);
  }

  async look(callId: CallId): Promise<void> {
    const open = this.open.get(callId);
    if (open === undefined) return;
    // What is being asked may have been answered before there was an end to see.
    if (open.polling !== null) await open.polling;
    if (this.open.has(callId)) await this.asked(open);
  }

  async delivered(callId: CallId, delivered: DeliveredInBackground): Promise<void> {
    const open = this.open.get(callId);
    if (open === undefined) return;
    open.call = { ...open.call, delivered };
    try {
      await this.ports.calls.update(open.call);
    } catch (error) {
      this.ports.warn({ err: error, callId }, 'what a call in the background had delivered cannot be written down');
    }
  }

  async stop(callId: CallId): Promise<void> {
    const open = this.open.get(callId);
    if (open === undefined) return;
    open.stop = true;
    open.dueAt = 0;
  }

  async end(callId: CallId): Promise<void> {
    this.forget(callId);
    await this.ports.calls.remove(callId);
  }

  private add(call: BackgroundCall, inMs: number): void {
    const { clock, began } = this.ports;
    this.open.set(call.callId, {
      call,
      knownAt: clock.now(),
      missingSince: null,
      dueAt: clock.now() + inMs,
      pauseMs: firstPauseMs,
      stop: false,
      polling: null,
    });
    this.count(call.userId, 1);
    began(call);
  }

  private count(user: UserId, more: 1 | -1): void {
    const count = (this.ofUser.get(user) ?? 0) + more;
    if (count > 0) this.ofUser.set(user, count);
    else this.ofUser.delete(user);
  }

  private forget(callId: CallId): void {
    const open = this.open.get(callId);
    if (open === undefined) return;
    this.open.delete(callId);
    this.count(open.call.userId, -1);
    this.ports.ended(open.call);
  }

  /** In turn, and no faster than they answer: who was asked for goes to the end. */
  private round(): void {
    const now = this.ports.clock.now();
    const ofChannel = new Map<ChannelId, number>();
    const count = ({ call }: Open) => ofChannel.set(call.channelId, (ofChannel.get(call.channelId) ?? 0) + 1);
    for (const open of this.polled) count(open);
    for (const open of this.open.values()) {
      if (this.polled.size >= parallel) return;
      if (open.polling !== null || open.dueAt > now || (this.isServed(open) && !open.stop)) continue;
      if ((ofChannel.get(open.call.channelId) ?? 0) >= parallelOfChannel) continue;
      count(open);
      void this.asked(open);
    }
  }

  private isServed({ call }: Open): boolean {
    return this.ports.isServed(call.callId);
  }

  /** One at a time of each. Never rejects. */
  private asked(open: Open): Promise<void> {
    this.polled.add(open);
    open.polling ??= this.ask(open)
      .catch((error: unknown) => {
        this.ports.warn({ err: error, callId: open.call.callId }, 'a call in the background cannot be concluded now');
      })
      .finally(() => {
        open.polling = null;
        open.dueAt = this.ports.clock.now() + open.pauseMs;
        open.pauseMs = Math.min(open.pauseMs * growth, maxPauseMs);
        this.polled.delete(open);
        if (this.open.delete(open.call.callId)) this.open.set(open.call.callId, open);
      });
    return open.polling;
  }

  private async ask(open: Open): Promise<void> {
    const state = await this.stateOf(open);
    const end = this.endBy(open, state);
    if (end !== null) await this.conclude(open.call, end);
  }

  private async stateOf({ call, stop }: Open): Promise<BackgroundState> {
    const { ask, hasChannel, warn } = this.ports;
    if (!hasChannel(call.channelId)) return { kind: 'lost' };
    try {
      return await ask(call, stop);
    } catch (error) {
      warn({ err: error, callId: call.callId }, 'what became of a call in the background cannot be read');
      return { kind: 'unreached' };
    }
  }

  /** null: it is at no end, or at none that can be told yet. */
  private endBy(open: Open, state: BackgroundState): AtAnEnd | null {
    const { call, knownAt } = open;
    const now = this.ports.clock.now();
    const tooOld = now - call.since > maxAgeMs;
    switch (state.kind) {
      case 'running':
        open.missingSince = null;
        return tooOld ? { kind: 'lost' } : null;
      case 'unreached':
        return tooOld && now - knownAt >= minTriedMs ? { kind: 'lost' } : null;
      case 'missing':
        open.missingSince ??= now;
        return now - open.missingSince >= maxMissingMs ? { kind: 'lost' } : null;
      case 'unmeasured':
      case 'failed':
        // Its stream may be cut at any time now, and then says what it had delivered.
        return call.delivered === undefined && this.isServed(open) ? null : state;
      default:
        return state;
    }
  }

  private async conclude(call: BackgroundCall, state: AtAnEnd): Promise<void> {
    const { store, handle, settled } = this.ports;
    const stream = streams.call(call.callId);
    const reserved = (await store.readStream(stream)).find(({ event }) => event.type === 'CallReserved')?.event;
    if (reserved?.type !== 'CallReserved') return this.end(call.callId);
    const outcome = await backgroundOutcome(this.ports, call, reserved, state);
    if (outcome.type === 'CallSettled') {
      const { events } = await handle(callDecider, stream, { type: 'Settle', event: outcome });
      const at = this.ports.clock.now();
      if (events.length > 0 && outcome.kept !== undefined)
        settled(call.callId, { id: newEventId(at), at, event: outcome });
    } else await handle(callDecider, stream, { type: 'Release', event: outcome });
    await this.end(call.callId);
  }
}
