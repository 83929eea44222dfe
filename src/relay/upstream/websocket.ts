import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, Writable } from 'node:stream';
import { type Dispatcher, errors } from 'undici';
import { Receiver, Sender } from 'ws';
import type { RequestContent } from './request-content.js';
import { eventOf, maxLineLength } from './sse.js';
import { Lost, UnreadableBody, type UpstreamResponse } from './upstream-response.js';
import { UpstreamSocket } from './upstream-socket.js';

/*
 * A WebSocket to upstream: opened for one call. Either one message is sent and what comes back is its answer, or it is
 * handed on for messages both ways. The client opens it as it sends any request, so that pools, proxies, TLS and the
 * address guard are the same; `ws` knows the frames. No extension is offered: nothing comes packed.
 */

declare module 'ws' {
  interface ReceiverOptions {
    readonly maxBufferedChunks: number;
    readonly maxFragments: number;
    /** In bytes. */
    readonly maxPayload: number;
  }
  /** Emits `message`, `ping`, `conclude` (the other side closes) and `error`. */
  export class Receiver extends Writable {
    constructor(options: ReceiverOptions);
  }
  export class Sender {
    constructor(socket: Duplex);
    send(
      text: string | Buffer,
      options: { readonly binary: false; readonly compress: false; readonly fin: true; readonly mask: true },
    ): void;
    ping(data: string, mask: true): void;
    pong(data: Buffer, mask: true): void;
    close(code: number, reason: string | undefined, mask: true): void;
  }
}

/** What one message may be cut into, and how many reads of the socket it may take. */
const bounds = { maxPayload: maxLineLength, maxFragments: 16 * 1024, maxBufferedChunks: 256 * 1024 };

/** How long the other side has to take our goodbye. */
const closingMs = 1000;
const normalClosure = 1000;

/** RFC 6455, 1.3. */
const acceptOf = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');

/** The handshake. Whatever it is answered with instead of a WebSocket is the answer to the call. */
export class WebSocketOpening implements Dispatcher.DispatchHandler {
  private readonly key = randomBytes(16).toString('base64');

  /** `open`: the sockets that are, for whoever must end them all. */
  constructor(
    private readonly exchange: UpstreamResponse,
    private readonly content: Extract<RequestContent, { kind: 'message' | 'conversation' }>,
    private readonly idleMs: number,
    private readonly open: Set<Socket>,
  ) {}

  get headers(): Record<string, string> {
    const { content } = this;
    return {
      'sec-websocket-version': '13',
      'sec-websocket-key': this.key,
      ...(content.kind === 'conversation' && { 'sec-websocket-protocol': content.protocol }),
    };
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.exchange.steer(controller);
  }

  onRequestUpgrade(_: Dispatcher.DispatchController, _status: number, headers: IncomingHttpHeaders, on: Duplex): void {
    // All that the client connects with are sockets.
    const socket = on as Socket;
    const { content, exchange, idleMs } = this;
    const { 'sec-websocket-extensions': extensions, 'sec-websocket-protocol': protocol } = headers;
    const isAsked = content.kind === 'conversation' && protocol === content.protocol;
    const unasked = extensions !== undefined || (protocol !== undefined && !isAsked);
    if (headers['sec-websocket-accept'] !== acceptOf(this.key) || unasked) {
      socket.on('error', () => {}).destroy();
      exchange.fail(new Lost('the upstream answered with something else than the WebSocket it was asked for'));
      return;
    }
    this.open.add(socket);
    socket.once('close', () => this.open.delete(socket));
    if (content.kind === 'conversation') new UpstreamSocket(socket, exchange).begin(headers);
    else new OpenWebSocket(socket, exchange, idleMs).begin(headers, content.text);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200 && status <= 299) {
      const reason = new Lost('the upstream does not speak WebSocket');
      this.exchange.fail(reason);
      controller.abort(reason);
    } else this.exchange.onResponseStart(controller, status, headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.exchange.onResponseData(controller, piece);
  }

  onResponseEnd(): void {
    this.exchange.onResponseEnd();
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.exchange.onResponseError(controller, error);
  }
}

/** An open one, handed to the exchange in the place of a connection of the client. */
class OpenWebSocket implements Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  private over = false;
  private readonly receiver = new Receiver(bounds);
  private readonly sender: Sender;

  constructor(
    private readonly socket: Socket,
    private readonly exchange: UpstreamResponse,
    private readonly idleMs: number,
  ) {
    this.sender = new Sender(socket);
    this.receiver.on('message', (data: Buffer) => this.message(data));
    this.receiver.on('ping', (data: Buffer) => this.ping(data));
    this.receiver.on('conclude', () => this.concluded());
    this.receiver.on('error', (error: Error) => this.breakOff(misread(error)));
    socket.on('data', (piece: Buffer) => void (this.over || this.receiver.write(piece)));
    socket.on('end', () => this.breakOff(new Lost('the upstream broke off the connection')));
    socket.on('error', (error) => this.breakOff(error));
    socket.on('close', () => this.breakOff(new Lost('the upstream broke off the connection')));
    socket.on('timeout', () => this.silent());
  }

  begin(headers: IncomingHttpHeaders, message: string): void {
    const { exchange, socket, sender, idleMs } = this;
    exchange.steer(this);
    // It has been called off by now.
    if (this.over) return;
    exchange.switched(headers);
    socket.setTimeout(idleMs);
    sender.send(message, { binary: false, compress: false, fin: true, mask: true });
    socket.resume();
  }

  pause(): void {
    this.paused = true;
    this.socket.pause();
  }

  resume(): void {
    this.paused = false;
    if (this.over) return;
    // The silence begins anew: what came while nobody read was not seen.
    this.socket.setTimeout(this.idleMs);
    this.socket.resume();
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.breakOff(reason);
  }

  private message(data: Buffer): void {
    if (!this.over && data.length > 0) this.exchange.onResponseData(this, eventOf(data));
  }

  /** Only as long as the other side takes what we send: it may ask without end. */
  private ping(data: Buffer): void {
    if (!this.over && !this.socket.writableNeedDrain) this.sender.pong(data, true);
  }

  private silent(): void {
    if (this.over) this.socket.destroy();
    else if (!this.paused) this.breakOff(new errors.BodyTimeoutError());
  }

  private concluded(): void {
    if (this.over) return;
    this.leave();
    this.exchange.onResponseEnd();
  }

  private breakOff(reason: Error): void {
    if (this.over) return;
    this.leave();
    this.exchange.onResponseError(this, reason);
  }

  /** Says goodbye to an other side that takes it, and waits for nothing but that. */
  private leave(): void {
    const { socket, sender } = this;
    this.over = true;
    if (!socket.writable || socket.writableNeedDrain) {
      socket.destroy();
      return;
    }
    socket.setTimeout(closingMs);
    sender.close(normalClosure, undefined, true);
    socket.destroySoon();
  }
}

/** What was wrong with the frames, as far as it says something about the answer. */
const misread = (error: Error): Lost =>
  'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
    ? new UnreadableBody('the upstream sent a message that is too large')
    : new Lost('the upstream sent what no WebSocket does', { cause: error });
