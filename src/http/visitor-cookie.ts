import { randomBytes } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';

/*
 * Knows a browser again before anybody has signed in with it: what it has begun, or shown, is tied to it. The value
 * proves nothing else, and only its hash is stored anywhere.
 */

const name = 'visitor';
const lifetimeSeconds = 24 * 60 * 60;
const bytes = 24;
const shape = /^[\w-]{32}$/;

/** Nobody finds one by trying. */
export const newVisitor = (): string => randomBytes(bytes).toString('base64url');

/** The visitor in a `Cookie` header; null: none, or not one of ours. */
export function visitorIn(cookies: string | undefined): string | null {
  const visitor = cookies === undefined ? undefined : parseCookie(cookies)[name];
  return visitor !== undefined && shape.test(visitor) ? visitor : null;
}

const cookie = (value: string, maxAge: number, secure: boolean): string =>
  stringifySetCookie({ name, value, maxAge, path: '/', httpOnly: true, sameSite: 'strict', secure });

/** The `Set-Cookie` value for a browser. `secure`: the request came over TLS. */
export const visitorCookie = (visitor: string, secure: boolean): string => cookie(visitor, lifetimeSeconds, secure);

/** The `Set-Cookie` value that makes the browser forget it. */
export const forgottenVisitorCookie = (secure: boolean): string => cookie('', 0, secure);
