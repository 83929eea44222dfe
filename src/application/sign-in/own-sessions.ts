import { Failure, invalidField } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { FactorSource } from '../ports/proof-ports.js';
import type { Directory, OpenSession, Sessions } from '../ports/storage-ports.js';

/* A user's own sign-ins: seen, and ended from afar. */

interface OwnSession extends OpenSession {
  /** The one that asks. */
  readonly current: boolean;
}

interface OwnSessionPorts {
  readonly sessions: Sessions;
  readonly directory: Pick<Directory, 'credentials'>;
  readonly factors: FactorSource;
  /** Notifies this node that a session is over. */
  readonly ended: (id: string) => void;
}

export function ownSessions({ sessions, directory, factors, ended }: OwnSessionPorts) {
  return {
    /** The newest hundred that stand. `ownSession`: the id of the session that asks, if one does. */
    async list({ id }: { id: UserId }, ownSession: string): Promise<readonly OwnSession[]> {
      const [found, { resetAt }] = await Promise.all([directory.credentials(id), factors.of(id)]);
      if (found === null) throw new Failure('user-not-found');
      const since = found.endedAt >= resetAt ? found.endedAt : resetAt;
      const open = await sessions.openOf(id, since);
      return open.map((session) => ({ ...session, current: session.id === ownSession }));
    },

    /** Throws `session-not-found`, for another user's too. */
    async end({ id }: { id: UserId }, session: string): Promise<void> {
      if (!/^[0-9a-f]{24}$/.test(session)) throw invalidField('id', 'the id of a session');
      if (!(await sessions.closeOne(id, session))) throw new Failure('session-not-found');
      ended(session);
    },

    /** How many they were. */
    async endOthers({ id }: { id: UserId }, ownSession: string): Promise<number> {
      const closed = await sessions.closeOthers(id, ownSession);
      for (const session of closed) ended(session);
      return closed.length;
    },
  };
}
