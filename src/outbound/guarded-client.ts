import { rootCertificates } from 'node:tls';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { Agent, buildConnector, type Dispatcher, request as send } from 'undici';
import type {
  Outbound,
  OutboundAnswer,
  OutboundFailure,
  OutboundRequest,
} from '../application/ports/outbound-ports.js';
import { urlIn } from '../domain/kernel/address.js';
import { addressGuard, BlockedAddress, type Resolve } from './address-guard.js';

/*
 * The one client for addresses that somebody typed: webhooks, providers of identity, workers. The guard is always on, at
 * every hop; time, answer and decompression are bounded, so a hostile server costs a little memory for a little while.
 */

export interface OutboundOptions {
  /** Addresses and CIDR ranges that may be dialled although they are not public. */
  readonly allowedNetworks: readonly string[];
  readonly allowHttp: boolean;
  readonly resolve: Resolve;
  /** Authorities that are trusted beside those Node knows; PEM. */
  readonly authorities?: readonly string[];
}

export interface GuardedClient extends Outbound {
  close(): Promise<void>;
}

const connectTimeoutMs = 10_000;
/** At one origin at a time; more wait, within their own time. */
const connectionsPerOrigin = 16;

/** The answer, or why there is none. Thrown inside only, so that each step can end the exchange. */
class Refused extends Error {
  constructor(readonly reason: OutboundFailure) {
    super(reason);
  }
}

const tooLarge = new Set(['ERR_BUFFER_TOO_LARGE', 'UND_ERR_HEADERS_OVERFLOW']);

function reasonOf(error: unknown, signal: AbortSignal): OutboundFailure {
  if (error instanceof Refused) return error.reason;
  if (error instanceof BlockedAddress) return 'blocked';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (signal.aborted || code === 'UND_ERR_CONNECT_TIMEOUT') return 'timed-out';
  if (tooLarge.has(code)) return 'too-large';
  return code.startsWith('Z_') || code.startsWith('ERR__ERROR_') ? 'unreadable' : 'unreachable';
}

function addressIn(text: string, base?: URL): URL {
  const url = urlIn(text, base);
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === null || !isHttp || url.username !== '' || url.password !== '') throw new Refused('address-invalid');
  return url;
}

/** What another origin than the one it was meant for may know. */
const forAnyone = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'user-agent']);

/** One request of an exchange: the first, or one a redirect asks for. */
interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

const lowered = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const redirecting = new Set([301, 302, 303, 307, 308]);

function redirected(hop: Hop, status: number, location: string): Hop {
  const url = addressIn(location, hop.url);
  if (hop.url.protocol === 'https:' && url.protocol !== 'https:') throw new Refused('redirect-refused');
  const elsewhere = url.origin !== hop.url.origin;
  const repeats = status === 307 || status === 308;
  // What was posted was for the first address alone: it may hold what proves who sends it.
  if (repeats && elsewhere && hop.body !== null) throw new Refused('redirect-refused');
  const keepsBody = repeats && hop.body !== null;
  const headers = Object.entries(hop.headers).filter(
    ([name]) => (!elsewhere || forAnyone.has(name)) && (keepsBody || name !== 'content-type'),
  );
  return {
    url,
    method: repeats ? hop.method : 'GET',
    headers: Object.fromEntries(headers),
    body: keepsBody ? hop.body : null,
  };
}

/** Ends the connection instead of reading what comes. */
const leave = (body: Dispatcher.ResponseData['body']): void => {
  body.on('error', () => {}).destroy();
};

async function bodyOf(body: Dispatcher.ResponseData['body'], max: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > max) throw new Refused('too-large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

const decoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

/** None is asked for; some servers encode all the same. */
async function decoded(bytes: Buffer, coding: string, max: number): Promise<Buffer> {
  const name = coding.trim().toLowerCase();
  if (name === '' || name === 'identity' || bytes.length === 0) return bytes;
  if (!Object.hasOwn(decoders, name)) throw new Refused('unreadable');
  return decoders[name as keyof typeof decoders](bytes, { maxOutputLength: max });
}

const flattened = (headers: Dispatcher.ResponseData['headers']): Map<string, string> => {
  const flat = new Map<string, string>();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) flat.set(name, Array.isArray(value) ? value.join(', ') : value);
  return flat;
};

export function openGuardedClient(options: OutboundOptions): GuardedClient {
  const { allowedNetworks, allowHttp, resolve, authorities } = options;
  const guard = addressGuard(allowedNetworks, resolve);
  const dispatcher = new Agent({
    connections: connectionsPerOrigin,
    // One exchange per connection: what a server sends unasked must not be taken for the next answer.
    pipelining: 0,
    connect: guard.guarded((lookup) => buildConnector({ timeout: connectTimeoutMs, lookup, ...trusting(authorities) })),
  });

  const exchange = async (request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> => {
    const http = allowHttp || request.allowHttp === true;
    let hop: Hop = {
      url: addressIn(request.url),
      method: request.method ?? 'GET',
      headers: { 'user-agent': 'tallygate', 'accept-encoding': 'identity', ...lowered(request.headers ?? {}) },
      body: request.body ?? null,
    };
    for (let left = request.redirects ?? 0; ; left--) {
      if (hop.url.protocol === 'http:' && !http) throw new Refused('http-refused');
      const { method, body } = hop;
      const answer = await send(hop.url, { dispatcher, signal, method, headers: hop.headers, body });
      const headers = flattened(answer.headers);
      const location = headers.get('location');
      if (request.redirects && redirecting.has(answer.statusCode) && location !== undefined) {
        leave(answer.body);
        if (left === 0) throw new Refused('redirect-refused');
        hop = redirected(hop, answer.statusCode, location);
        continue;
      }
      if (request.maxBytes === 0) {
        leave(answer.body);
        return { ok: true, status: answer.statusCode, headers, body: Buffer.alloc(0) };
      }
      const encoded = await bodyOf(answer.body, request.maxBytes);
      const whole = await decoded(encoded, headers.get('content-encoding') ?? '', request.maxBytes);
      return { ok: true, status: answer.statusCode, headers, body: whole };
    }
  };

  return {
    async fetch(request) {
      const signal = AbortSignal.timeout(request.timeoutMs);
      try {
        return await exchange(request, signal);
      } catch (error) {
        return { ok: false, reason: reasonOf(error, signal) };
      }
    },
    close: () => dispatcher.destroy(),
  };
}

const trusting = (authorities: readonly string[] | undefined) =>
  authorities === undefined ? {} : { ca: [...rootCertificates, ...authorities] };
