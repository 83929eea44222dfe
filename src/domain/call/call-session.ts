import { CallId } from '../kernel/ids.js';

/*
 * A session is settled in parts: each part is a call of its own, with a stream, a reservation and one outcome, so that
 * nothing about calls is different in a session. A call that is settled once is a session of one part.
 */

/** The call that is one part of a session; `part` counts from 0. The first one has the session's own name. */
export const sessionCallId = (session: CallId, part: number): CallId =>
  part === 0 ? session : CallId(`${session}-${part}`);

interface SessionPart {
  readonly session: CallId;
  readonly part: number;
}

/** What `sessionCallId` has named; names of sessions hold no `-`. */
export function sessionPartOf(callId: CallId): SessionPart {
  const [, session, part] = /^([^-]+)-([1-9]\d*)$/.exec(callId) ?? [];
  return session === undefined ? { session: callId, part: 0 } : { session: CallId(session), part: Number(part) };
}
