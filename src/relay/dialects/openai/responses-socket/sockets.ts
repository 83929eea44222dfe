import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Directory } from '../../../../application/ports/storage-ports.js';
import { BodyRoom } from '../../../../http/body-room.js';
import { refuseUpgrade, type UpgradeHandler } from '../../../../http/upgrade-router.js';
import { refusalFor } from '../../../contracts/errors.js';
import { readCredential } from '../credential.js';
import { openAiCaller } from '../dialect.js';
import { responsesOverSocket } from './endpoint.js';
import { stopping, switchedOff, tooMany } from './refusals.js';
import { closeCodes, type Opened, ResponsesSession, type SessionPorts } from './session.js';

/*
 * WebSockets of the Responses interface: who may open one, how many there may be, and how long they stay. Whoever gets
 * none is answered so that clients go on over HTTP.
 */

interface ResponsesSocketLimits {
  /** Open at once, of one user and of the process. */
  readonly perUser: number;
  readonly perProcess: number;
  /** Between two pings. One that does not answer until the next is gone. */
  readonly pingMs: number;
  /** Longest time without a call, and of a connection. */
  readonly quietMs: number;
  readonly ageMs: number;
  /** Longest that a message may take to come. */
  readonly messageMs: number;
}

const usualLimits = {
  perUser: 200,
  perProcess: 10_000,
  pingMs: 30_000,
  quietMs: 15 * 60_000,
  ageMs: 60 * 60_000,
} as const satisfies Partial<ResponsesSocketLimits>;

interface ResponsesSocketsOptions extends Omit<SessionPorts, 'knowsOtherIds' | 'rememberedRoom'> {
  readonly directory: Directory;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly requestIdHeaders: readonly string[];
  /** For what all connections remember, in bytes. */
  readonly rememberedBytes: number;
  readonly limits: Pick<ResponsesSocketLimits, 'messageMs'> & Partial<ResponsesSocketLimits>;
}

export interface ResponsesSockets {
  /** Where they are opened. */
  readonly paths: readonly string[];
  readonly upgrade: UpgradeHandler;
  /** No new ones from now on; those there are close once no call is under way on them. */
  finish(): void;
  /** Closes all; resolves when they are. */
  end(): Promise<void>;
}

/** What one user may have remembered, however little there is for all. */
const leastRemembered = 1024 * 1024;
/** How long clients may take to close their side. */
const farewellMs = 1_000;

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';
const queryOf = ({ url = '' }: IncomingMessage): URLSearchParams => new URLSearchParams(url.split('?')[1] ?? '');

interface Seen {
  readonly socket: WebSocket;
  /** The last ping. */
  answered: boolean;
}

class OpenSockets implements ResponsesSockets {
  readonly paths = ['/v1/responses', '/v1beta/openai/responses'];
  private readonly limits: ResponsesSocketLimits;
  private readonly server: WebSocketServer;
  private readonly ports: SessionPorts;
  private readonly sessions = new Map<ResponsesSession, Seen>();
  private readonly byUser = new Map<number, number>();
  private looking: NodeJS.Timeout | null = null;
  private finishing = false;

  constructor(private readonly options: ResponsesSocketsOptions) {
    this.limits = { ...usualLimits, ...options.limits };
    const maxPayload = options.maxMessageBytes;
    // Each message is packed by itself: what unpacks it knows nothing of those before.
    const perMessageDeflate = { clientNoContextTakeover: true, serverNoContextTakeover: true };
    this.server = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload, perMessageDeflate });
    const { directory, rememberedBytes } = options;
    const room = {
      totalBytes: rememberedBytes,
      maxBytes: leastRemembered,
      unfinishedPerAddress: Number.MAX_SAFE_INTEGER,
    };
    this.ports = {
      ...options,
      rememberedRoom: new BodyRoom(room),
      knowsOtherIds: () => {
        const { keepsUpstream, storesResponses } = directory.settings();
        return keepsUpstream || storesResponses;
      },
    };
  }

  readonly upgrade: UpgradeHandler = (request, stream, head) => void this.open(request, stream, head);

  finish(): void {
    this.finishing = true;
    for (const session of this.sessions.keys()) session.close(closeCodes.goingAway, 'the gateway is stopping');
  }

  async end(): Promise<void> {
    this.finish();
    const until = performance.now() + farewellMs;
    while (this.sessions.size > 0 && performance.now() < until) await new Promise((look) => setTimeout(look, 20));
    for (const { socket } of this.sessions.values()) socket.terminate();
  }

  /** Never rejects. */
  private async open(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const { newRequestId, addressOf, relay, requestIdHeaders, log } = this.options;
    const requestId = newRequestId();
    const names = requestIdHeaders.flatMap((name) => [name, requestId]);
    try {
      if (this.finishing) throw stopping();
      if (!this.isEnabled()) throw switchedOff();
      const ip = addressOf(request);
      const path = pathOf(request);
      const credential = readCredential(path, request.headers, queryOf(request));
      const { user } = await relay.identify({ credential, ip });
      if (stream.destroyed) return;
      if (this.sessions.size >= this.limits.perProcess || this.openOf(user.id) >= this.limits.perUser) throw tooMany();
      const opened = { stream, endpoint: responsesOverSocket(path), credential, ip, headers: request.headers };
      this.server.handleUpgrade(request, stream, head, (socket) => this.opened({ ...opened, socket, userId: user.id }));
    } catch (error) {
      const refusal = refusalFor(error, requestId, log);
      const status = `${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`;
      refuseUpgrade(stream, status, openAiCaller.errorBody(refusal, requestId), [
        ...names,
        ...(refusal.status === 426 ? ['upgrade', 'HTTP/1.1'] : []),
        ...(refusal.retryAfter === null ? [] : ['retry-after', refusal.retryAfter]),
      ]);
    }
  }

  private isEnabled(): boolean {
    const settings = this.options.directory.settings();
    return settings.responsesOverWebSocket;
  }

  private openOf(user: number): number {
    return this.byUser.get(user) ?? 0;
  }

  private opened(opened: Opened): void {
    const { socket, userId } = opened;
    const session = new ResponsesSession(this.ports, opened);
    const seen = { answered: true, socket };
    this.sessions.set(session, seen);
    this.byUser.set(userId, this.openOf(userId) + 1);
    socket.on('pong', () => {
      seen.answered = true;
    });
    // Malformed frames, and messages that are too large: the socket closes itself.
    socket.on('error', () => {});
    socket.once('close', () => {
      session.gone();
      this.sessions.delete(session);
      const left = this.openOf(userId) - 1;
      if (left > 0) this.byUser.set(userId, left);
      else this.byUser.delete(userId);
    });
    this.looking ??= setInterval(() => this.look(), this.limits.pingMs).unref();
    if (this.finishing) this.finish();
  }

  /** One timer looks at all connections, and there is none while there are none. */
  private look(): void {
    const now = performance.now();
    const { quietMs, ageMs, messageMs } = this.limits;
    const enabled = this.isEnabled();
    for (const [session, seen] of this.sessions) {
      const { socket } = seen;
      const { busy, quietSince, openedAt, unfinishedSince } = session;
      // Whoever does not read its answer is looked after elsewhere.
      if (!seen.answered && !busy) socket.terminate();
      else if (unfinishedSince !== null && now - unfinishedSince > messageMs)
        session.close(closeCodes.policy, 'the message did not come in time');
      else if (!enabled) session.close(closeCodes.goingAway, 'WebSockets are switched off here');
      else if (now - openedAt > ageMs) session.close(closeCodes.goingAway, 'the connection has been open long enough');
      else if (!busy && now - quietSince > quietMs) session.close(closeCodes.goingAway, 'nothing was asked for long');
      seen.answered = false;
      if (socket.readyState === socket.OPEN) socket.ping();
    }
    if (this.sessions.size > 0 || this.looking === null) return;
    clearInterval(this.looking);
    this.looking = null;
  }
}

export const openResponsesSockets = (options: ResponsesSocketsOptions): ResponsesSockets => new OpenSockets(options);
