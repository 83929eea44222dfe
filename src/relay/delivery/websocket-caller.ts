import type { WebSocket } from 'ws';
import type { RelayError } from '../contracts/errors.js';
import { type Frame, type FrameReader, SseDecoder } from '../upstream/sse.js';
import type { CallerConnection } from './caller-connection.js';

/* One call of a caller behind a WebSocket: the data of each event of its stream is a text frame. */

interface WebSocketCallOptions {
  readonly requestId: string;
  readonly socket: WebSocket;
  /** A failure as the event that its caller gets, in JSON. */
  readonly errorEvent: (error: RelayError) => string;
  /** Called with each event before it is sent; nothing of its bytes is to be kept. */
  readonly sending: (event: Frame) => void;
}

/** Bytes not taken yet from which on a caller is waited for. */
const highWater = 64 * 1024;
const internalFailure = 1011;

export class WebSocketCaller implements CallerConnection, FrameReader {
  private readonly events = new SseDecoder(this);
  private readonly goneListeners = new Set<() => void>();
  private readonly drainListeners = new Set<() => void>();
  private left: boolean;
  private hasStalled = false;
  private leftAt: number | null = null;
  private over = false;
  /** Of the call; null: it was not refused. */
  refusal: RelayError | null = null;

  constructor(private readonly options: WebSocketCallOptions) {
    this.left = !this.isOpen;
    if (this.left) this.leftAt = performance.now();
  }

  get requestId(): string {
    return this.options.requestId;
  }

  get gone(): boolean {
    return this.left;
  }

  get stalled(): boolean {
    return this.hasStalled;
  }

  get goneFor(): number {
    return this.leftAt === null ? 0 : Math.round(performance.now() - this.leftAt);
  }

  get pending(): number {
    return this.left ? 0 : this.options.socket.bufferedAmount;
  }

  get ended(): boolean {
    return this.over || !this.isOpen;
  }

  private get isOpen(): boolean {
    const { socket } = this.options;
    return socket.readyState === socket.OPEN;
  }

  giveUp(): void {
    if (this.left) return;
    this.hasStalled = true;
    this.leave();
    this.options.socket.terminate();
  }

  /** The connection has gone. */
  leave(): void {
    if (this.left) return;
    this.left = true;
    this.leftAt = performance.now();
    for (const listener of [...this.goneListeners, ...this.drainListeners]) listener();
    this.goneListeners.clear();
    this.drainListeners.clear();
  }

  whenGone(listener: () => void): () => void {
    this.goneListeners.add(listener);
    return () => this.goneListeners.delete(listener);
  }

  drained(): Promise<void> {
    if (this.pending < highWater) return Promise.resolve();
    return new Promise((resolve) => void this.drainListeners.add(resolve));
  }

  /** Headers were answered when the connection was opened. */
  begin(): void {}

  flush(): void {}

  write(bytes: Buffer | string): boolean {
    this.events.push(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
    return this.pending < highWater;
  }

  end(bytes?: Buffer | string): void {
    if (bytes !== undefined) this.write(bytes);
    this.over = true;
  }

  breakOff(): void {
    this.over = true;
    this.options.socket.close(internalFailure);
  }

  refuse(error: RelayError): void {
    if (this.over) return;
    this.refusal = error;
    this.over = true;
    if (this.isOpen) this.options.socket.send(this.options.errorEvent(error));
  }

  refuseInStream(error: RelayError): void {
    this.refuse(error);
  }

  frame(bytes: Buffer, start: number, end: number, from: number): void {
    if (!this.isOpen) return;
    this.options.sending({ bytes, start, end, from });
    // Packed, each would cost more than it saves; and what packs it, a quarter of a megabyte as long as the connection is open.
    this.options.socket.send(bytes.subarray(start, end), { binary: false, compress: false }, this.sent);
  }

  private readonly sent = (): void => {
    if (this.drainListeners.size === 0 || this.pending >= highWater) return;
    for (const listener of this.drainListeners) listener();
    this.drainListeners.clear();
  };
}
