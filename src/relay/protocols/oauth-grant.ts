import { countIn, isObject, scalarText, textIn } from '../json/json.js';
import { upstreamJson } from '../json/upstream-json.js';
import type { Granted } from '../upstream/access-tokens.js';
import type { Confidential } from '../upstream/confidential.js';
import type { ControlAnswer } from '../upstream/control-client.js';
import { asUpstreamError, reportedFailure, statusOf, unreadableAnswer } from '../upstream/upstream-error.js';

/* The answer of a token endpoint (RFC 6749, sections 5.1 and 5.2): a token for a while, or why there is none. */

/** These say that the credentials were looked at, and are not good. */
const refusals = new Set([400, 401, 403]);

/** The clocks differ, as Google says it: nothing is wrong with the credentials. */
const ourClock = /check your iat and exp|reasonable timeframe/i;

interface GrantOptions {
  /** Whose token it is, in words. */
  readonly of: string;
  /** Seconds that a token is used at most, and where its end is not reported. */
  readonly maxLifeSeconds: number;
  readonly confidential: Confidential;
}

/** Some refuse with a success status. */
export function grantedToken(answer: ControlAnswer, { of, maxLifeSeconds, confidential }: GrantOptions): Granted {
  if (!answer.ok) return { ...answer, refusal: null };
  const { status, body } = answer;
  const reported = upstreamJson(body);
  if (status === 200 && isObject(reported)) {
    const token = textIn(reported.access_token);
    // It becomes a part of a header or an address.
    if (token !== null && /^[\x21-\x7e]{1,8192}$/.test(token)) {
      const seconds = Math.min(countIn(reported.expires_in) ?? maxLifeSeconds, maxLifeSeconds);
      return { ok: true, token, lifeMs: seconds * 1000 };
    }
  }
  if ((status === 200 || refusals.has(status)) && isObject(reported) && textIn(reported.error) !== null) {
    const message = `${of} was refused: ${textIn(reported.error_description) ?? scalarText(reported.error)}`;
    const code = textIn(reported.error);
    if (ourClock.test(message)) {
      const failure = { message, type: 'upstream_error', code, param: null };
      return { ok: false, refusal: asUpstreamError(failure, 502, confidential) };
    }
    const failure = { message, type: 'authentication_error', code, param: null };
    return { ok: false, refusal: asUpstreamError(failure, 401, confidential) };
  }
  if (status === 429 || status >= 500) {
    const failure = { ...reportedFailure(reported), message: 'no token is granted at the moment' };
    return { ok: false, refusal: asUpstreamError(failure, status < 600 ? status : statusOf(failure), confidential) };
  }
  return { ok: false, refusal: unreadableAnswer(`who grants tokens answered with status ${status} and no token`) };
}
