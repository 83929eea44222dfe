import { parseCookie, stringifySetCookie } from 'cookie';

/* The cookies of a browser that signs in, and of one that has: the same for every face. */

const session = 'session';
const sessionSeconds = 30 * 24 * 60 * 60;
/** Of a sign-in that waits for its second factor; what it is worth ends by itself. */
const pendingSignIn = 'half-sign-in';
const pendingSignInSeconds = 5 * 60;

/** `secure`: the request came over TLS. A browser would drop such a cookie over plain http, and the sign-in with it. */
const cookie = (name: string, value: string, maxAge: number, secure: boolean): string =>
  stringifySetCookie({ name, value, maxAge, path: '/', httpOnly: true, sameSite: 'strict', secure });

const valueIn = (name: string, cookies: string | undefined): string | null =>
  (cookies === undefined ? null : parseCookie(cookies)[name]) || null;

/** The `Set-Cookie` value after signing in. */
export const openedSessionCookie = (token: string, secure: boolean): string =>
  cookie(session, token, sessionSeconds, secure);

/** The `Set-Cookie` value that makes the browser forget it. */
export const closedSessionCookie = (secure: boolean): string => cookie(session, '', 0, secure);

/** The token in a `Cookie` header; null: none. */
export const sessionTokenIn = (cookies: string | undefined): string | null => valueIn(session, cookies);

/** The `Set-Cookie` value of a sign-in that is half done. */
export const pendingSignInCookie = (ticket: string, secure: boolean): string =>
  cookie(pendingSignIn, ticket, pendingSignInSeconds, secure);

export const clearedPendingSignInCookie = (secure: boolean): string => cookie(pendingSignIn, '', 0, secure);

/** Its ticket in a `Cookie` header; null: none. */
export const pendingSignInIn = (cookies: string | undefined): string | null => valueIn(pendingSignIn, cookies);
