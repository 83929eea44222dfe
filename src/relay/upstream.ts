import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type Dispatcher, ProxyAgent, request, Socks5ProxyAgent } from 'undici';

/* The connection to upstream: pooled per proxy, no redirects followed, every failure a value. */

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Dispatcher.ResponseData['body'];
}

export type Sent =
  | { readonly ok: true; readonly answer: UpstreamAnswer }
  /** `requestSent`: upstream may have got the request, and may charge for it. */
  | { readonly ok: false; readonly timedOut: boolean; readonly requestSent: boolean };

export interface Upstream {
  send(
    call: { url: string; headers: Record<string, string>; body: string | Buffer },
    /** `timeoutMs`: till the headers; `idleMs`: longest silence inside the body. */
    options: { proxy: string | null; timeoutMs: number; idleMs: number; signal: AbortSignal },
  ): Promise<Sent>;
  close(): Promise<void>;
}

const connectTimeoutMs = 10_000;

/** Failures before a single byte of the request can have left. */
const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export function openUpstream(): Upstream {
  const pool = { connections: 512, pipelining: 1, keepAliveTimeout: 30_000, bodyTimeout: 0, headersTimeout: 0 };
  const direct = new Agent({ ...pool, connect: { timeout: connectTimeoutMs, noDelay: true } });
  const proxied = new Map<string, Dispatcher>();

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
    async send({ url, headers, body }, { proxy, timeoutMs, idleMs, signal }) {
      try {
        const answer = await request(url, {
          method: 'POST',
          headers,
          body,
          dispatcher: dispatcherFor(proxy),
          headersTimeout: timeoutMs,
          bodyTimeout: idleMs,
          signal,
        });
        return { ok: true, answer: { status: answer.statusCode, headers: answer.headers, body: answer.body } };
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : '';
        return {
          ok: false,
          timedOut: code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_CONNECT_TIMEOUT',
          requestSent: !neverConnected.has(code),
        };
      }
    },
    async close() {
      await Promise.all([direct, ...proxied.values()].map((dispatcher) => dispatcher.destroy()));
    },
  };
}

/** A whole body. Rejects when the connection breaks or more than `limit` bytes come. */
export async function readBody(body: AsyncIterable<Buffer>, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw new Error('the upstream answer is too large');
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}
