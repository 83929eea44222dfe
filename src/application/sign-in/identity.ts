import { randomBytes } from 'node:crypto';
import { Position } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { UserId } from '../../domain/kernel/ids.js';
import { atLeast } from '../../domain/user/user.js';
import { checkTyped } from '../../domain/user/user-fields.js';
import type { FactorSource, SecondFactorMethod, Site } from '../ports/proof-ports.js';
import type { Client, Directory, Sessions, Tickets, UserCredentials, UserView, Vault } from '../ports/storage-ports.js';
import type { PasskeyCeremonies } from './passkeys.js';
import type { PasswordChecks } from './password-checks.js';
import type { FactorProof, ProofContext, SecondFactor } from './second-factor.js';

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

/** A program of ours that signs in. */
const nowhere: Client = { place: '', userAgent: '' };

/** What a door leads to, once it knows who somebody is. */
export type Entry =
  /** `token` goes into the session's cookie. */
  | { readonly kind: 'signed-in'; readonly user: UserView; readonly token: string }
  /** More is asked for; `ticket` goes into the cookie of sign-ins that are half done. */
  | { readonly kind: 'second-factor'; readonly ticket: string; readonly methods: readonly SecondFactorMethod[] };

interface IdentityPorts {
  readonly source: IdentitySource;
  readonly vault: Vault;
  readonly passwordChecks: Pick<PasswordChecks, 'guess'>;
  readonly sessions: Sessions;
  readonly directory: Directory;
  readonly tickets: Tickets;
  readonly factors: FactorSource;
  readonly secondFactor: SecondFactor;
  readonly passkeys: PasskeyCeremonies;
}

/** How long the second factor may take, and how often it may be wrong. */
const halfSignIn = { lifetimeMs: 5 * 60_000, tries: 5 };

const over = (): Failure => new Failure('half-sign-in-over');

/** The door of passkeys: whoever the answer tells. */
const atPasskeyDoor = { about: 'sign in', user: null, verified: true };

export function identity(ports: IdentityPorts) {
  const { source, vault, passwordChecks, sessions, directory, tickets, factors, secondFactor, passkeys } = ports;
  const onEnd = new Set<(session: string) => void>();

  /** With resetting of factors, which ends all sign-ins too, taken into account. */
  const known = async (id: UserId): Promise<UserCredentials | null> => {
    const [found, { resetAt }] = await Promise.all([directory.credentials(id), factors.of(id)]);
    return found === null || found.endedAt >= resetAt ? found : { ...found, endedAt: resetAt };
  };

  const live = async (id: UserId | null): Promise<UserCredentials | null> => {
    const found = id === null ? null : await known(id);
    return found === null || found.user.status === 'deleted' ? null : found;
  };

  /** Administrators who are to have a second factor, and have none, are as everybody else until they do. */
  const viewed = async (user: UserView): Promise<UserView> => {
    if (!atLeast(user.role, 'admin') || !directory.settings().adminSecondFactor) return user;
    const isOn = (await secondFactor.ways(user.id)).length > 0;
    return isOn ? user : { ...user, role: 'ordinary', withheldRole: user.role };
  };

  /** Whose session the token is, and whether nothing has ended it. */
  const openedBy = async (token: string): Promise<{ user: UserView; stands: boolean } | null> => {
    const session = await sessions.find(token);
    const found = await live(session?.user ?? null);
    return session === null || found === null
      ? null
      : { user: await viewed(found.user), stands: !session.ended && session.since >= found.endedAt };
  };

  const opened = async (user: UserView, since: Position, client: Client): Promise<Entry> => ({
    kind: 'signed-in',
    user: await viewed(user),
    token: await sessions.open({ user: user.id, since }, client),
  });

  /** `found`: of the moment of the proof, so that what has been changed meanwhile opens nothing that lasts. */
  const entered = async ({ user, endedAt }: UserCredentials, client: Client): Promise<Entry> => {
    const methods = await secondFactor.ways(user.id);
    if (methods.length === 0) return opened(user, endedAt, client);
    const ticket = randomBytes(32).toString('base64url');
    const content = JSON.stringify([user.id, endedAt]);
    await tickets.issue('half-sign-in', ticket, { code: ticket, content, ...halfSignIn });
    return { kind: 'second-factor', ticket, methods };
  };

  /** Throws `user-deleted`, `user-disabled`, or `user-not-found` where there has never been such a user. */
  const admitted = async (id: UserId): Promise<UserCredentials> => {
    const found = await known(id);
    if (found === null) throw new Failure('user-not-found');
    if (found.user.status === 'deleted') throw new Failure('user-deleted');
    if (found.user.status === 'disabled') throw new Failure('user-disabled');
    return found;
  };

  /** Throws `half-sign-in-over`. */
  const halfDone = async (ticket: string): Promise<{ readonly context: ProofContext; readonly since: Position }> => {
    const content = await tickets.check('half-sign-in', ticket, ticket);
    if (content === null) throw over();
    const [user, since] = JSON.parse(content) as [number, number];
    return {
      context: { user: UserId(user), about: `second factor ${vault.hash(ticket)}`, verified: false },
      since: Position(since),
    };
  };

  const ended = (session: string): void => {
    for (const tell of onEnd) tell(session);
  };

  /** Throws `password-login-closed`. */
  const checkLoginOpen = (): void => {
    if (!directory.settings().passwordLogin) throw new Failure('password-login-closed');
  };

  return {
    /** For a face that says so before it looks at what was typed; `login` looks itself. */
    checkLoginOpen,

    /**
     * What every door calls once it knows who somebody is, however it does. Throws `user-deleted`, `user-disabled`, or
     * `user-not-found` where there has never been such a user.
     */
    enter: async (id: UserId, client: Client): Promise<Entry> => entered(await admitted(id), client),

    /** A question to the passkeys of a sign-in that waits for its second factor, as JSON for the browser. */
    async askSecondFactor(ticket: string, site: Site): Promise<string> {
      return secondFactor.ask((await halfDone(ticket)).context, site);
    },

    /**
     * The second half of a sign-in. Throws `half-sign-in-over` where there is no first one any more, and what the proof
     * is refused with.
     */
    async finish(ticket: string, proof: FactorProof, client: Client): Promise<Entry> {
      const { context, since } = await halfDone(ticket);
      const { user } = await admitted(context.user);
      try {
        await secondFactor.prove(context, proof, client.place);
      } catch (error) {
        // A wrong code counts as a wrong ticket does: after some, the first half is worth nothing.
        if (error instanceof Failure && error.kind === 'unauthenticated')
          await tickets.check('half-sign-in', ticket, '');
        throw error;
      }
      if ((await tickets.redeem('half-sign-in', ticket, ticket)) === null) throw over();
      return opened(user, since, client);
    },

    /** The door of passkeys: a question to anybody's, as JSON for the browser. */
    askPasskey: (site: Site): Promise<string> => passkeys.ask(atPasskeyDoor, site),

    /** A passkey that knows its user is two factors in one: no second one is asked for. */
    async enterByPasskey(response: string, client: Client): Promise<Entry> {
      const { user, endedAt } = await admitted(await passkeys.answered(atPasskeyDoor, response));
      return opened(user, endedAt, client);
    },

    /**
     * The door of passwords. Wrong password, unknown and disabled users get one answer (`wrong-credentials`) after the
     * same work. Throws `too-many-attempts` as well.
     */
    async login(login: string, password: string, client: Client = nowhere): Promise<Entry> {
      const { place } = client;
      checkLoginOpen();
      checkTyped('username', login);
      checkTyped('password', password);
      const found = await live(await source.byLogin(login.trim()));
      const name = vault.hash(login.trim());
      const isEnabled = ({ user }: Pick<UserCredentials, 'user'>): boolean => user.status === 'enabled';
      const isRight = await passwordChecks.guess(found, name, password, place, isEnabled);
      if (!isRight || found === null) throw new Failure('wrong-credentials');
      return entered(found, client);
    },

    /**
     * A session in place of the one that has just been ended by the user's own change at `position`; what ends
     * sessions after it ends this one too.
     */
    reopen: (user: UserId, position: Position, client: Client): Promise<string> =>
      sessions.open({ user, since: position }, client),

    /** The id of the session that a token opens. */
    sessionOf: (token: string): string => sessions.idOf(token),

    async logout(token: string): Promise<void> {
      await sessions.close(token);
      ended(sessions.idOf(token));
    },

    /** Says that a session is over. */
    ended,

    /** Tells the id of every session that is ended on this node, until the function returned is called. */
    onEnd(tell: (session: string) => void): () => void {
      onEnd.add(tell);
      return () => onEnd.delete(tell);
    },

    /** The user as it is now, by what this node knows; null: there is none. */
    async viewer(id: UserId): Promise<UserView | null> {
      const user = await directory.user(id);
      return user === null ? null : viewed(user);
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
      return stands ? viewed(found.user) : null;
    },
  };
}

export type Identity = ReturnType<typeof identity>;
