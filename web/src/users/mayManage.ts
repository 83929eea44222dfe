import type { ListedUserFragment, UserAction } from '../generated/users/users.js';
import type { Viewer } from '../shared/session.js';

/* What is offered to whom. The server decides; this keeps from offering what it would refuse. */

/** Root may change everybody, an administrator those below. */
export const outranks = ({ role }: Viewer, user: ListedUserFragment): boolean =>
  role === 'ROOT' || (role === 'ADMIN' && user.role === 'ORDINARY');

export const isDeleted = ({ deletedAt }: ListedUserFragment): boolean => deletedAt !== null;

/** What may be done to a user, in the order it is shown. */
export function actionsFor(viewer: Viewer, user: ListedUserFragment): readonly UserAction[] {
  if (isDeleted(user) || user.role === 'ROOT' || !outranks(viewer, user)) return [];
  const rank: readonly UserAction[] =
    viewer.role !== 'ROOT' && user.role === 'ORDINARY' ? [] : [user.role === 'ADMIN' ? 'DEMOTE' : 'PROMOTE'];
  return [...rank, user.status === 'ENABLED' ? 'DISABLE' : 'ENABLE', 'DELETE'];
}
