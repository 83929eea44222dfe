import { Failure } from '../domain/failure.js';
import { type Actor, atLeast, type Role } from '../domain/user.js';

/** Throws `role-too-low` unless the actor has at least the role. */
export function authorise(actor: Actor, needed: Role): void {
  if (!atLeast(actor.role, needed)) throw new Failure('role-too-low', { needed });
}
