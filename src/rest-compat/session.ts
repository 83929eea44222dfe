import type { FastifyReply, FastifyRequest } from 'fastify';
import type { UserView } from '../application/ports.js';
import type { Identity } from '../application/sessions/identity.js';
import type { Position } from '../domain/events.js';
import { closedSessionCookie, openedSessionCookie, sessionTokenIn } from '../http/session-cookie.js';

/* Signing in and out. A session's token is opaque; what the user may do is read anew on every request. */

const tokenOf = ({ headers }: FastifyRequest): string | null => sessionTokenIn(headers.cookie);

const isSecure = ({ protocol }: FastifyRequest): boolean => protocol === 'https';

/** What the request is signed in with: the browser's cookie, else the access token. */
export function credentialOf(request: FastifyRequest): { readonly text: string; readonly ofBrowser: boolean } {
  const cookie = tokenOf(request);
  return cookie === null
    ? { text: request.headers.authorization ?? '', ofBrowser: false }
    : { text: cookie, ofBrowser: true };
}

/** null: no cookie, or a session that has ended. */
export const sessionUser = async (identity: Identity, request: FastifyRequest): Promise<UserView | null> => {
  const token = tokenOf(request);
  return token === null ? null : identity.bySession(token);
};

/** The same, and who is disabled, by a session that this has ended: to be told so, and for nothing else. */
export const sessionUserEvenDisabled = async (
  identity: Identity,
  request: FastifyRequest,
): Promise<UserView | null> => {
  const token = tokenOf(request);
  return token === null ? null : identity.bySessionEvenDisabled(token);
};

/** A token given before the sign-in never becomes a signed-in one: the new session has a new token. */
export async function startSession(
  identity: Identity,
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
): Promise<void> {
  const former = tokenOf(request);
  if (former !== null) await identity.logout(former);
  reply.header('set-cookie', openedSessionCookie(token, isSecure(request)));
}

/** The user's own change of its password ends all its sessions; the one that made it goes on under a new token. */
export async function goingOn(
  identity: Identity,
  request: FastifyRequest,
  reply: FastifyReply,
  change: () => Promise<Position>,
): Promise<Position> {
  const signedIn = await sessionUser(identity, request);
  const position = await change();
  if (signedIn !== null) await startSession(identity, request, reply, await identity.reopen(signedIn.id, position));
  return position;
}

export async function endSession(identity: Identity, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const token = tokenOf(request);
  if (token !== null) await identity.logout(token);
  reply.header('set-cookie', closedSessionCookie(isSecure(request)));
}
