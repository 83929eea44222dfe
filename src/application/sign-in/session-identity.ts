import type { UserId } from '../../domain/kernel/ids.js';
import type { UserView } from '../ports/storage-ports.js';
import { type IdentityPorts, liveCredentials, withWithheldRole } from './identity-ports.js';

/*
 * Who asks, by session or personal access token, as the user is now. Each is judged by the user's own stream as far as
 * this node has followed it: what was given before the event that ended it is invalid, whatever is stored.
 */

/** The user as it is now, by what this node knows; null: there is none. */
export async function viewerById(ports: IdentityPorts, id: UserId): Promise<UserView | null> {
  const user = await ports.directory.user(id);
  return user === null ? null : withWithheldRole(ports, user);
}

/** Whose session the token is, and whether nothing has ended it. */
async function sessionUser(
  ports: IdentityPorts,
  token: string,
): Promise<{ readonly user: UserView; readonly isValid: boolean } | null> {
  const session = await ports.sessions.find(token);
  const found = await liveCredentials(ports, session?.user ?? null);
  if (session === null || found === null) return null;
  const isValid = !session.ended && session.since >= found.endedAt;
  return { user: await withWithheldRole(ports, found.user), isValid };
}

/** The user as it is now, not as it was at login. */
export async function userBySession(ports: IdentityPorts, token: string): Promise<UserView | null> {
  const found = await sessionUser(ports, token);
  return found?.isValid ? found.user : null;
}

/**
 * The same; and who is disabled, by a session which that has ended. For a face that answers so, and does nothing
 * else with it.
 */
export async function userBySessionEvenDisabled(ports: IdentityPorts, token: string): Promise<UserView | null> {
  const found = await sessionUser(ports, token);
  return found?.isValid || found?.user.status === 'disabled' ? found.user : null;
}

/** Knows a disabled user too, by a token which that has ended, so that a face can say so. */
export async function userByAccessToken(ports: IdentityPorts, token: string): Promise<UserView | null> {
  const hash = ports.vault.hash(token);
  const found = await liveCredentials(ports, await ports.source.byAccessTokenHash(hash));
  if (found === null || found.accessToken?.hash !== hash) return null;
  const isKnown = found.accessToken.issuedAt > found.endedAt || found.user.status === 'disabled';
  return isKnown ? withWithheldRole(ports, found.user) : null;
}
