import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { BodyRoom } from '../../../../http/body-room.js';
import { refuseUpgrade } from '../../../../http/upgrade-router.js';
import type { RelayError } from '../../../contracts/errors.js';
import {
  type CallerSide,
  goodbyes,
  type TwoWayCaller,
  type TwoWayListener,
  type TwoWaySession,
} from '../../../contracts/two-way.js';
import type { CallerConnection } from '../../../delivery/caller-connection.js';
import { CallerPresence } from '../../../delivery/caller-presence.js';
import { errorMessage, openAiCaller } from '../dialect.js';
import { Receiving } from '../responses-socket/receiving.js';

/* Who opens a realtime session: answered in HTTP until the session is open, by events from then on. */

interface CallerOptions {
  readonly requestId: string;
  readonly request: IncomingMessage;
  readonly stream: Duplex;
  readonly requestIdHeaders: readonly string[];
  readonly room: BodyRoom;
  readonly address: string;
  readonly holder: number;
  /** Answers the handshake; null: it was none. */
  readonly upgrade: () => WebSocket | null;
  readonly opened: (session: TwoWaySession, side: OpenSide) => void;
}

/** As its clients look for it: the event of a failure. */
function realtimeError(error: RelayError, requestId: string): string {
  const { type, code, param } = error;
  const told = { type, code, message: errorMessage(error, requestId), param };
  return JSON.stringify({ type: 'error', event_id: `evt_${requestId}`, error: told });
}

export class RealtimeCaller extends CallerPresence implements CallerConnection {
  readonly pending = 0;
  private side: OpenSide | null = null;
  private refused = false;

  constructor(private readonly options: CallerOptions) {
    super();
    options.stream.once('close', () => this.leave());
    if (options.stream.destroyed) this.leave();
  }

  get requestId(): string {
    return this.options.requestId;
  }

  get ended(): boolean {
    return this.refused || this.gone;
  }

  readonly twoWay: TwoWayCaller = {
    open: (session) => {
      const socket = this.gone ? null : this.options.upgrade();
      if (socket === null) return null;
      this.side = new OpenSide(socket, this.options);
      this.options.opened(session, this.side);
      return this.side;
    },
  };

  refuse(error: RelayError): void {
    if (this.ended) return;
    this.refused = true;
    const { requestId, stream, requestIdHeaders } = this.options;
    if (this.side !== null) {
      this.side.tell(error);
      this.side.close(goodbyes.failure, '');
      return;
    }
    const status = `${error.status} ${STATUS_CODES[error.status] ?? ''}`;
    refuseUpgrade(stream, status, openAiCaller.errorBody(error, requestId), [
      ...requestIdHeaders.flatMap((name) => [name, requestId]),
      ...(error.status === 426 ? ['upgrade', 'websocket'] : []),
      ...(error.retryAfter === null ? [] : ['retry-after', error.retryAfter]),
    ]);
  }

  refuseInStream(error: RelayError): void {
    this.refuse(error);
  }

  breakOff(): void {
    this.disconnect();
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  /** There is nothing to be answered but the session. */
  begin(): void {}
  flush(): void {}
  end(): void {}
  write(): boolean {
    return true;
  }

  protected disconnect(): void {
    this.options.stream.destroy();
  }
}

const nobody: TwoWayListener = { message() {}, drained() {}, closed() {} };
const unpacked = { binary: false, compress: false } as const;

/** Once it is open. */
export class OpenSide implements CallerSide {
  readonly openedAt = performance.now();
  private readonly receiving: Receiving;
  private readonly stream: Duplex;
  private listener = nobody;
  private answered = true;
  private draining = false;

  constructor(
    private readonly socket: WebSocket,
    private readonly options: Pick<CallerOptions, 'stream' | 'room' | 'address' | 'holder' | 'requestId'>,
  ) {
    const { stream, room, address, holder } = options;
    this.stream = stream;
    // Nothing of a session is lost that is sent before anybody listens.
    socket.pause();
    this.receiving = new Receiving({
      ...{ socket, stream, room, address, holder },
      full: () => this.close(goodbyes.tryLater, 'too_many_request_bodies'),
      message: (bytes, isBinary, slot) => {
        slot.leave();
        this.answered = true;
        if (socket.readyState === socket.OPEN) this.listener.message(bytes, isBinary);
      },
    });
    // Malformed frames, and messages that are too large: the socket closes itself.
    socket.on('error', () => {});
    socket.on('pong', () => {
      this.answered = true;
    });
    socket.once('close', (code: number) => {
      this.receiving.end();
      this.listener.closed(code);
    });
    stream.on('drain', () => {
      if (!this.draining) return;
      this.draining = false;
      this.listener.drained();
    });
  }

  whenClosed(listener: () => void): void {
    this.socket.once('close', listener);
  }

  get unfinishedSince(): number | null {
    return this.receiving.unfinishedSince;
  }

  listen(listener: TwoWayListener): void {
    this.listener = listener;
    this.socket.resume();
  }

  tell(error: RelayError): void {
    this.send(realtimeError(error, this.options.requestId));
  }

  send(text: Buffer | string): void {
    const { socket } = this;
    if (socket.readyState === socket.OPEN) socket.send(text, unpacked);
  }

  get full(): boolean {
    if (!this.stream.writableNeedDrain) return false;
    this.draining = true;
    return true;
  }

  ping(): boolean {
    const { socket, answered } = this;
    // While nothing is read, no answer is seen.
    if (socket.isPaused) return true;
    this.answered = false;
    if (socket.readyState === socket.OPEN && !this.stream.writableNeedDrain) socket.ping();
    return answered;
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.answered = true;
    this.socket.resume();
  }

  close(code: number, reason: string): void {
    const { socket } = this;
    // It takes its leave also while it was not read.
    socket.resume();
    socket.close(code, reason);
  }

  terminate(): void {
    this.socket.terminate();
  }
}
