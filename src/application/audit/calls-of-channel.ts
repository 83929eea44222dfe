import type { CallFacts, CallReleased, CallReserved, CallSettled, FailedAttempt } from '../../domain/call/call.js';
import { cachedTokens, completionTokens, promptTokens } from '../../domain/call/usage.js';
import { type Position, type Recorded, streamKey } from '../../domain/events/events.js';
import { integer } from '../../domain/kernel/decimal.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import { Instant } from '../../domain/kernel/instant.js';
import { type PurchasePrice, tokenRatesOf } from '../../domain/pricing/purchase-price.js';
import { countsFrom, type TokenRates } from '../../domain/reconciliation/amounts.js';
import type { OwnCall, OwnDoubt } from '../../domain/reconciliation/sides.js';
import type { EventStore } from '../ports/storage-ports.js';
import { type CallCost, PurchaseCosts } from './purchase-costs.js';

/* What the log has of a channel's calls: those it answered, and those of which nobody knows what became of them. */

type Reserved = Pick<CallReserved, 'promptTokens' | 'maxOutputTokens'> & { readonly at: Instant };
type Found = { readonly call: OwnCall } | { readonly doubt: OwnDoubt };

interface Times {
  /** Behind which event to begin. */
  readonly after: Position;
  readonly from: Instant;
  readonly to: Instant;
}

const eventsPerPage = 2_000;
/** Calls whose outcome came later than this after the time asked for are not looked for. */
const outcomeMs = 86_400_000;
/** The most that an answer may have had where its call had no limit. */
const usualMaxOutput = 131_072;
/** In flight at once. */
const maxOpen = 200_000;

/** In the order of the log. `from` and `to` are of when a call ended, or might have. */
export async function* callsOfChannel(
  store: Pick<EventStore, 'readAll' | 'streamPages'>,
  channelId: ChannelId,
  { after, from, to }: Times,
): AsyncGenerator<Found, void, undefined> {
  const walk = new ChannelWalk(channelId);
  const costs = new PurchaseCosts(store);
  for (let position = after; ; ) {
    const page = await store.readAll(position, eventsPerPage);
    const last = page.at(-1);
    if (last === undefined) return;
    for (const recorded of page) {
      const { event, position } = recorded;
      const isOurs = event.type === 'CallSettled' && event.channelId === channelId;
      const cost = isOurs ? await costs.of({ ...event, model: event.facts.model }, position) : null;
      for (const found of walk.take(recorded, cost)) {
        const { begun, ended } = 'call' in found ? found.call : found.doubt;
        if (ended >= from && begun <= to) yield found;
      }
    }
    if (last.at > to + outcomeMs) return;
    position = last.position;
  }
}

class ChannelWalk {
  private readonly open = new Map<string, Reserved>();
  private readonly rates = new Map<PurchasePrice, TokenRates | null>();
  /** What models are called upstream, by what they were asked for by. */
  private readonly upstreamNames = new Map<string, string>();

  constructor(private readonly channelId: ChannelId) {}

  /** `cost`: of a call that this channel answered. */
  take({ event, stream, at }: Recorded, cost: CallCost | null): readonly Found[] {
    if (event.type === 'CallReserved') {
      if (this.open.size < maxOpen)
        this.open.set(stream, { promptTokens: event.promptTokens, maxOutputTokens: event.maxOutputTokens, at });
      return [];
    }
    if (event.type !== 'CallSettled' && event.type !== 'CallReleased') return [];
    const reserved = this.open.get(stream) ?? null;
    this.open.delete(stream);
    const begun = Instant(Math.min(reserved?.at ?? at, at - Math.round(Math.max(event.useTimeMs, 0))));
    const times = { requestId: streamKey(stream), begun, ended: at };
    return event.type === 'CallSettled'
      ? this.settled(event, times, { reserved, cost })
      : this.released(event, times, reserved);
  }

  private settled(
    event: CallSettled,
    times: CallTimes,
    { reserved, cost: known }: { readonly reserved: Reserved | null; readonly cost: CallCost | null },
  ): readonly Found[] {
    const doubts = this.attemptsInDoubt(event).map(() => this.doubt(event.facts, times, { reserved, calls: 1 }));
    if (event.channelId !== this.channelId) return doubts;
    const { facts, usage } = event;
    const model = event.upstreamModel ?? facts.model;
    if (this.upstreamNames.size < maxOpen) this.upstreamNames.set(facts.model, model);
    const counts = { prompt: promptTokens(usage), cached: cachedTokens(usage), output: completionTokens(usage) };
    const { cost = null, price = null } = known ?? {};
    const call: OwnCall = {
      ...{ ...times, answerId: event.answerId ?? null, model, amounts: countsFrom({ calls: 1, ...counts }, cost) },
      ...{ hasCost: cost !== null, rates: price === null ? null : this.ratesBy(price) },
    };
    const isWhole = event.outcome === 'completed' || event.usageSource === 'upstream';
    return [{ call }, ...(isWhole ? [] : [this.doubt(facts, times, { reserved, calls: 0 })]), ...doubts];
  }

  private released(event: CallReleased, times: CallTimes, reserved: Reserved | null): readonly Found[] {
    if (event.suspense <= 0) return [];
    return this.attemptsInDoubt(event).map(() => this.doubt(event.facts, times, { reserved, calls: 1 }));
  }

  /** One object for a price: calls that have the same are told by it. */
  private ratesBy(price: PurchasePrice): TokenRates | null {
    const known = this.rates.get(price);
    if (known !== undefined) return known;
    const rates = tokenRatesOf(price);
    this.rates.set(price, rates);
    return rates;
  }

  /** Attempts at this channel that it may have answered without anybody seeing it whole. */
  private attemptsInDoubt(event: CallSettled | CallReleased): readonly unknown[] {
    if (event.suspense <= 0) return [];
    const failed = (event.failedAttempts ?? []).filter(({ channelId }) => channelId === this.channelId);
    const unclear = failed.filter(isUnclear);
    if (event.type === 'CallSettled') return unclear;
    // Where nobody knows which were asked, it may have been this one.
    if (event.attempts.length === 0) return [null];
    const asked = event.attempts.filter((channelId) => channelId === this.channelId).length;
    return [...unclear, ...Array.from({ length: Math.max(asked - failed.length, 0) }, () => null)];
  }

  private doubt(
    facts: CallFacts,
    times: CallTimes,
    { reserved, calls }: { readonly reserved: Reserved | null; readonly calls: 0 | 1 },
  ): Found {
    const prompt = integer(Math.max(reserved?.promptTokens ?? 0, 0));
    const output = integer(reserved?.maxOutputTokens ?? usualMaxOutput);
    const model = this.upstreamNames.get(facts.model) ?? facts.model;
    return { doubt: { ...times, model, most: { calls: integer(calls), prompt, output } } };
  }
}

interface CallTimes {
  readonly requestId: string;
  readonly begun: Instant;
  readonly ended: Instant;
}

/** It gave no answer, or one that was not seen to its end; a refusal is clear. */
const isUnclear = ({ status }: FailedAttempt): boolean => status === null || (status >= 200 && status < 300);
