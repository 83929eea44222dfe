import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { NoRoom } from '../../http/body-room.js';
import { BlockedAddress } from '../../outbound/address-guard.js';
import type { TwoWaySocket } from '../contracts/two-way.js';
import type { AnswerSlot } from './answer-room.js';
import { ChunkBuffer } from './chunk-buffer.js';
import { type ContentDecoder, contentDecoder } from './content-coding.js';
import type { Progress, Reader } from './progress-watch.js';
import type { Sending, Sent, UpstreamBody } from './upstream.js';
import type { WholeJson } from './whole-json.js';

/** Bytes that may wait here for a slow caller before upstream is paused. */
const maxBuffered = 1024 * 1024;

/** Failures before a single byte of the request can have left. */
const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_INVALID_ARG',
]);

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** The answer, or the rest of it, will not come. Whatever else is thrown while it is read is a mistake of ours. */
export class Lost extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Lost';
  }
}

const lostTo = (failure: Error): Lost =>
  failure instanceof Lost ? failure : new Lost(failure.message, { cause: failure });

/** What upstream sent for too long meant nothing. */
class Silent extends Lost {
  constructor() {
    super('the upstream fell silent');
    this.name = 'Silent';
  }
}

/** Upstream said nothing for too long in the middle of a body. */
export const isSilence = (lost: Lost): boolean =>
  lost instanceof Silent || codeOf(lost.cause) === 'UND_ERR_BODY_TIMEOUT';

/** What was waited for has not come in time. */
export class Overdue extends Lost {
  constructor() {
    super('the upstream did not answer in time');
    this.name = 'Overdue';
  }
}

/** The host has no room for another call of this payer. */
export class Saturated extends Error {
  constructor() {
    super('the upstream is saturated');
    this.name = 'Saturated';
  }
}

/** The body cannot be read, whatever is in it. The message is for the caller. */
export class UnreadableBody extends Lost {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableBody';
  }
}

/** There is no room here for what comes. */
export class NoRoomForAnswer extends Lost {
  constructor(readonly why: NoRoom) {
    super('there is no room for the answer');
    this.name = 'NoRoomForAnswer';
  }
}

/** The status of an answer that is the messages of a WebSocket, and nothing else is. */
export const switchingProtocols = 101;

/** One request and its answer, on the client's dispatch interface. */
export class UpstreamResponse implements Dispatcher.DispatchHandler, UpstreamBody, Sending, Reader {
  readonly sent: Promise<Sent>;
  started = false;
  private settle: (sent: Sent) => void = () => {};
  private controller: Dispatcher.DispatchController | null = null;
  private cancelled = false;
  private decoder: ContentDecoder | null = null;
  private readonly pieces = new ChunkBuffer();
  private ended = false;
  private failure: Error | null = null;
  private over = false;
  /** Bytes that must be here before the reader is woken; it always is at the end. */
  private enough = 1;
  private wake: (() => void) | null = null;
  /** What comes is counted here when all of it is wanted. */
  private slot: AnswerSlot | null = null;
  /** All of it is to be one JSON value. */
  private json: WholeJson | null = null;

  /**
   * `onOver` is called once, when the connection is free again or gone; `onBegun` when the deadline no longer counts;
   * `onFollow` of a stream that is read of it.
   */
  constructor(
    private readonly onOver: () => void,
    private readonly onBegun: () => void,
    private readonly onFollow: (stream: Progress) => void = () => {},
  ) {
    this.sent = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.started = true;
    this.steer(controller);
  }

  /** From now on this is what can be stopped; nothing of the request need have left. */
  steer(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.cancelled) controller.abort(this.failure ?? new Error('cancelled'));
  }

  /** The request goes out over a WebSocket, and what comes from now on are its messages; those of `socket` come there. */
  switched(headers: IncomingHttpHeaders, socket?: TwoWaySocket): void {
    this.started = true;
    const answer = { status: switchingProtocols, headers, body: this };
    this.settle({ ok: true, answer: socket === undefined ? answer : { ...answer, socket } });
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    // Sixteen buffers that would stay as long as the answer takes.
    controller.rawHeaders = null;
    this.settle({ ok: true, answer: { status, headers, body: this } });
    const coding = headers['content-encoding'];
    if (coding !== undefined) this.decode(controller, String(coding));
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.failure !== null) return;
    if (this.decoder !== null) {
      if (!this.decoder.write(piece)) controller.pause();
      return;
    }
    if (this.keep(piece)) controller.pause();
  }

  onResponseEnd(): void {
    this.finish();
    if (this.decoder !== null) this.decoder.end();
    else this.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const { json } = this;
    // Of a value that has come whole nothing is missing but its end mark.
    if (json !== null && this.failure === null && !this.cancelled && json.caughtUp()) this.takeForWhole(json);
    else this.fail(error);
  }

  fail(error: Error): void {
    this.finish();
    this.failure ??= error;
    const code = codeOf(this.failure);
    this.settle({
      ok: false,
      saturated: this.failure instanceof Saturated,
      blocked: this.failure instanceof BlockedAddress,
      timedOut:
        this.failure instanceof Overdue || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_CONNECT_TIMEOUT',
      requestSent: this.started && !neverConnected.has(code),
    });
    this.decoder?.destroy();
    this.rouse();
  }

  /** Too late: the reader gets an error, and the connection is ended. */
  expire(): void {
    this.abort(new Overdue());
  }

  begun(): void {
    this.onBegun();
  }

  follow(stream: Progress): void {
    if (!this.over) this.onFollow(stream);
  }

  get waiting(): boolean {
    return this.wake !== null;
  }

  fallSilent(): void {
    if (this.json?.complete) this.takeForWhole(this.json);
    else this.abort(new Silent());
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    // One read of the socket brings many pieces. The reader goes on after the last of them and takes them together:
    // a write for each would cost the caller's connection more than everything else.
    const waiting = this.pieces.length === 0 ? this.woken() : null;
    if (waiting !== null) await waiting;
    if (this.pieces.length > 0) return { done: false, value: this.taken() };
    if (this.failure !== null) throw lostTo(this.failure);
    return { done: true, value: undefined };
  }

  async whole(limit: number, slot: AnswerSlot, json?: WholeJson): Promise<Buffer> {
    this.enough = limit + 1;
    this.slot = slot;
    this.count(this.pieces.length);
    this.flow();
    if (json !== undefined && !this.ended) {
      this.json = json;
      json.source = this.pieces;
      this.follow(json);
    }
    const waiting = this.woken();
    if (waiting !== null) await waiting;
    if (this.pieces.length > limit) {
      this.cancel();
      throw new UnreadableBody('the upstream answer is too large');
    }
    if (json?.taken) return this.pieces.take();
    if (this.failure !== null) throw lostTo(this.failure);
    return this.taken();
  }

  cancel(): void {
    this.cancelled = true;
    const reason = new Error('cancelled');
    this.controller?.abort(reason);
    // The client reports nothing more of an answer that has come whole, and what is still packed comes out no more.
    if (this.decoder !== null && !this.ended) this.fail(reason);
  }

  /** The value is whole, and upstream says nothing more and does not end: the connection is of no further use. */
  private takeForWhole(json: WholeJson): void {
    json.taken = true;
    this.ended = true;
    this.cancel();
    this.decoder?.destroy();
    this.finish();
    this.rouse();
  }

  /** Ends it for a reason that the reader gets to know. */
  private abort(reason: Error): void {
    this.failure ??= reason;
    this.cancel();
    this.fail(reason);
  }

  private decode(controller: Dispatcher.DispatchController, coding: string): void {
    const decoder = contentDecoder(coding, {
      onPiece: (piece) => this.keep(piece),
      onDrained: () => controller.resume(),
      onEnd: () => this.end(),
      onError: (message) => this.abort(new UnreadableBody(message)),
    });
    if (decoder === null) return;
    this.decoder = decoder;
  }

  /** True when enough is here and no more should come for now. */
  private keep(piece: Buffer): boolean {
    // What is longer than is taken at all is refused as such, and not for want of room.
    if (this.pieces.length + piece.length < this.enough && !this.count(piece.length)) return true;
    this.pieces.add(piece);
    if (this.pieces.length < this.enough) return false;
    this.rouse();
    return this.pieces.length > maxBuffered;
  }

  private count(bytes: number): boolean {
    const full = this.slot?.take(bytes) ?? null;
    if (full === null) return true;
    this.pieces.clear();
    this.abort(new NoRoomForAnswer(full));
    return false;
  }

  private end(): void {
    this.ended = true;
    this.rouse();
  }

  private finish(): void {
    if (this.over) return;
    this.over = true;
    this.onOver();
  }

  /** Resolves when there is enough, or when no more will come; null: that is so already. */
  private woken(): Promise<void> | null {
    if (this.pieces.length >= this.enough || this.ended || this.failure !== null) return null;
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  private rouse(): void {
    this.wake?.();
    this.wake = null;
  }

  private taken(): Buffer {
    const all = this.pieces.take();
    this.flow();
    return all;
  }

  private flow(): void {
    if (this.decoder !== null) this.decoder.resume();
    else if (this.controller?.paused) this.controller.resume();
  }
}
