/*
 * Signing out, and being signed out, load the page anew: nothing of the former user, neither data nor connections, is
 * left in memory then.
 */

const loginPath = '/login';
/** Pages that say something themselves when nobody is signed in, or that lead in. */
const signedOutPaths: ReadonlySet<string> = new Set(['/', loginPath, '/register', '/reset', '/user/reset', '/setup']);
/** Longer addresses are no page of ours. */
const maxReturnLength = 2_000;

let leaving = false;

/** The session ended while a page was open: to the login, and back here afterwards. */
export function leaveForLogin(): void {
  const { pathname, search, hash } = window.location;
  // Many operations fail at once when a session ends; and a password tried on a sign-in page ends none.
  if (leaving || isSignedOutPage(pathname)) return;
  leaving = true;
  const params = new URLSearchParams({ expired: 'true', from: pathname + search + hash });
  window.location.assign(`${loginPath}?${params}`);
}

/**
 * Gives the order that ends the session, and leads to the login without a way back. The live connection may hear of the
 * end before the order's answer is here: that is no session that was lost. Rejects as the order does; then nobody left.
 */
export async function leaveBy(order: () => Promise<unknown>): Promise<void> {
  leaving = true;
  try {
    await order();
  } catch (error) {
    leaving = false;
    throw error;
  }
  window.location.assign(loginPath);
}

/** A sign-in page that leads to a page of this console afterwards. null: to none in particular. `aff`: who has invited. */
export function signInAddress(page: '/login' | '/register', from: string | null, aff: string | null = null): string {
  const params = new URLSearchParams({ ...(aff !== null && { aff }), ...(from !== null && { from }) });
  return params.size === 0 ? page : `${page}?${params}`;
}

/** Where a sign-in leads to that was begun on the way to a page: its path, query and hash. null: it was on no such way. */
export const returnPath = (search: URLSearchParams): string | null => pageOfOurs(search.get('from'));

/** As routes are matched: whatever the case, and with slashes behind. */
function isSignedOutPage(path: string): boolean {
  const plain = path.toLowerCase().replace(/\/+$/, '') || '/';
  return signedOutPaths.has(plain) || plain.startsWith('/oauth/');
}

/** The page of this console that an address names, made plain; null: another site, a sign-in page, or no address at all. */
function pageOfOurs(from: string | null): string | null {
  if (from === null || !from.startsWith('/') || from.length > maxReturnLength || !URL.canParse(from, here()))
    return null;
  const { origin, pathname, search, hash } = new URL(from, here());
  // `/.//elsewhere` is a path of ours that browsers would follow to another site once it stands alone.
  if (origin !== here() || pathname.startsWith('//') || isSignedOutPage(pathname)) return null;
  return pathname + search + hash;
}

const here = (): string => window.location.origin;

const visitReturnKey = 'visit-return';

/** Before a browser is sent to sign in elsewhere: where it shall be led afterwards, in this tab. null: nowhere in particular. */
export function noteReturn(from: string | null): void {
  if (from === null) sessionStorage.removeItem(visitReturnKey);
  else sessionStorage.setItem(visitReturnKey, from);
}

/** What was noted, once. */
export function takeReturn(): string | null {
  const from = sessionStorage.getItem(visitReturnKey);
  sessionStorage.removeItem(visitReturnKey);
  return pageOfOurs(from);
}
