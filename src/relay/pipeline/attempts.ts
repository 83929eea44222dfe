import type { ChannelView } from '../../application/ports/storage-ports.js';
import type { FailedAttempt } from '../../domain/call/call.js';
import { failureCodeOf } from '../../domain/call/call-texts.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { AttemptFailure } from './attempt-failure.js';
import type { Course } from './call-context.js';
import { byAffinity, byChance, type Candidate, chooseChannel } from './channels/routing.js';
import type { Affinity } from './channels/session-affinity.js';

/** A channel that may serve a call. */
interface OpenChannel extends Candidate {
  readonly channel: ChannelView;
}

/** A call that belongs to a conversation: the channels that have failed it of late are asked after the others. */
export interface Preferred {
  readonly affinity: Affinity;
  readonly left: ReadonlySet<ChannelId>;
}

const openChannel = (channel: ChannelView): OpenChannel => ({
  id: channel.id,
  priority: channel.settings.priority,
  weight: channel.settings.weight,
  channel,
});

/** The channels that a call may still ask, and what became of those that it has asked. Alive only while it asks. */
export class Attempts {
  /** Of the last attempt that counts; null: none has failed yet. */
  failure: AttemptFailure | null = null;
  unknownAttempts = 0;
  private tried: readonly ChannelId[] = [];
  private readonly failures: FailedAttempt[] = [];
  private readonly failed = new Set<ChannelId>();
  private open: readonly OpenChannel[];

  constructor(
    channels: readonly ChannelView[],
    private begun: Instant,
    private readonly preferred: Preferred | null,
  ) {
    this.open = channels.map(openChannel);
  }

  get count(): number {
    return this.tried.length;
  }

  /** The channel to ask next; null: none is left. */
  choose(): ChannelView | null {
    const { preferred } = this;
    const draw = preferred === null ? byChance(Math.random()) : byAffinity(preferred.affinity, preferred.left);
    return chooseChannel(this.open, this.tried.length, this.failed, draw)?.channel ?? null;
  }

  /** The channels that have been asked, this one included. */
  with(channel: ChannelId): readonly ChannelId[] {
    return [...this.tried, channel];
  }

  /** It was no attempt. That the request suits nobody else is more use to the caller than that there is no room. */
  passOver(channel: ChannelId, failure: AttemptFailure): void {
    if (failure.passedOver === 'unsuited') this.failure ??= failure;
    this.open = this.open.filter(({ id }) => id !== channel);
  }

  fail(channel: ChannelId, failure: AttemptFailure, now: Instant): void {
    this.tried = this.with(channel);
    this.failed.add(channel);
    this.failure = failure;
    if (failure.costUnknown) this.unknownAttempts++;
    // What was given up because its caller had left has not failed.
    if (failure.abandoned === null)
      this.failures.push({
        channelId: channel,
        status: failure.answered,
        code: failureCodeOf(failure.forOperator.code),
        durationMs: Math.max(0, now - this.begun),
      });
    this.begun = now;
  }

  course(tried = this.tried): Course {
    const { failures, unknownAttempts } = this;
    return { tried, failed: failures.length === 0 ? undefined : failures, unknownAttempts };
  }
}
