import type { ListedUserFragment, UserAction } from '../generated/users/users.js';
import type { Viewer } from '../kit/SessionProvider.js';

/* What is offered to whom. The server decides; this keeps from offering what it would refuse. */

/** Root may change everybody, an administrator those below. */
const outranks = ({ role }: Viewer, user: ListedUserFragment): boolean =>
  role === 'ROOT' || (role === 'ADMIN' && user.role === 'ORDINARY');

export const isDeleted = ({ deletedAt }: ListedUserFragment): boolean => deletedAt !== null;

/** Whether somebody may be looked at to be changed. */
export const mayOpen = (viewer: Viewer, user: ListedUserFragment): boolean =>
  !isDeleted(user) && outranks(viewer, user);

const ranksFor: Readonly<Record<Exclude<ListedUserFragment['role'], 'ROOT'>, readonly UserAction[]>> = {
  ORDINARY: ['PROMOTE', 'APPOINT_AUDITOR'],
  AUDITOR: ['PROMOTE', 'DEMOTE'],
  ADMIN: ['APPOINT_AUDITOR', 'DEMOTE'],
};

/** What may be done to a user, in the order it is shown. */
export function actionsFor(viewer: Viewer, user: ListedUserFragment): readonly UserAction[] {
  if (user.role === 'ROOT' || !mayOpen(viewer, user)) return [];
  const ranks: readonly UserAction[] = viewer.role === 'ROOT' ? ranksFor[user.role] : [];
  return [...ranks, user.status === 'ENABLED' ? 'DISABLE' : 'ENABLE', 'DELETE'];
}
