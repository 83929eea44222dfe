import { BodyRoom, type BodySlot, type NoRoom } from '../../http/body-room.js';

/*
 * How much of answers the process holds at once. A whole one must be here before it can be judged, booked and sent, and
 * while it is read as JSON it is in memory several times. A stream is passed on as it comes, but for a frame that has not
 * ended, or that waits for its caller.
 */

const mebibyte = 1024 * 1024;

/** Longest whole answer, where the heap allows it: an answer of 2,048 vectors of 3,072 numbers in text fits. */
const maxAnswer = 64 * mebibyte;
/** Of the heap: the text, what is read from it and what is written of that may take two bytes for each byte, each. */
const maxShare = 8;
/** Of the heap, for all of them. One payer gets a quarter of that. */
const heldShare = 4;
/** Up to here an answer counts for nothing, as as much of a stream may wait for a slow caller. */
const uncounted = mebibyte;

export class AnswerRoom {
  /** Bytes of one answer, unpacked. */
  readonly maxBytes: number;
  private readonly room: BodyRoom;

  constructor(heapLimit: number) {
    this.maxBytes = Math.floor(Math.min(maxAnswer, heapLimit / maxShare));
    const totalBytes = Math.max(heapLimit / heldShare, this.maxBytes);
    this.room = new BodyRoom({
      totalBytes,
      maxBytes: this.maxBytes,
      unfinishedPerAddress: Number.POSITIVE_INFINITY,
    });
  }

  /** Bytes counted now. */
  get bytes(): number {
    return this.room.bytes;
  }

  /** For the answers of one call, one after the other. `holder`: whose share they take. */
  newSlot(holder: number | string): AnswerSlot {
    return new AnswerSlot(this.room, holder);
  }
}

export class AnswerSlot {
  private came = 0;
  private slot: BodySlot | null = null;

  constructor(
    private readonly room: BodyRoom,
    private readonly holder: number | string,
  ) {}

  /** Counts bytes that have come of the answer. */
  take(bytes: number): NoRoom | null {
    this.came += bytes;
    if (this.came <= uncounted) return null;
    if (this.slot !== null) return this.slot.take(bytes);
    this.slot = this.room.enter('', this.holder);
    return this.slot === null ? 'process' : this.slot.take(this.came);
  }

  /** Counts what is kept of a stream now. */
  hold(bytes: number): NoRoom | null {
    if (bytes < this.came) this.leave();
    return this.take(bytes - this.came);
  }

  /** Nothing of it is held any more; another may come. */
  leave(): void {
    this.came = 0;
    this.slot?.leave();
    this.slot = null;
  }
}
