import type { NoRoom } from '../../http/body-room.js';
import { type AnswerStream, hasEnded, type StreamStep } from '../contracts/protocol.js';
import type { AnswerSlot } from '../upstream/answer-room.js';
import type { Progress } from '../upstream/progress-watch.js';
import type { UpstreamBody } from '../upstream/upstream.js';
import { isUnreadable, type UpstreamError } from '../upstream/upstream-error.js';
import { Lost } from '../upstream/upstream-response.js';
import type { AnswerToRead, FirstStep, Read, SilenceLimits, StreamReading } from './answer-reading.js';
import { brokenOff, noRoomHere, nothingIn } from './lost-answer.js';

/* A stream until there is something of an answer in it, and what is waited for and counted from then on. */

/** An answer that has ended waits so long for its usage, and so long for its end mark once usage was reported. */
const afterEndMs = 5_000;
const afterUsageMs = 2_000;

const taken: FirstStep = { bytes: null, finished: false };

/** What there is to be sent first. It is let go of: its bytes keep all that came with them, and a stream is open for long. */
export function takeFirst(reading: StreamReading): FirstStep {
  const { first } = reading;
  reading.first = taken;
  return first;
}

/** How long it is waited for more of a stream. */
class StreamProgress implements Progress {
  constructor(
    private readonly decoder: AnswerStream,
    private readonly patience: SilenceLimits,
  ) {}

  get progress(): number {
    return this.decoder.progress;
  }

  get patienceMs(): number {
    const { generated, usage, worksUnseen, failure = null } = this.decoder;
    const { idleMs, unseenMs } = this.patience;
    if (failure !== null) return Math.min(idleMs, afterUsageMs);
    if (!hasEnded(generated)) return worksUnseen ? Math.max(idleMs, unseenMs) : idleMs;
    const isReported = usage !== null && generated.inputOnly !== true;
    return Math.min(idleMs, isReported ? afterUsageMs : afterEndMs);
  }
}

/** It failed after it had begun, and may charge for that. What a stream begins with reports only the input. */
const worked = ({ generated, usage, unread = false }: AnswerStream): boolean =>
  unread || generated.said.length > 0 || (usage !== null && generated.inputOnly !== true);

/** What a stream keeps beyond the bytes that came last; as many may wait here for a slow caller in any case. */
export const countKept = (
  slot: Pick<AnswerSlot, 'hold'>,
  { unfinished }: Pick<AnswerStream, 'unfinished'>,
  { bytes }: Pick<StreamStep, 'bytes'>,
  came: number,
): NoRoom | null => slot.hold(Math.max(unfinished + (bytes?.length ?? 0) - came, 0));

/** null: nothing comes any more, and upstream has reported why. */
const nextOf = (
  chunks: Pick<UpstreamBody, 'next'>,
  decoder: Pick<AnswerStream, 'failure'>,
): Promise<IteratorResult<Buffer, undefined> | null> =>
  chunks.next().catch((reason: unknown) => {
    if (reason instanceof Lost && (decoder.failure ?? null) !== null) return null;
    throw reason;
  });

/**
 * Reads until there is something of an answer: till then a failure can be an honest status, or another channel. What
 * says nothing, as a role does, waits for that.
 */
export async function readFirstFrame(
  { provider, channel, caller, info, comesAsSound = false, sending, slot, patience }: AnswerToRead,
  chunks: Pick<UpstreamBody, 'next'>,
  begin: Buffer,
  staysOpen: boolean,
): Promise<Read> {
  const decoder = provider.protocol.stream({ provider, channel, caller, info, comesAsSound });
  const cancel = (): void => sending.cancel();
  const failed = (error: UpstreamError, costUnknown: boolean): Read => {
    cancel();
    return { ok: false, error, costUnknown };
  };
  let held: Buffer | null = null;
  let following = false;
  let step = decoder.push(begin);
  let came = begin.length;
  for (let ended = false; ; ) {
    if (step.error !== null) return failed(step.error, worked(decoder) || isUnreadable(step.error));
    if (step.bytes !== null) held = held === null ? step.bytes : Buffer.concat([held, step.bytes]);
    const full = countKept(slot, decoder, { bytes: held }, came);
    if (full !== null) return failed(noRoomHere(full), true);
    // Comments before the first frame are of a queue, which may be long; after it they are no excuse.
    if (!following && decoder.begun) {
      following = true;
      sending.follow(new StreamProgress(decoder, patience));
    }
    if (decoder.progress > 0) {
      sending.begun();
      const reading = { decoder, chunks, first: { bytes: held, finished: step.finished }, slot, cancel, staysOpen };
      return { ok: true, got: { kind: 'stream', reading } };
    }
    if (step.finished) {
      cancel();
      return nothingIn(decoder, caller);
    }
    if (ended) return failed(brokenOff('stream_response_error'), true);
    const next = await nextOf(chunks, decoder);
    if (next === null) return failed(decoder.failure ?? brokenOff('stream_response_error'), worked(decoder));
    ended = next.done === true;
    came = next.value?.length ?? 0;
    step = next.done ? decoder.end() : decoder.push(next.value);
  }
}
