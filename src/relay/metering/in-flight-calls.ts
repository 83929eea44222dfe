import type { CallProgressNotes } from '../../application/ports/storage-ports.js';
import { atIntervals } from '../../concurrency/at-intervals.js';
import { CompactingMap } from '../../data-structures/compacting-map.js';
import type { CallProgress } from '../../domain/call/call-progress.js';
import { beginning, type Position } from '../../domain/events/events.js';
import type { CallId, ChannelId } from '../../domain/kernel/ids.js';
import type { SeenText } from '../text/seen-text.js';
import type { Sending } from '../upstream/upstream.js';

/*
 * The calls of this node between reservation and outcome. The relay writes into them as it goes, which costs it an
 * assignment; a timer looks at all of them and has noted what a successor would have to know. Calls that are over
 * before it looks twice, which is most of them, are never noted.
 */

const lookEveryMs = 250;
/** A call has been seen at least once, and noted if it had gone upstream, when this many looks have passed. */
const looksUntilNoted = 4;
/** A stream is noted again when it has grown by a quarter: as often as it doubles, and no oftener than need be. */
const growth = 1.25;

export class InFlightCall {
  attempts: readonly ChannelId[] = [];
  unknownAttempts = 0;
  upstreamModel: string | null = null;
  sending: Pick<Sending, 'started'> | null = null;
  /** Once it has begun to reach its caller. */
  stream: { readonly generated: { readonly said: Pick<SeenText, 'length' | 'roughTokens'> } } | null = null;
  firstTokenMs = 0;
  seen = false;
  /** Whether there is a note to take back. */
  noted = false;
  private notedAttempts = -1;
  private notedLength = -1;
  private outputTokens = 0;

  /** Attempts that upstream may charge for, if nothing more is learned of the one under way. */
  get costlyAttempts(): number {
    return this.unknownAttempts + (this.sending?.started ? 1 : 0);
  }

  /** null: nothing worth noting, or nothing new. */
  progress(): CallProgress | null {
    if (this.costlyAttempts === 0) return null;
    const { stream, attempts, unknownAttempts, upstreamModel } = this;
    const said = stream?.generated.said ?? null;
    const grown = said !== null && (this.notedLength < 0 || said.length > this.notedLength * growth);
    if (attempts.length === this.notedAttempts && !grown) return null;
    if (grown) {
      this.outputTokens = said.roughTokens();
      this.notedLength = said.length;
    }
    this.notedAttempts = attempts.length;
    const { firstTokenMs } = this;
    const delivered = stream === null ? null : { firstTokenMs, outputTokens: Math.ceil(this.outputTokens) };
    return { attempts: [...attempts], unknownAttempts, upstreamModel, delivered };
  }

  /** What was noted has not been stored after all. */
  forgetNote(): void {
    this.notedAttempts = -1;
  }
}

export interface InFlightCalls {
  /** From before its reservation is written. */
  begin(callId: CallId): InFlightCall;
  /** Its reservation has its place in the log; it may have gone upstream, and may even have ended, before. */
  reserved(callId: CallId, position: Position): void;
  /** Its outcome is durable, or it was never reserved. */
  end(callId: CallId): void;
  /** Nobody serves it any more, though it has no outcome: recovery will find it, and its note. */
  lose(callId: CallId): void;
  has(callId: CallId): boolean;
  /** Starts noting. The result stops it. */
  startNoting(notes: Pick<CallProgressNotes, 'note'>, warn: (error: unknown) => void): () => Promise<void>;
}

export function inFlightCalls(): InFlightCalls {
  const calls = new CompactingMap<CallId, InFlightCall>();
  let ended: CallId[] = [];
  let newest: Position = beginning;
  /** `newest` at the last looks, oldest first. */
  const newestAt: Position[] = [];
  let noted: Position = beginning;

  const look = async (notes: Pick<CallProgressNotes, 'note'>): Promise<void> => {
    newestAt.push(newest);
    const due = newestAt.length > looksUntilNoted ? (newestAt.shift() ?? noted) : noted;
    const progressed: { callId: CallId; progress: CallProgress }[] = [];
    for (const [callId, call] of calls) {
      if (call.seen) {
        const progress = call.progress();
        if (progress !== null) {
          progressed.push({ callId, progress });
          call.noted = true;
        }
      }
      call.seen = true;
    }
    if (progressed.length === 0 && ended.length === 0 && due === noted) return;
    const ending = ended;
    ended = [];
    try {
      await notes.note(due, progressed, ending);
      noted = due;
    } catch (error) {
      ended = [...ending, ...ended];
      for (const { callId } of progressed) calls.get(callId)?.forgetNote();
      throw error;
    }
  };

  return {
    begin(callId) {
      const call = new InFlightCall();
      calls.set(callId, call);
      return call;
    },
    reserved(_callId, position) {
      if (position > newest) newest = position;
    },
    end(callId) {
      if (calls.get(callId)?.noted) ended.push(callId);
      calls.delete(callId);
    },
    lose(callId) {
      calls.delete(callId);
    },
    has: (callId) => calls.has(callId),
    startNoting(notes, warn) {
      const stop = atIntervals(lookEveryMs, () => look(notes).catch(warn));
      return async () => {
        await stop();
        // What has ended since the last look shall leave no note behind.
        await look(notes).catch(warn);
      };
    },
  };
}
