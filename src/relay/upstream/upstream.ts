import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent, Socks5ProxyAgent } from 'undici';
import type { AddressGuard } from '../../outbound/address-guard.js';
import type { UpstreamRequest } from '../contracts/protocol.js';
import type { TwoWaySocket } from '../contracts/two-way.js';
import type { AnswerSlot } from './answer-room.js';
import { openDeadlines } from './deadlines.js';
import { hostShares } from './host-shares.js';
import { leaving } from './leaving-body.js';
import { openProgressWatch, type Progress } from './progress-watch.js';
import { skippingContinue } from './unasked-continue.js';
import { Saturated, UpstreamResponse } from './upstream-response.js';
import { WebSocketOpening } from './websocket.js';
import type { WholeJson } from './whole-json.js';

/*
 * The connection to upstream: pooled per proxy, no redirects followed, every failure a value. It stands on the client's
 * dispatch interface: promises, streams and abort signals per call would cost as much again as the call.
 */

export interface UpstreamAnswer {
  /** 101 (`switchingProtocols`): the body is the messages of a WebSocket, each as an event of a stream. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: UpstreamBody;
  /** Of a conversation that is open: its messages. Left out: it is none. */
  readonly socket?: TwoWaySocket;
}

export interface UpstreamBody {
  /** What has come since the last time, in one piece. Rejects when the connection breaks or falls silent. */
  next(): Promise<IteratorResult<Buffer, undefined>>;
  /**
   * All of it, or all that has not been taken yet. Rejects also when more than `limit` bytes come, or more than `slot`
   * has room for. `json`: what is waited for is a JSON value, which is taken for whole when nothing follows it.
   */
  whole(limit: number, slot: AnswerSlot, json?: WholeJson): Promise<Buffer>;
}

/** Nothing came back, or there was no way to ask. */
export interface Unreached {
  readonly ok: false;
  /** The host has no room for this payer. */
  readonly saturated: boolean;
  /** Its address must not be dialled. */
  readonly blocked: boolean;
  readonly timedOut: boolean;
}

export type Sent =
  | { readonly ok: true; readonly answer: UpstreamAnswer }
  /** `requestSent`: upstream may have got the request, and may charge for it. */
  | (Unreached & { readonly requestSent: boolean });

export interface Sending {
  readonly sent: Promise<Sent>;
  /** The answer has begun to come in earnest: from now on only silence is too long. */
  begun(): void;
  /** A stream is read of the answer: it is broken off as silent when it says nothing for longer than its patience. */
  follow(stream: Progress): void;
  /** There is a connection, and the request goes out on it or has gone. */
  readonly started: boolean;
  /** Ends the connection, whatever it is doing. */
  cancel(): void;
}

export interface Upstream {
  send(
    call: Pick<UpstreamRequest, 'method' | 'url' | 'headers' | 'content'>,
    /** `timeoutMs`: from now till `begun`, or till the end of the body; `idleMs`: longest silence inside the body. */
    options: { proxy: string | null; timeoutMs: number; idleMs: number; payer: number | null },
  ): Sending;
  close(): Promise<void>;
}

const connectTimeoutMs = 10_000;
const toWebSocket = { upgrade: 'websocket' } as const;

/** The connections behind a proxy's tunnel. */
const tunnelled: Agent.Options['factory'] = (origin, options: Pool.Options) =>
  new Pool(
    origin,
    typeof options.connect === 'function' ? { ...options, connect: skippingContinue(options.connect) } : options,
  );

interface Address {
  readonly origin: string;
  readonly path: string;
}

const addressIn = (url: string): Address => {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: `${pathname}${search}` };
};

/** A WebSocket is asked for where HTTP is spoken. Not remembered: such an address may be signed, and is another each time. */
const webSocketAddress = (url: string): Address => addressIn(url.replace(/^ws/, 'http'));

/** Channels ask few addresses again and again. */
function addressParser(): (url: string) => Address {
  const known = new Map<string, Address>();
  return (url) => {
    const found = known.get(url);
    if (found !== undefined) return found;
    const address = addressIn(url);
    if (known.size >= 1000) known.clear();
    known.set(url, address);
    return address;
  };
}

/** Proxies whose connections are kept. Each is known by its whole address, user and password included. */
const maxProxies = 200;

interface UpstreamOptions {
  /** Calls under way at one host; more are refused, none waits. */
  readonly connections: number;
  /** Says which addresses may be dialled; null: all. */
  readonly guard: AddressGuard | null;
}

/** What is dialled through: directly, or by a proxy. */
interface Dispatchers {
  for(proxy: string | null): Dispatcher;
  close(): Promise<void>;
}

function openDispatchers({ connections, guard }: UpstreamOptions): Dispatchers {
  const pool = { connections, pipelining: 1, keepAliveTimeout: 30_000, bodyTimeout: 0, headersTimeout: 0 };
  const plain = { timeout: connectTimeoutMs, noDelay: true };
  const dial = guard === null ? buildConnector(plain) : guard.guarded((lookup) => buildConnector({ ...plain, lookup }));
  const direct = new Agent({ ...pool, connect: skippingContinue(dial) });
  const proxied = new LRUCache<string, Dispatcher>({
    max: maxProxies,
    // What is under way through it is let end.
    dispose: (dispatcher) => void dispatcher.close().catch(() => {}),
  });

  const through = (proxy: string): Dispatcher =>
    proxy.startsWith('socks')
      ? new Socks5ProxyAgent(proxy.replace(/^socks5h:/, 'socks5:'), { ...pool, connect: dial })
      : new ProxyAgent({
          ...pool,
          uri: proxy,
          proxyTunnel: true,
          factory: tunnelled,
          clientFactory: (origin, options) => new Pool(origin, { ...options, connect: dial }),
        });

  return {
    for(proxy) {
      if (proxy === null) return direct;
      let found = proxied.get(proxy);
      if (found === undefined) {
        found = through(proxy);
        proxied.set(proxy, found);
      }
      return found;
    },
    async close() {
      await Promise.all([direct, ...proxied.values()].map((dispatcher) => dispatcher.destroy()));
    },
  };
}

/** What all requests of a process share. */
interface Connections {
  readonly guard: AddressGuard | null;
  readonly dispatchers: Dispatchers;
  readonly parse: (url: string) => Address;
  readonly deadlines: ReturnType<typeof openDeadlines>;
  readonly progressWatch: ReturnType<typeof openProgressWatch>;
  readonly shares: ReturnType<typeof hostShares>;
  readonly webSockets: Set<Socket>;
}

type Call = Parameters<Upstream['send']>[0];
type SendOptions = Parameters<Upstream['send']>[1];

/** As the client dispatches it. `opening`: of the WebSocket that is asked for; null: none is. */
function dispatched(
  { method, headers, content }: Call,
  { origin, path }: Address,
  opening: WebSocketOpening | null,
  bodyTimeout: number,
): Dispatcher.DispatchOptions & { readonly origin: string } {
  return opening === null
    ? { origin, path, method, headers, body: leaving(content), bodyTimeout }
    : { origin, path, method, headers: { ...headers, ...opening.headers }, bodyTimeout, ...toWebSocket };
}

function sendOver(shared: Connections, call: Call, { proxy, timeoutMs, idleMs, payer }: SendOptions): Sending {
  const { guard, dispatchers, parse, deadlines, progressWatch, shares, webSockets } = shared;
  const { url, content } = call;
  let host = '';
  let watch = 0;
  let following = 0;
  const begun = (): void => deadlines.giveUp(watch);
  const over = (): void => {
    begun();
    progressWatch.giveUp(following);
    if (host !== '') shares.giveBack(host, payer);
  };
  const exchange: UpstreamResponse = new UpstreamResponse(over, begun, (stream) => {
    following = progressWatch.follow(exchange, stream);
  });
  try {
    const opening =
      content.kind === 'message' || content.kind === 'conversation'
        ? new WebSocketOpening(exchange, content, idleMs, webSockets)
        : null;
    const address = opening === null ? parse(url) : webSocketAddress(url);
    const { origin } = address;
    const wanted = proxy === null ? origin : `${origin} behind ${proxy}`;
    if (!shares.take(wanted, payer)) throw new Saturated();
    host = wanted;
    watch = deadlines.watch(exchange, timeoutMs);
    const handler = opening ?? exchange;
    const options = dispatched(call, address, opening, idleMs);
    // A proxy resolves names by itself: all that can be done is to look at them first.
    if (proxy === null || guard === null) dispatchers.for(proxy).dispatch(options, handler);
    else
      guard
        .check(new URL(origin).hostname)
        .then(() => dispatchers.for(proxy).dispatch(options, handler))
        .catch((error: Error) => exchange.fail(error));
  } catch (error) {
    exchange.fail(error instanceof Error ? error : new Error(String(error)));
  }
  return exchange;
}

export function openUpstream(options: UpstreamOptions): Upstream {
  const shared: Connections = {
    guard: options.guard,
    dispatchers: openDispatchers(options),
    parse: addressParser(),
    deadlines: openDeadlines(),
    progressWatch: openProgressWatch(),
    shares: hostShares(options.connections),
    webSockets: new Set(),
  };
  return {
    send: (call, sendOptions) => sendOver(shared, call, sendOptions),
    async close() {
      for (const socket of shared.webSockets) socket.destroy();
      await shared.dispatchers.close();
    },
  };
}
