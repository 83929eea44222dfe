/* The cookie that carries a session's token: one for every face. The token's alphabet needs no escaping. */

const name = 'session';
const lifetimeSeconds = 30 * 24 * 60 * 60;

const attributes = (secure: boolean): string => `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;

/** The `Set-Cookie` value after signing in. `secure`: the request came over TLS. */
export const openedSessionCookie = (token: string, secure: boolean): string =>
  `${name}=${token}; Max-Age=${lifetimeSeconds}; ${attributes(secure)}`;

/** The `Set-Cookie` value that makes the browser forget it. */
export const closedSessionCookie = (secure: boolean): string => `${name}=; Max-Age=0; ${attributes(secure)}`;

/** The token in a `Cookie` header; null: none. */
export function sessionTokenIn(cookies: string | undefined): string | null {
  for (const cookie of cookies?.split(';') ?? []) {
    const [key = '', ...value] = cookie.split('=');
    if (key.trim() === name) return value.join('=').trim() || null;
  }
  return null;
}
