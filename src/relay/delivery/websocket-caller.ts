import type { WebSocket } from 'ws';
import type { RelayError } from '../contracts/errors.js';
import { type Frame, type FrameReader, SseDecoder } from '../upstream/sse.js';
import type { CallerConnection } from './caller-connection.js';
import { CallerPresence } from './caller-presence.js';

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

export class WebSocketCaller extends CallerPresence implements CallerConnection, FrameReader {
  private readonly events = new SseDecoder(this);
  private readonly drainListeners = new Set<() => void>();
  private over = false;
  /** Of the call; null: it was not refused. */
  refusal: RelayError | null = null;

  constructor(private readonly options: WebSocketCallOptions) {
    super();
    if (!this.isOpen) this.leave();
  }

  get requestId(): string {
    return this.options.requestId;
  }

  get pending(): number {
    return this.gone ? 0 : this.options.socket.bufferedAmount;
  }

  get ended(): boolean {
    return this.over || !this.isOpen;
  }

  private get isOpen(): boolean {
    const { socket } = this.options;
    return socket.readyState === socket.OPEN;
  }

  protected disconnect(): void {
    this.options.socket.terminate();
  }

  drained(): Promise<void> {
    if (this.pending < highWater) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.drainListeners.delete(done);
        forget();
        resolve();
      };
      const forget = this.whenGone(done);
      this.drainListeners.add(done);
    });
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
    for (const listener of [...this.drainListeners]) listener();
  };
}
