import { parseCookie, stringifySetCookie } from 'cookie';

/* The cookie that carries a session's token: one for every face. */

const name = 'session';
const lifetimeSeconds = 30 * 24 * 60 * 60;

/** `secure`: the request came over TLS. A browser would drop such a cookie over plain http, and the sign-in with it. */
const cookie = (value: string, maxAge: number, secure: boolean): string =>
  stringifySetCookie({ name, value, maxAge, path: '/', httpOnly: true, sameSite: 'strict', secure });

/** The `Set-Cookie` value after signing in. */
export const openedSessionCookie = (token: string, secure: boolean): string => cookie(token, lifetimeSeconds, secure);

/** The `Set-Cookie` value that makes the browser forget it. */
export const closedSessionCookie = (secure: boolean): string => cookie('', 0, secure);

/** The token in a `Cookie` header; null: none. */
export const sessionTokenIn = (cookies: string | undefined): string | null =>
  (cookies === undefined ? null : parseCookie(cookies)[name]) || null;
