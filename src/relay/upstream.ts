import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from 'undici';

/*
 * The connection to upstream: pooled per proxy, no redirects followed, every failure a value. It stands on the client's
 * dispatch interface: promises, streams and abort signals per call would cost as much again as the call.
 */

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: UpstreamBody;
}

export interface UpstreamBody {
  /** What has come since the last time, in one piece. Rejects when the connection breaks or falls silent. */
  next(): Promise<IteratorResult<Buffer, undefined>>;
  /** All of it. Rejects also when more than `limit` bytes come. */
  whole(limit: number): Promise<Buffer>;
}

export type Sent =
  | { readonly ok: true; readonly answer: UpstreamAnswer }
  /** `requestSent`: upstream may have got the request, and may charge for it. */
  | { readonly ok: false; readonly timedOut: boolean; readonly requestSent: boolean };

export interface Sending {
  readonly sent: Promise<Sent>;
  /** Ends the connection, whatever it is doing. */
  cancel(): void;
}

export interface Upstream {
  send(
    call: { url: string; headers: Record<string, string>; body: string | Buffer },
    /** `timeoutMs`: till the headers; `idleMs`: longest silence inside the body. */
    options: { proxy: string | null; timeoutMs: number; idleMs: number },
  ): Sending;
  close(): Promise<void>;
}

const connectTimeoutMs = 10_000;
/** Bytes that may wait here for a slow caller before upstream is told to wait. */
const mostBuffered = 1024 * 1024;

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

/** Upstream said nothing for too long in the middle of a body. */
export const isSilence = (error: unknown): boolean => codeOf(error) === 'UND_ERR_BODY_TIMEOUT';

class Exchange implements Dispatcher.DispatchHandler, UpstreamBody, Sending {
  readonly sent: Promise<Sent>;
  private settle: (sent: Sent) => void = () => {};
  private controller: Dispatcher.DispatchController | null = null;
  private cancelled = false;
  private pieces: Buffer[] = [];
  private buffered = 0;
  private ended = false;
  private failure: Error | null = null;
  /** Bytes that must be here before the reader is woken; it always is at the end. */
  private enough = 1;
  private wake: (() => void) | null = null;

  constructor() {
    this.sent = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.cancelled) controller.abort(new Error('cancelled'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200) this.settle({ ok: true, answer: { status, headers, body: this } });
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.buffered += piece.length;
    this.pieces.push(piece);
    if (this.buffered < this.enough) return;
    if (this.buffered > mostBuffered) controller.pause();
    this.rouse();
  }

  onResponseEnd(): void {
    this.ended = true;
    this.rouse();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  fail(error: Error): void {
    this.failure = error;
    const code = codeOf(error);
    this.settle({
      ok: false,
      timedOut: code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_CONNECT_TIMEOUT',
      requestSent: !neverConnected.has(code),
    });
    this.rouse();
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    // One read of the socket brings many pieces. The reader goes on after the last of them and takes them together:
    // a write for each would cost the caller's connection more than everything else.
    if (this.buffered === 0) await this.woken();
    if (this.buffered > 0) return { done: false, value: this.taken() };
    if (this.failure !== null) throw this.failure;
    return { done: true, value: undefined };
  }

  async whole(limit: number): Promise<Buffer> {
    this.enough = limit + 1;
    await this.woken();
    if (this.buffered > limit) {
      this.cancel();
      throw new Error('the upstream answer is too large');
    }
    if (this.failure !== null) throw this.failure;
    return this.taken();
  }

  cancel(): void {
    this.cancelled = true;
    this.controller?.abort(new Error('cancelled'));
  }

  /** Resolves when there is enough, or when no more will come. */
  private async woken(): Promise<void> {
    if (this.buffered >= this.enough || this.ended || this.failure !== null) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
  }

  private rouse(): void {
    this.wake?.();
    this.wake = null;
  }

  private taken(): Buffer {
    const [first] = this.pieces;
    const all = this.pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.pieces);
    this.pieces = [];
    this.buffered = 0;
    if (this.controller?.paused) this.controller.resume();
    return all;
  }
}

/** Channels ask few addresses again and again. */
function addressParser(): (url: string) => { origin: string; path: string } {
  const known = new Map<string, { origin: string; path: string }>();
  return (url) => {
    const found = known.get(url);
    if (found !== undefined) return found;
    const { origin, pathname, search } = new URL(url);
    const address = { origin, path: `${pathname}${search}` };
    if (known.size >= 1000) known.clear();
    known.set(url, address);
    return address;
  };
}

export function openUpstream(): Upstream {
  const pool = { connections: 512, pipelining: 1, keepAliveTimeout: 30_000, bodyTimeout: 0, headersTimeout: 0 };
  const direct = new Agent({ ...pool, connect: { timeout: connectTimeoutMs, noDelay: true } });
  const proxied = new Map<string, Dispatcher>();
  const parse = addressParser();

  const dispatcherFor = (proxy: string | null): Dispatcher => {
    if (proxy === null) return direct;
    let found = proxied.get(proxy);
    if (found === undefined) {
      found = proxy.startsWith('socks')
        ? new Socks5ProxyAgent(proxy.replace(/^socks5h:/, 'socks5:'), pool)
        : new ProxyAgent({ ...pool, uri: proxy, proxyTunnel: true });
      proxied.set(proxy, found);
    }
    return found;
  };

  return {
    send({ url, headers, body }, { proxy, timeoutMs, idleMs }) {
      const exchange = new Exchange();
      try {
        dispatcherFor(proxy).dispatch(
          { ...parse(url), method: 'POST', headers, body, headersTimeout: timeoutMs, bodyTimeout: idleMs },
          exchange,
        );
      } catch (error) {
        exchange.fail(error instanceof Error ? error : new Error(String(error)));
      }
      return exchange;
    },
    async close() {
      await Promise.all([direct, ...proxied.values()].map((dispatcher) => dispatcher.destroy()));
    },
  };
}
