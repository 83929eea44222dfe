import { Failure } from '../domain/kernel/failure.js';
import { type Actor, atLeast, type Role } from '../domain/user/user.js';

/**
 * Throws `role-too-low` unless the actor has at least the role, and `second-factor-needed` where it is withheld until
 * there is a second factor.
 */
export function authorise(actor: Actor & { readonly withheldRole?: Role }, needed: Role): void {
  if (atLeast(actor.role, needed)) return;
  if (actor.withheldRole !== undefined && atLeast(actor.withheldRole, needed))
    throw new Failure('second-factor-needed');
  throw new Failure('role-too-low', { needed });
}
