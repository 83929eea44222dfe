import { repeatAfter } from '../../concurrency/at-intervals.js';
import { type CallReleased, type CallReserved, type CallSettled, callDecider } from '../../domain/call/call.js';
import { conclude, costOf, type Release, type Settlement } from '../../domain/call/call-conclusion.js';
import { type NewEvent, streams } from '../../domain/events/events.js';
import type { CallId, ChannelId, UserId } from '../../domain/kernel/ids.js';
import { zero } from '../../domain/kernel/quota.js';
import { newEventId } from '../event-id.js';
import type { Handle } from '../handle.js';
import type {
  AskBackgroundCall,
  BackgroundCall,
  BackgroundCallStore,
  BackgroundCalls,
  BackgroundState,
} from '../ports/background-call-ports.js';
import type { Clock, EventStore, QuotaGate } from '../ports/storage-ports.js';

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
  /** Called with each that is known from now on, and with the settlement of one. */
  readonly began: (call: BackgroundCall) => void;
  readonly settled: (callId: CallId, settled: NewEvent<CallSettled>) => void;
  readonly warn: (facts: object, message: string) => void;
}

const lookMs = 500;
const firstPauseMs = 2_000;
const maxPauseMs = 60_000;
const growth = 1.5;
/** What nobody has answered for by then has an unknown outcome. */
const maxAgeMs = 24 * 60 * 60_000;
const maxOfUser = 100;
const maxOfAll = 20_000;
const parallel = 8;

interface Open {
  readonly call: BackgroundCall;
  dueAt: number;
  pauseMs: number;
  stop: boolean;
  /** null: nobody asks now. */
  polling: Promise<void> | null;
}

export class OpenBackgroundCalls implements BackgroundCalls {
  private readonly open = new Map<CallId, Open>();
  private readonly ofUser = new Map<UserId, number>();

  constructor(private readonly ports: BackgroundCallPorts) {}

  /** Those that an earlier process has left. */
  async load(): Promise<void> {
    for (const call of await this.ports.calls.all()) this.add(call, 0);
  }

  /** Starts polling. The result stops it. */
  start(): () => Promise<void> {
    return repeatAfter(lookMs, async () => {
      await this.round();
      return lookMs;
    });
  }

  has(callId: CallId): boolean {
    return this.open.has(callId);
  }

  async mayBegin(user: UserId): Promise<boolean> {
    return (this.ofUser.get(user) ?? 0) < maxOfUser && this.open.size < maxOfAll;
  }

  async begin(call: BackgroundCall): Promise<void> {
    // Before it is written, or recovery could take it for one that was lost.
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
      dueAt: clock.now() + inMs,
      pauseMs: firstPauseMs,
      stop: false,
      polling: null,
    });
    this.ofUser.set(call.userId, (this.ofUser.get(call.userId) ?? 0) + 1);
    began(call);
  }

  private forget(callId: CallId): void {
    const open = this.open.get(callId);
    if (open === undefined) return;
    this.open.delete(callId);
    const { userId } = open.call;
    const left = (this.ofUser.get(userId) ?? 1) - 1;
    if (left > 0) this.ofUser.set(userId, left);
    else this.ofUser.delete(userId);
  }

  private async round(): Promise<void> {
    const now = this.ports.clock.now();
    const due: Open[] = [];
    for (const open of this.open.values()) {
      if (open.dueAt > now || (this.ports.isServed(open.call.callId) && !open.stop)) continue;
      due.push(open);
      if (due.length === parallel) break;
    }
    await Promise.all(due.map((open) => this.asked(open)));
  }

  /** One at a time of each. Never rejects. */
  private asked(open: Open): Promise<void> {
    open.polling ??= this.ask(open)
      .catch((error: unknown) => {
        this.ports.warn({ err: error, callId: open.call.callId }, 'a call in the background cannot be concluded now');
      })
      .finally(() => {
        open.polling = null;
        open.dueAt = this.ports.clock.now() + open.pauseMs;
        open.pauseMs = Math.min(open.pauseMs * growth, maxPauseMs);
      });
    return open.polling;
  }

  private async ask({ call, stop }: Open): Promise<void> {
    const { ask, hasChannel, clock } = this.ports;
    const state: BackgroundState = hasChannel(call.channelId) ? await ask(call, stop) : { kind: 'lost' };
    const tooOld = clock.now() - call.since > maxAgeMs;
    if (state.kind === 'running' || state.kind === 'unreached') {
      if (tooOld) await this.conclude(call, { kind: 'lost' });
      return;
    }
    await this.conclude(call, state);
  }

  private async conclude(
    call: BackgroundCall,
    state: Exclude<BackgroundState, { readonly kind: 'running' | 'unreached' }>,
  ): Promise<void> {
    const { store, handle, settled } = this.ports;
    const stream = streams.call(call.callId);
    const reserved = (await store.readStream(stream)).find(({ event }) => event.type === 'CallReserved')?.event;
    if (reserved?.type !== 'CallReserved') return this.end(call.callId);
    const outcome = await this.outcomeOf(call, reserved, state);
    if (outcome.type === 'CallSettled') {
      const { events } = await handle(callDecider, stream, { type: 'Settle', event: outcome });
      const at = this.ports.clock.now();
      if (events.length > 0 && outcome.kept !== undefined)
        settled(call.callId, { id: newEventId(at), at, event: outcome });
    } else await handle(callDecider, stream, { type: 'Release', event: outcome });
    await this.end(call.callId);
  }

  private async outcomeOf(
    { callId, channelId, since, course }: BackgroundCall,
    reserved: CallReserved,
    state: Exclude<BackgroundState, { readonly kind: 'running' | 'unreached' }>,
  ): Promise<CallSettled | CallReleased> {
    const { gate, clock } = this.ports;
    const useTimeMs = Math.max(0, clock.now() - since);
    const { attempts, failedAttempts, unknownAttempts, upstreamModel } = course;
    switch (state.kind) {
      case 'lost': {
        const progress = { attempts, unknownAttempts, upstreamModel, delivered: null };
        return conclude(reserved, { kind: 'lost', seen: { kind: 'sent', progress }, useTimeMs, payable: zero });
      }
      case 'failed': {
        const returned = { status: null, code: state.code };
        const release: Release = {
          kind: 'upstream-failed',
          ...returned,
          attempts,
          failedAttempts,
          useTimeMs,
          unknownAttempts,
        };
        return conclude(reserved, release);
      }
      case 'ended': {
        const settlement: Settlement = { ...course, ...state.used, channelId, useTimeMs, firstTokenMs: null };
        const cost = costOf(reserved, settlement);
        const { userId, apiKeyId } = reserved.facts;
        const payable = await gate.chargeLeft({ callId, userId, apiKeyId, reserved: reserved.reserved }, cost);
        return conclude(reserved, { kind: 'settled', settlement, cost, payable });
      }
    }
  }
}
