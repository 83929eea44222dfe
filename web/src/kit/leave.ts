/*
 * Signing out, and being signed out, load the page anew: nothing of the former user, neither data nor connections, is
 * left in memory then.
 */

const loginPath = '/login';
/** Pages that say something themselves when nobody is signed in. */
const doorPaths: ReadonlySet<string> = new Set(['/', loginPath, '/register', '/reset', '/setup']);

let leaving = false;

/** The session ended while a page was open: to the login, and back here afterwards. */
export function leaveForLogin(): void {
  const { pathname, search } = window.location;
  // Many operations fail at once when a session ends; and a password tried at the door ends none.
  if (leaving || doorPaths.has(pathname)) return;
  leaving = true;
  const params = new URLSearchParams({ expired: 'true', from: pathname + search });
  window.location.assign(`${loginPath}?${params}`);
}

export function leaveSignedOut(): void {
  leaving = true;
  window.location.assign(loginPath);
}

/** Where a login that had to be repeated leads back to; an address of another site is none. */
export function returnPath(search: URLSearchParams): string | null {
  const from = search.get('from');
  if (search.get('expired') === null || from === null || !from.startsWith('/')) return null;
  const { origin, pathname, search: query } = new URL(from, window.location.origin);
  return origin === window.location.origin && !doorPaths.has(pathname) ? pathname + query : null;
}
