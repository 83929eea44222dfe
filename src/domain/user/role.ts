/* What somebody may do. */

/** An auditor reads all that administrators and root read, but for secrets, and gives orders to nobody. */
export type Role = 'ordinary' | 'auditor' | 'admin' | 'root';

const rank: Record<Role, number> = { ordinary: 1, auditor: 5, admin: 10, root: 100 };
export const atLeast = (role: Role, needed: Role): boolean => rank[role] >= rank[needed];

/** Auditors answer to root alone: who is audited must not be able to switch them off, or to sign in as them. */
export const outranks = (role: Role, other: Role): boolean =>
  role === 'root' || (role === 'admin' && other === 'ordinary');

/** Whether what is known of a user with that role may be read. */
export const mayRead = (viewer: { readonly role: Role }, role: Role): boolean =>
  viewer.role === 'auditor' || outranks(viewer.role, role);
