import { type Position, type Recorded, streamKey } from '../events/events.js';
import { ChannelId, type UserId } from '../kernel/ids.js';
import type { Instant } from '../kernel/instant.js';
import type { ChannelEvent } from './channel.js';

/* What happened to a channel, for whoever watches them. */

export type ChannelChangeKind = 'added' | 'edited' | 'enabled' | 'disabled' | 'tested' | 'balance-told' | 'removed';

export interface ChannelChange {
  readonly position: Position;
  readonly kind: ChannelChangeKind;
  readonly at: Instant;
  readonly channelId: ChannelId;
  /** Whose order it was; null: the gateway's own doing, or it is not recorded. */
  readonly by: UserId | null;
  /** Switched by the gateway itself; null: not switched. */
  readonly automatic: boolean | null;
  /** Why it was switched off, or why its test failed. */
  readonly reason: string | null;
  /** Whether the test passed; null: no test. */
  readonly ok: boolean | null;
  /** Of the test; null: no test. */
  readonly responseTimeMs: number | null;
  /** Of the account, decimal text, as its provider reported it; null: this is not about it. */
  readonly balance: string | null;
}

const kinds: Readonly<Record<ChannelEvent['type'], ChannelChangeKind>> = {
  ChannelAdded: 'added',
  ChannelEdited: 'edited',
  ChannelEnabled: 'enabled',
  ChannelDisabled: 'disabled',
  ChannelTested: 'tested',
  ChannelBalanceObserved: 'balance-told',
  ChannelRemoved: 'removed',
};

const isOfChannel = (event: Recorded['event']): event is ChannelEvent => Object.hasOwn(kinds, event.type);

/** null: it happened to something else. */
export function channelChangeIn({ event, stream, at, position }: Recorded): ChannelChange | null {
  if (!isOfChannel(event)) return null;
  const change: ChannelChange = {
    position,
    kind: kinds[event.type],
    at,
    channelId: ChannelId(streamKey(stream)),
    by: ('by' in event ? event.by : undefined) ?? null,
    automatic: null,
    reason: null,
    ok: null,
    responseTimeMs: null,
    balance: null,
  };
  switch (event.type) {
    case 'ChannelEnabled':
      return { ...change, automatic: event.automatic };
    case 'ChannelDisabled':
      return { ...change, automatic: event.automatic, reason: event.reason };
    case 'ChannelTested':
      return { ...change, ok: event.ok, responseTimeMs: event.responseTimeMs, reason: event.error };
    case 'ChannelBalanceObserved':
      return { ...change, balance: event.balance };
    default:
      return change;
  }
}
