import type { Application } from '../../application/application.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { type Recorded, streamKey } from '../../domain/events/events.js';
import { UserId } from '../../domain/kernel/ids.js';
import { type GraphqlCaller, identify, type SessionCredentials } from '../server/context.js';
import type { ErrorLog } from '../server/errors.js';

/*
 * Who is connected, and whether they still may be: a connection outlives the request that proved who it is. It is judged
 * anew at once when something happens to its user or its session is signed out of, and now and then because a session
 * can end unnoticed.
 */

/** Close codes of the protocol. The first tells the client not to come back by itself, the second that it may. */
const unauthorized = 4401;
const forbidden = 4403;

/** Connections one user may have; a browser needs one per tab. */
const maxPerUser = 20;

export interface LiveConnection {
  readonly credentials: SessionCredentials;
  isOpen(): boolean;
  close(code: number, reason: string): void;
}

export interface LiveConnections {
  /** The caller behind a connection that may stay; null: it has been closed. */
  open(connection: LiveConnection): Promise<GraphqlCaller | null>;
  closed(connection: LiveConnection): void;
  stop(): void;
}

interface Known {
  readonly connection: LiveConnection;
  readonly user: UserView;
}

export function liveConnections(application: Application, recheckMs: number, log: ErrorLog): LiveConnections {
  const all = new Map<LiveConnection, Known>();
  const byUser = new Map<UserId, Set<Known>>();

  const identified = (credentials: SessionCredentials) => identify(application, credentials);

  /** The user behind a connection; null: it may not stay and has been closed. */
  const admitted = async (
    connection: LiveConnection,
    code = unauthorized,
    userOf = identified,
  ): Promise<UserView | null> => {
    const user = await userOf(connection.credentials);
    if (user?.status === 'enabled') return user;
    connection.close(code, user === null ? 'not-signed-in' : 'user-disabled');
    return null;
  };

  const recheck = async ({ connection, user }: Known, code?: number, userOf = identified): Promise<void> => {
    const now = await admitted(connection, code, userOf);
    // What runs was admitted with the former role; the client comes back and is judged by the new one.
    if (now !== null && now.role !== user.role) connection.close(forbidden, 'role-changed');
  };

  const recheckAll = async (known: readonly Known[], code?: number): Promise<void> => {
    // The tabs of one browser show the same credentials: they are looked up once in a round.
    const userOf = remembering(identified);
    for (const one of known) {
      // A database that does not answer is no reason to turn anybody away.
      await recheck(one, code, userOf).catch((error: unknown) =>
        log.error({ error: String(error) }, 'a connection was not rechecked'),
      );
    }
  };

  const forget = (connection: LiveConnection): void => {
    const known = all.get(connection);
    if (known === undefined) return;
    all.delete(connection);
    const others = byUser.get(known.user.id);
    others?.delete(known);
    if (others?.size === 0) byUser.delete(known.user.id);
  };

  const leaveTail = application.tail.add({
    take(batch) {
      if (all.size === 0) return;
      for (const recorded of batch) {
        const user = affected(recorded);
        if (user === null) continue;
        // Whoever changed the password goes on with a new session: that browser may come back with it.
        const code = recorded.event.type === 'PasswordChanged' ? forbidden : unauthorized;
        void recheckAll([...(byUser.get(user) ?? [])], code);
      }
    },
  });

  const { identity } = application;
  const leaveEnds = identity.onEnd((session) => {
    for (const { credentials, close } of [...all.keys()])
      if (credentials.kind === 'session' && identity.sessionOf(credentials.token) === session)
        close(unauthorized, 'signed-out');
  });

  let rechecking = false;
  const timer = setInterval(async () => {
    if (rechecking) return;
    rechecking = true;
    await recheckAll([...all.values()]);
    rechecking = false;
  }, recheckMs);
  timer.unref();

  return {
    async open(connection) {
      const user = await admitted(connection);
      if (user === null) return null;
      const others = byUser.get(user.id) ?? new Set();
      if (others.size >= maxPerUser) {
        connection.close(forbidden, 'too-many-connections');
        return null;
      }
      if (!connection.isOpen()) return null;
      const known = { connection, user };
      all.set(connection, known);
      byUser.set(user.id, others.add(known));
      // What happened while it was being admitted passed it by: from here on nothing does.
      await recheckAll([known]);
      if (!connection.isOpen()) {
        forget(connection);
        return null;
      }
      return {
        credentials: connection.credentials,
        // From memory, and once for all fields of an event. That the session still stands is seen to above.
        identified: oncePerTurn(() => application.identity.viewer(user.id)),
      };
    },
    closed: forget,
    stop() {
      clearInterval(timer);
      leaveTail();
      leaveEnds();
    },
  };
}

/** Asks once for the same credentials, unless that failed. */
function remembering(
  userOf: (credentials: SessionCredentials) => Promise<UserView | null>,
): (credentials: SessionCredentials) => Promise<UserView | null> {
  const found = new Map<string, UserView | null>();
  return async (credentials) => {
    if (credentials.kind === 'none') return null;
    const key = `${credentials.kind} ${credentials.token}`;
    const known = found.get(key);
    if (known !== undefined) return known;
    const user = await userOf(credentials);
    found.set(key, user);
    return user;
  };
}

/** Whoever asks again within one turn of the event loop gets what is being read already; afterwards it is read anew. */
function oncePerTurn<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | null = null;
  return () => {
    if (reading === null) {
      reading = read();
      setImmediate(() => {
        reading = null;
      });
    }
    return reading;
  };
}

/** The user whose connections may have to end after the event. */
function affected({ event, stream }: Recorded): UserId | null {
  switch (event.type) {
    case 'UserDisabled':
    case 'UserDeleted':
    case 'SignInsEnded':
    case 'PasswordChanged':
    case 'UserRoleChanged':
    case 'AccessTokenIssued':
    case 'FactorsReset':
    case 'TotpTurnedOff':
      return UserId(streamKey(stream));
    default:
      return null;
  }
}
