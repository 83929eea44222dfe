import type { Position } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Client } from '../ports/storage-ports.js';
import type { IdentityPorts } from './identity-ports.js';
import { userByAccessToken, userBySession, userBySessionEvenDisabled, viewerById } from './session-identity.js';
import {
  checkLoginOpen,
  type Entry,
  enterById,
  finishSignIn,
  passkeySignInOptions,
  secondFactorPasskeyOptions,
  signInByPasskey,
  signInByPassword,
} from './sign-in.js';

/** A program of ours that signs in. */
const noClient: Client = { network: '', userAgent: '' };

/** Who is asking, and how they sign in and out. */
export function identity(ports: IdentityPorts) {
  const { sessions } = ports;
  const onEnd = new Set<(session: string) => void>();
  const ended = (session: string): void => {
    for (const listener of onEnd) listener(session);
  };

  return {
    /** For a face that says so before it looks at what was typed; `login` looks itself. */
    checkLoginOpen: (): void => checkLoginOpen(ports),
    login: (login: string, password: string, client: Client = noClient): Promise<Entry> =>
      signInByPassword(ports, login, password, client),
    enter: enterById.bind(null, ports),
    finish: finishSignIn.bind(null, ports),
    secondFactorPasskeyOptions: secondFactorPasskeyOptions.bind(null, ports),
    passkeyOptions: passkeySignInOptions.bind(null, ports),
    enterByPasskey: signInByPasskey.bind(null, ports),

    viewer: viewerById.bind(null, ports),
    bySession: userBySession.bind(null, ports),
    bySessionEvenDisabled: userBySessionEvenDisabled.bind(null, ports),
    byAccessToken: userByAccessToken.bind(null, ports),

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
    /** Calls `listener` with the id of every session that is ended on this node, until the function returned is called. */
    onEnd(listener: (session: string) => void): () => void {
      onEnd.add(listener);
      return () => onEnd.delete(listener);
    },
  };
}

export type Identity = ReturnType<typeof identity>;
