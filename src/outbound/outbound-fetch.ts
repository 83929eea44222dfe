import type { Outbound, OutboundFailure, OutboundRequest } from '../application/ports/outbound-ports.js';

/* The guarded client in the shape of `fetch`, for libraries that bring their own requests. */

/** There is no answer. */
export class OutboundError extends Error {
  constructor(readonly reason: OutboundFailure) {
    super(`The request was not answered: ${reason}`);
    this.name = 'OutboundError';
  }
}

interface OutboundInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams | Uint8Array | ArrayBuffer | null;
}

/** Of a Response these must have no body. */
const withoutBody = new Set([204, 205, 304]);

const bodyIn = (body: OutboundInit['body']): string | Uint8Array | undefined => {
  if (body === null || body === undefined) return undefined;
  if (body instanceof URLSearchParams) return body.toString();
  return body instanceof ArrayBuffer ? new Uint8Array(body) : body;
};

/** Follows no redirects unless `limits` say so. Rejects with OutboundError. */
export const outboundFetch =
  (outbound: Outbound, limits: Pick<OutboundRequest, 'timeoutMs' | 'maxBytes' | 'redirects' | 'allowHttp'>) =>
  async (url: string, { method = 'GET', headers = {}, body }: OutboundInit = {}): Promise<Response> => {
    if (method !== 'GET' && method !== 'POST') throw new TypeError(`${method} is not sent from here`);
    const sent = bodyIn(body);
    const lowered = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const answer = await outbound.fetch({
      ...limits,
      url,
      method,
      headers: body instanceof URLSearchParams ? { 'content-type': formType, ...lowered } : lowered,
      ...(sent === undefined ? {} : { body: sent }),
    });
    if (!answer.ok) throw new OutboundError(answer.reason);
    // It has been decoded, and is as long as it is now.
    const passed = [...answer.headers].filter(([name]) => !/^content-(encoding|length)$/.test(name));
    const content = withoutBody.has(answer.status) ? null : new Uint8Array(answer.body);
    return new Response(content, { status: answer.status, headers: new Headers(passed) });
  };

const formType = 'application/x-www-form-urlencoded;charset=UTF-8';
