import { Failure } from '../domain/failure.js';
import type { SecretId, UserId } from '../domain/ids.js';
import type { Directory, Passwords, Sessions, UserView, Vault } from './ports.js';

/* Who is asking: by password, session cookie or personal access token. */

export interface IdentitySource {
  /** By user name, else by e-mail address; never a deleted user. */
  byLogin(login: string): Promise<{ id: UserId; passwordSecret: SecretId | null } | null>;
  byAccessTokenHash(tokenHash: string): Promise<UserId | null>;
}

export interface IdentityPorts {
  readonly source: IdentitySource;
  readonly vault: Vault;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly directory: Directory;
}

export function identity({ source, vault, passwords, sessions, directory }: IdentityPorts) {
  let decoy: Promise<string> | null = null;

  const live = async (id: UserId | null): Promise<UserView | null> => {
    const user = id === null ? null : await directory.user(id);
    return user === null || user.status === 'deleted' ? null : user;
  };

  return {
    /**
     * Opens a session; `token` goes into the cookie. Wrong password, unknown and disabled users get one answer
     * (`wrong-credentials`) after the same work.
     */
    async login(login: string, password: string): Promise<{ user: UserView; token: string }> {
      if (!directory.settings().passwordLogin) throw new Failure('password-login-closed');
      const found = await source.byLogin(login.trim());
      const stored = found?.passwordSecret ? await vault.get(found.passwordSecret) : null;
      // An unknown name must cost what a known one does, or the time tells which names exist.
      decoy ??= passwords.hash('no such user');
      const matches = await passwords.verify(stored ?? (await decoy), password);
      const user = await live(found?.id ?? null);
      if (!matches || stored === null || user === null || user.status !== 'enabled')
        throw new Failure('wrong-credentials');
      return { user, token: await sessions.open(user.id) };
    },

    logout: (token: string): Promise<void> => sessions.close(token),

    /** The user as it is now, not as it was at login; disabled users included, so that a face can say so. */
    async bySession(token: string): Promise<UserView | null> {
      return live(await sessions.find(token));
    },

    async byAccessToken(token: string): Promise<UserView | null> {
      return live(await source.byAccessTokenHash(vault.hash(token)));
    },
  };
}

export type Identity = ReturnType<typeof identity>;
