import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { Receiver, Sender } from 'ws';
import type { TwoWayListener, TwoWaySocket } from '../contracts/two-way.js';
import { maxLineLength } from './sse.js';
import type { UpstreamResponse } from './upstream-response.js';

/*
 * A WebSocket to upstream that stays open for messages both ways. Its exchange knows of it as long as it is: the place at
 * the host is held on to, and who calls the exchange off ends it.
 */

/** What one message may be cut into, and how many reads of the socket it may take. */
const bounds = { maxPayload: maxLineLength, maxFragments: 16 * 1024, maxBufferedChunks: 256 * 1024 };
/** How long the other side has to take our goodbye. */
const closingMs = 1000;

const nobody: TwoWayListener = { message() {}, drained() {}, closed() {} };
const asText = { binary: false, compress: false, fin: true, mask: true } as const;

export class UpstreamSocket implements TwoWaySocket, Dispatcher.DispatchController {
  aborted = false;
  paused = true;
  reason: Error | null = null;
  private over = false;
  private heard = true;
  private draining = false;
  private listener = nobody;
  private readonly receiver = new Receiver(bounds);
  private readonly sender: Sender;

  constructor(
    private readonly socket: Socket,
    private readonly exchange: UpstreamResponse,
  ) {
    this.sender = new Sender(socket);
    this.receiver.on('message', (data: Buffer, isBinary: boolean) => {
      if (!this.over) this.listener.message(data, isBinary);
    });
    this.receiver.on('ping', (data: Buffer) => this.ponged(data));
    this.receiver.on('conclude', (code: number) => this.end(code));
    this.receiver.on('error', () => this.end(null));
    socket.on('error', () => this.end(null));
    socket.on('end', () => this.end(null));
    socket.on('close', () => this.closed());
    socket.on('drain', () => this.drained());
    socket.on('timeout', () => socket.destroy());
  }

  begin(headers: IncomingHttpHeaders): void {
    const { exchange, socket } = this;
    exchange.steer(this);
    // It has been called off by now.
    if (this.over) return;
    socket.setTimeout(0);
    socket.pause();
    // It stays open for as long as its caller wants.
    exchange.begun();
    exchange.switched(headers, this);
  }

  listen(listener: TwoWayListener): void {
    this.listener = listener;
    if (this.over) {
      listener.closed(null);
      return;
    }
    this.socket.on('data', (piece: Buffer) => {
      this.heard = true;
      if (!this.over) this.receiver.write(piece);
    });
    this.resume();
  }

  send(text: Buffer | string): void {
    if (!this.over) this.sender.send(text, asText);
  }

  get full(): boolean {
    const { socket } = this;
    if (this.over || !socket.writableNeedDrain) return false;
    this.draining = true;
    return true;
  }

  ping(): boolean {
    // While nothing is read, nothing is heard.
    const { heard } = this;
    if (this.over || this.paused) return true;
    this.heard = false;
    if (!this.socket.writableNeedDrain) this.sender.ping('', true);
    return heard;
  }

  pause(): void {
    this.paused = true;
    this.socket.pause();
  }

  resume(): void {
    this.paused = false;
    this.heard = true;
    if (!this.over) this.socket.resume();
  }

  close(code: number, reason: string): void {
    if (this.over) return;
    this.over = true;
    const { socket, sender } = this;
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.setTimeout(closingMs);
    socket.resume();
    sender.close(code, reason, true);
    socket.destroySoon();
  }

  terminate(): void {
    this.over = true;
    this.socket.destroy();
  }

  /** Called off by its exchange. */
  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.end(null);
  }

  /** Only as long as the other side takes what we send: it may ask without end. */
  private ponged(data: Buffer): void {
    if (!this.over && !this.socket.writableNeedDrain) this.sender.pong(data, true);
  }

  private drained(): void {
    if (!this.draining) return;
    this.draining = false;
    this.listener.drained();
  }

  /** By the other side: our own goodbye follows. */
  private end(code: number | null): void {
    if (this.over) return;
    if (code === null) this.terminate();
    else this.close(1000, '');
    this.listener.closed(code);
  }

  private closed(): void {
    this.end(null);
    this.exchange.onResponseEnd();
  }
}
