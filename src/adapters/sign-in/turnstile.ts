import type { HumanVerifier, Outbound } from '../../application/ports/outbound-ports.js';

/* Cloudflare Turnstile: what its widget gave a browser is shown to its server, together with the operator's secret. */

interface TurnstileOptions {
  /** Of its `siteverify`. */
  readonly url: string;
  /** null: it is not set. */
  readonly secret: () => Promise<string | null>;
  readonly outbound: Outbound;
}

const timeoutMs = 5000;
const maxBytes = 64 * 1024;

/** What the server says; null: not what it ever says. */
function verdictIn(body: Buffer): boolean | null {
  try {
    const { success } = JSON.parse(body.toString('utf8')) as { readonly success?: unknown };
    return typeof success === 'boolean' ? success : null;
  } catch {
    return null;
  }
}

export const turnstile = ({ url, secret, outbound }: TurnstileOptions): HumanVerifier => ({
  async verify(answer, address) {
    const shown = await secret();
    if (shown === null) return 'unavailable';
    const answered = await outbound.fetch({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({ secret: shown, response: answer, remoteip: address }).toString(),
      timeoutMs,
      maxBytes,
      // The operator has said where it is, in the environment.
      allowHttp: true,
    });
    if (!answered.ok || answered.status >= 500) return 'unavailable';
    const verdict = verdictIn(answered.body);
    if (verdict === null) return 'unavailable';
    return verdict ? 'human' : 'refused';
  },
});
