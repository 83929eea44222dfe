import type { Position } from '../../domain/events.js';
import { Failure } from '../../domain/failure.js';
import type { UserId } from '../../domain/ids.js';
import { checkTyped } from '../../domain/user-fields.js';
import type { Clock, Directory, Passwords, Sessions, UserCredentials, UserView, Vault } from '../ports.js';
import { signInDelays } from './sign-in-delays.js';

/*
 * Who is asking: by password, session cookie or personal access token. Each is judged by the user's own stream as far
 * as this node has followed it: what was given before the event that ended it is worth nothing, whatever is stored.
 */

export interface IdentitySource {
  /** By user name, else by e-mail address; never a deleted user. */
  byLogin(login: string): Promise<UserId | null>;
  /** Who was given the token; whether it still stands is not the source's to say. */
  byAccessTokenHash(tokenHash: string): Promise<UserId | null>;
}

export interface IdentityPorts {
  readonly source: IdentitySource;
  readonly vault: Vault;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly directory: Directory;
  readonly clock: Clock;
}

export function identity({ source, vault, passwords, sessions, directory, clock }: IdentityPorts) {
  let decoy: Promise<string> | null = null;
  // Apart, so that made-up names cannot make it forget what was tried at real ones.
  const delays = { real: signInDelays(clock), madeUp: signInDelays(clock) };
  const onLogout = new Set<(token: string) => void>();

  const live = async (id: UserId | null): Promise<UserCredentials | null> => {
    const found = id === null ? null : await directory.credentials(id);
    return found === null || found.user.status === 'deleted' ? null : found;
  };

  /** Whose session the token is, and whether nothing has ended it. */
  const openedBy = async (token: string): Promise<{ user: UserView; stands: boolean } | null> => {
    const session = await sessions.find(token);
    const found = await live(session?.user ?? null);
    return session === null || found === null
      ? null
      : { user: found.user, stands: !session.ended && session.since >= found.endedAt };
  };

  const compared = async (
    found: UserCredentials | null,
    password: string,
  ): Promise<{ stored: string | null; matches: boolean }> => {
    const stored = found?.passwordSecret ? await vault.get(found.passwordSecret) : null;
    // An unknown name must cost what a known one does, or the time tells which names exist.
    decoy ??= passwords.hash('no such user');
    return { stored, matches: await passwords.verify(stored ?? (await decoy), password) };
  };

  /** Throws `password-login-closed`. */
  const checkLoginOpen = (): void => {
    if (!directory.settings().passwordLogin) throw new Failure('password-login-closed');
  };

  return {
    /** For a face that says so before it looks at what was typed; `login` looks itself. */
    checkLoginOpen,

    /**
     * Opens a session; `token` goes into the cookie. Wrong password, unknown and disabled users get one answer
     * (`wrong-credentials`) after the same work. `place`: where the client is. Throws `too-many-attempts` as well.
     */
    async login(login: string, password: string, place = ''): Promise<{ user: UserView; token: string }> {
      checkLoginOpen();
      checkTyped('username', login);
      checkTyped('password', password);
      const found = await live(await source.byLogin(login.trim()));
      const attempt =
        found === null
          ? delays.madeUp.begin(vault.hash(login.trim()), place)
          : delays.real.begin(String(found.user.id), place);
      const { stored, matches } = await compared(found, password).catch((error) => {
        // With the database away nothing was compared: its owner shall not wait for that when it is back.
        attempt.withdrawn();
        throw error;
      });
      if (!matches || stored === null || found === null || found.user.status !== 'enabled')
        throw new Failure('wrong-credentials');
      attempt.succeeded();
      // Of the moment the password was read: one that has been changed meanwhile opens nothing that lasts.
      return { user: found.user, token: await sessions.open({ user: found.user.id, since: found.endedAt }) };
    },

    /**
     * A session in place of the one that has just been ended by the user's own change at `position`; what ends
     * sessions after it ends this one too.
     */
    reopen: (user: UserId, position: Position): Promise<string> => sessions.open({ user, since: position }),

    async logout(token: string): Promise<void> {
      await sessions.close(token);
      for (const tell of onLogout) tell(token);
    },

    /** Tells of every session that is signed out of on this node, until the function returned is called. */
    onLogout(tell: (token: string) => void): () => void {
      onLogout.add(tell);
      return () => onLogout.delete(tell);
    },

    /** The user as it is now, not as it was at login. */
    async bySession(token: string): Promise<UserView | null> {
      const opened = await openedBy(token);
      return opened?.stands ? opened.user : null;
    },

    /**
     * The same; and who is disabled, by a session which that has ended and which will not come back. For a face that
     * tells them so, and does nothing else with it.
     */
    async bySessionEvenDisabled(token: string): Promise<UserView | null> {
      const opened = await openedBy(token);
      return opened?.stands || opened?.user.status === 'disabled' ? opened.user : null;
    },

    /** A disabled user is told by a token that will not come back either, so that a face can say so. */
    async byAccessToken(token: string): Promise<UserView | null> {
      const hash = vault.hash(token);
      const found = await live(await source.byAccessTokenHash(hash));
      if (found === null || found.accessToken?.hash !== hash) return null;
      const stands = found.accessToken.issuedAt > found.endedAt || found.user.status === 'disabled';
      return stands ? found.user : null;
    },
  };
}

export type Identity = ReturnType<typeof identity>;
