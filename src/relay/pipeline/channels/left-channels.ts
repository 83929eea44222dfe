import { growingLru } from '../../../data-structures/growing-lru.js';
import type { ChannelId } from '../../../domain/kernel/ids.js';
import type { Instant } from '../../../domain/kernel/instant.js';
import type { Affinity } from './session-affinity.js';

/** How long a conversation stays away from a channel that has failed it. */
const awayMs = 60_000;
const maxConversations = 4_096;
/** Of one conversation; a call that fails tries no more. */
const maxChannels = 32;

const none: ReadonlySet<ChannelId> = new Set();

interface Left {
  readonly channels: ReadonlySet<ChannelId>;
  readonly until: Instant;
}

/**
 * Channels that have failed a conversation of late. Without it every call of that conversation would ask the same broken
 * channel first. A conversation's own: nobody's failures move the calls of others.
 */
export class LeftChannels {
  private readonly conversations = growingLru<string, Left>(maxConversations);

  by(affinity: Affinity, now: Instant): ReadonlySet<ChannelId> {
    if (this.conversations.size === 0) return none;
    const left = this.conversations.get(keyOf(affinity));
    return left === undefined || left.until <= now ? none : left.channels;
  }

  add(affinity: Affinity, channel: ChannelId, now: Instant): void {
    const before = [...this.by(affinity, now)].slice(-(maxChannels - 1));
    const until = (now + awayMs) as Instant;
    this.conversations.set(keyOf(affinity), { channels: new Set([...before, channel]), until });
  }
}

const keyOf = ({ high, low }: Affinity): string => `${high}.${low}`;
