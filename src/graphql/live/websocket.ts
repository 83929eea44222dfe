import type { IncomingMessage } from 'node:http';
import { CloseCode, handleProtocols, type Server as Protocol } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { rateLimitKey } from '../../http/client-network.js';
import { refuseUpgrade, type UpgradeHandler, type UpgradeRouter } from '../../http/upgrade-router.js';
import { TokenBucket } from '../../rate-limit/token-bucket.js';
import type { ErrorLog } from '../server/errors.js';

/* The transport under graphql-ws, on the port everything else is served on. */

export interface SocketExtra {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
}

interface WebSocketOptions {
  readonly path: string;
  /** Whether a page of this origin may connect. */
  readonly isWelcome: (request: IncomingMessage) => boolean;
  /** The client's address, as far as it can be known. */
  readonly addressOf: (request: IncomingMessage) => string;
  readonly protocol: Protocol<SocketExtra>;
  readonly log: ErrorLog;
}

/** A document is a tenth of it; the rest is for variables. */
const maxMessageBytes = 64 * 1024;
/** Sockets of one client network: a house full of people, each with a few tabs. */
const maxPerNetwork = 200;
/** Begin and end of every subscription a page may have, a few times over, and pings. */
const messagesPerMinute = 1200;
const policyViolation = 1008;
/** A peer that does not answer a ping until the next one is gone. */
const pingEveryMs = 12_000;
/** How long peers may take to close when the server stops. */
const farewellMs = 1_000;

/** Resolves when every socket is closed and all that ran for it has ended. */
export function serveWebSocket(upgrades: UpgradeRouter, options: WebSocketOptions): () => Promise<void> {
  const { path, isWelcome, addressOf, log } = options;
  const open = new Map<string, number>();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, handleProtocols });
  const closing = new Set<Promise<void>>();

  const onUpgrade: UpgradeHandler = (request, stream, head) => {
    if (!isWelcome(request)) {
      refuseUpgrade(stream, '403 Forbidden');
      return;
    }
    const network = rateLimitKey(addressOf(request));
    const others = open.get(network) ?? 0;
    if (others >= maxPerNetwork) {
      refuseUpgrade(stream, '429 Too Many Requests');
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      open.set(network, (open.get(network) ?? 0) + 1);
      socket.once('close', () => {
        const left = (open.get(network) ?? 0) - 1;
        if (left > 0) open.set(network, left);
        else open.delete(network);
      });
      const ended = serveSocket(socket, request, options);
      closing.add(ended);
      void ended.finally(() => closing.delete(ended));
    });
  };
  sockets.on('error', (error) => log.error({ error: String(error) }, 'the WebSocket server failed'));
  const disown = upgrades.own(path, onUpgrade);

  return async () => {
    disown();
    for (const socket of sockets.clients) socket.close(1001, 'Going away');
    const impatience = setTimeout(() => {
      for (const socket of sockets.clients) socket.terminate();
    }, farewellMs);
    await new Promise<void>((closed) => sockets.close(() => closed()));
    clearTimeout(impatience);
    await Promise.all(closing);
  };
}

/** What is left to clients to send; the library takes anything else for a fault of its own. */
const ofClients: ReadonlySet<unknown> = new Set(['connection_init', 'ping', 'pong', 'subscribe', 'complete']);

function isOfClients(message: string): boolean {
  try {
    return ofClients.has((JSON.parse(message) as { type?: unknown } | null)?.type);
  } catch {
    return false;
  }
}

/** Resolves when the socket is closed and its subscriptions have ended. */
function serveSocket(socket: WebSocket, request: IncomingMessage, { protocol, log }: WebSocketOptions): Promise<void> {
  const fail = (error: unknown): void => {
    log.error({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, 'a WebSocket failed');
    socket.close(CloseCode.InternalServerError, 'internal-error');
  };

  const messages = new TokenBucket({ perMinute: messagesPerMinute }, { now: Date.now });
  /** False for whoever sends without end, for whom the connection ends. */
  const isPatient = (): boolean => {
    const patient = messages.spend(1) === null;
    if (!patient) socket.close(policyViolation, 'Too many messages');
    return patient;
  };
  socket.on('ping', isPatient);

  let answered = true;
  const pinging = setInterval(() => {
    if (!answered) socket.terminate();
    answered = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, pingEveryMs);
  socket.on('pong', () => {
    answered = true;
  });

  const onClosed = protocol.opened(
    {
      protocol: socket.protocol,
      // Resolved once the bytes are on their way: a reader that does not read stops its subscriptions from producing.
      send: (data) =>
        new Promise((resolve) => {
          if (socket.readyState !== socket.OPEN) return resolve();
          // A send that fails is followed by `close`, which ends everything.
          socket.send(data, () => resolve());
        }),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (receive) =>
        socket.on('message', (data, isBinary) => {
          if (!isPatient()) return;
          const message = String(data);
          if (isBinary || !isOfClients(message)) socket.close(CloseCode.BadRequest, 'Invalid message received');
          else void receive(message).catch(fail);
        }),
    },
    { socket, request },
  );

  return new Promise((resolve) => {
    // Malformed frames and lost peers: the socket closes itself.
    socket.on('error', () => {});
    socket.once('close', (code, reason) => {
      clearInterval(pinging);
      onClosed(code, String(reason)).catch(fail).finally(resolve);
    });
  });
}
