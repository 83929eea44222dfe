import { randomBytes } from 'node:crypto';
import { Position } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { UserId } from '../../domain/kernel/ids.js';
import { checkTyped } from '../../domain/user/user-fields.js';
import type { SecondFactorMethod, Site } from '../ports/proof-ports.js';
import type { Client, UserCredentials, UserView } from '../ports/storage-ports.js';
import { admittedCredentials, type IdentityPorts, liveCredentials, withWithheldRole } from './identity-ports.js';
import type { FactorProof, ProofContext } from './second-factor.js';

/* Signing in: by password, by passkey, or by an identity provider; then the second factor. */

/** What a sign-in leads to, once it is known who somebody is. */
export type Entry =
  /** `token` goes into the session's cookie. */
  | { readonly kind: 'signed-in'; readonly user: UserView; readonly token: string }
  /** More is asked for; `ticket` goes into the cookie of sign-ins that wait for a second factor. */
  | { readonly kind: 'second-factor'; readonly ticket: string; readonly methods: readonly SecondFactorMethod[] };

/** How long the second factor may take, and how often it may be wrong. */
const pendingSignIn = { lifetimeMs: 5 * 60_000, tries: 5 };

const over = (): Failure => new Failure('half-sign-in-over');

/** Signing in by any passkey: the answer says whose it is. */
const passkeySignIn = { about: 'sign in', user: null, verified: true };

async function openSession(ports: IdentityPorts, user: UserView, since: Position, client: Client): Promise<Entry> {
  return {
    kind: 'signed-in',
    user: await withWithheldRole(ports, user),
    token: await ports.sessions.open({ user: user.id, since }, client),
  };
}

/** `found`: of the moment of the proof, so that what has been changed meanwhile opens nothing that lasts. */
async function enterAs(ports: IdentityPorts, { user, endedAt }: UserCredentials, client: Client): Promise<Entry> {
  const methods = await ports.secondFactor.methods(user.id);
  if (methods.length === 0) return openSession(ports, user, endedAt, client);
  const ticket = randomBytes(32).toString('base64url');
  const content = JSON.stringify([user.id, endedAt]);
  await ports.tickets.issue('half-sign-in', ticket, { code: ticket, content, ...pendingSignIn });
  return { kind: 'second-factor', ticket, methods };
}

/**
 * Of whoever is known already, however they have proven it. Throws `user-deleted`, `user-disabled`, or `user-not-found`
 * where there has never been such a user.
 */
export async function enterById(ports: IdentityPorts, id: UserId, client: Client): Promise<Entry> {
  return enterAs(ports, await admittedCredentials(ports, id), client);
}

/** Throws `half-sign-in-over`. */
async function pendingSignInOf(
  { tickets, vault }: IdentityPorts,
  ticket: string,
): Promise<{ readonly context: ProofContext; readonly since: Position }> {
  const content = await tickets.check('half-sign-in', ticket, ticket);
  if (content === null) throw over();
  const [user, since] = JSON.parse(content) as [number, number];
  return {
    context: { user: UserId(user), about: `second factor ${vault.hash(ticket)}`, verified: false },
    since: Position(since),
  };
}

/** A challenge for the passkeys of a sign-in that waits for its second factor, as JSON for the browser. */
export async function secondFactorPasskeyOptions(ports: IdentityPorts, ticket: string, site: Site): Promise<string> {
  return ports.secondFactor.passkeyOptions((await pendingSignInOf(ports, ticket)).context, site);
}

/** Throws `half-sign-in-over` where nothing waits for a second factor, and what the proof is refused with. */
export async function finishSignIn(
  ports: IdentityPorts,
  ticket: string,
  proof: FactorProof,
  client: Client,
): Promise<Entry> {
  const { secondFactor, tickets } = ports;
  const { context, since } = await pendingSignInOf(ports, ticket);
  const { user } = await admittedCredentials(ports, context.user);
  try {
    await secondFactor.prove(context, proof, client.network);
  } catch (error) {
    // A wrong code counts as a wrong ticket does: after some, the sign-in must begin again.
    if (error instanceof Failure && error.kind === 'unauthenticated') await tickets.check('half-sign-in', ticket, '');
    throw error;
  }
  if ((await tickets.redeem('half-sign-in', ticket, ticket)) === null) throw over();
  return openSession(ports, user, since, client);
}

/** A challenge for anybody's passkeys, as JSON for the browser. */
export const passkeySignInOptions = ({ passkeys }: IdentityPorts, site: Site): Promise<string> =>
  passkeys.authenticationOptions(passkeySignIn, site);

/** A passkey that knows its user is two factors in one: no second one is asked for. */
export async function signInByPasskey(ports: IdentityPorts, response: string, client: Client): Promise<Entry> {
  const { user, endedAt } = await admittedCredentials(
    ports,
    await ports.passkeys.authenticate(passkeySignIn, response),
  );
  return openSession(ports, user, endedAt, client);
}

/** Throws `password-login-closed`. */
export function checkLoginOpen({ directory }: Pick<IdentityPorts, 'directory'>): void {
  if (!directory.settings().passwordLogin) throw new Failure('password-login-closed');
}

/**
 * Wrong password, unknown and disabled users get one answer (`wrong-credentials`) after the same work. Throws
 * `password-login-closed`, `too-many-attempts` as well.
 */
export async function signInByPassword(
  ports: IdentityPorts,
  login: string,
  password: string,
  client: Client,
): Promise<Entry> {
  const { source, vault, passwordChecks } = ports;
  checkLoginOpen(ports);
  checkTyped('username', login);
  checkTyped('password', password);
  const found = await liveCredentials(ports, await source.byLogin(login.trim()));
  const isRight = await passwordChecks.guess({
    found,
    name: vault.hash(login.trim()),
    password,
    network: client.network,
    admits: ({ user }) => user.status === 'enabled',
  });
  if (!isRight || found === null) throw new Failure('wrong-credentials');
  return enterAs(ports, found, client);
}
