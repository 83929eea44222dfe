import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Application } from '../application/application.js';
import type { Client, UserView } from '../application/ports/storage-ports.js';
import { type SessionProof, stepUpTicketIn } from '../application/session-proof.js';
import type { HumanChecks, Visitor } from '../application/sign-in/human-checks.js';
import type { Identity } from '../application/sign-in/identity.js';
import type { Entry } from '../application/sign-in/sign-in.js';
import type { Position } from '../domain/events/events.js';
import { Failure } from '../domain/kernel/failure.js';
import { clientOf } from '../http/client.js';
import {
  clearedPendingSignInCookie,
  closedSessionCookie,
  openedSessionCookie,
  pendingSignInCookie,
  pendingSignInIn,
  sessionTokenIn,
} from '../http/session-cookie.js';
import { forgottenVisitorCookie, newVisitor, visitorCookie, visitorIn } from '../http/visitor-cookie.js';
import { signedInUser } from './user-record.js';
import { type Envelope, success } from './wire/envelope.js';

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

/** The same, and who is disabled, by a session that this has ended: to be answered so, and for nothing else. */
export const sessionUserEvenDisabled = async (
  identity: Identity,
  request: FastifyRequest,
): Promise<UserView | null> => {
  const token = tokenOf(request);
  return token === null ? null : identity.bySessionEvenDisabled(token);
};

export const clientBehind = ({ ip, headers }: FastifyRequest): Client => clientOf(ip, headers);

/** Whether the browser has been seen before, and how it is known again. */
export const visitorBehind = (request: FastifyRequest, reply: FastifyReply): Visitor => ({
  known: visitorIn(request.headers.cookie),
  address: request.ip,
  remember() {
    const visitor = newVisitor();
    reply.header('set-cookie', visitorCookie(visitor, isSecure(request)));
    return visitor;
  },
});

/** The header that shows what was proven for an order. */
const stepUpHeader = 'x-step-up';

/** With what an order is given: by which session or token, and what was proven for it. */
export function sessionProofOfRequest(identity: Identity, request: FastifyRequest): SessionProof {
  const token = tokenOf(request);
  return {
    session: token === null ? 'access token' : identity.sessionOf(token),
    stepUp: stepUpTicketIn('X-Step-Up', request.headers[stepUpHeader]?.toString()),
  };
}

/** The ticket of the sign-in that the browser has begun. Throws `half-sign-in-over`. */
export function pendingSignInOf({ headers }: FastifyRequest): string {
  const ticket = pendingSignInIn(headers.cookie);
  if (ticket === null) throw new Failure('half-sign-in-over');
  return ticket;
}

const secondFactorNeeded = '请输入两步验证码';

/** What every way to sign in answers once it knows who somebody is: the user, or that a second factor is asked for. */
export async function signInResponse(
  { identity, queries }: Pick<Application, 'identity' | 'queries'>,
  request: FastifyRequest,
  reply: FastifyReply,
  entry: Entry,
): Promise<Envelope> {
  if (entry.kind === 'second-factor') {
    reply.header('set-cookie', pendingSignInCookie(entry.ticket, isSecure(request)));
    return success({ require_2fa: true, methods: entry.methods }, secondFactorNeeded);
  }
  await startSession(identity, request, reply, entry.token);
  if (pendingSignInIn(request.headers.cookie) !== null)
    reply.header('set-cookie', clearedPendingSignInCookie(isSecure(request)));
  return success(signedInUser(await queries.self(entry.user)));
}

/** A token given before the sign-in never becomes a signed-in one: the new session has a new token. */
async function startSession(
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
  if (signedIn !== null) {
    const token = await identity.reopen(signedIn.id, position, clientBehind(request));
    await startSession(identity, request, reply, token);
  }
  return position;
}

/** Nothing of the browser is known afterwards. */
export async function endSession(
  { identity, humanChecks }: { readonly identity: Identity; readonly humanChecks: Pick<HumanChecks, 'forget'> },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const token = tokenOf(request);
  if (token !== null) await identity.logout(token);
  reply.header('set-cookie', closedSessionCookie(isSecure(request)));
  const visitor = visitorIn(request.headers.cookie);
  if (visitor === null) return;
  await humanChecks.forget(visitor);
  reply.header('set-cookie', forgottenVisitorCookie(isSecure(request)));
}
