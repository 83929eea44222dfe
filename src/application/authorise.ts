import { Failure } from '../domain/kernel/failure.js';
import { atLeast, type Role } from '../domain/user/role.js';
import type { Actor } from '../domain/user/user.js';

/** Reading is what changes nothing and tells no secret: auditors may do it, whoever else may. */
type Reading = 'admin-reading' | 'root-reading';
export type Needed = Role | Reading;

const readers: Readonly<Record<Reading, Role>> = { 'admin-reading': 'admin', 'root-reading': 'root' };
const isReading = (needed: Needed): needed is Reading => Object.hasOwn(readers, needed);

const isEnough = (role: Role, needed: Needed): boolean =>
  isReading(needed) ? role === 'auditor' || atLeast(role, readers[needed]) : atLeast(role, needed);

export const mayDo = ({ role }: Pick<Actor, 'role'>, needed: Needed): boolean => isEnough(role, needed);

/**
 * Throws `role-too-low` unless the actor may do what needs this, and `second-factor-needed` where the role is withheld
 * until there is a second factor.
 */
export function authorise(actor: Actor & { readonly withheldRole?: Role }, needed: Needed): void {
  if (isEnough(actor.role, needed)) return;
  if (actor.withheldRole !== undefined && isEnough(actor.withheldRole, needed))
    throw new Failure('second-factor-needed');
  throw new Failure('role-too-low', { needed: isReading(needed) ? readers[needed] : needed });
}
