import { Failure } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { FactorSource } from '../ports/proof-ports.js';
import type { Directory, Sessions, Tickets, UserCredentials, UserView, Vault } from '../ports/storage-ports.js';
import type { PasskeyCeremonies } from './passkeys.js';
import type { PasswordChecks } from './password-checks.js';
import type { SecondFactor } from './second-factor.js';

export interface IdentitySource {
  /** By user name, else by e-mail address; never a deleted user. */
  byLogin(login: string): Promise<UserId | null>;
  /** Who was given the token; whether it is still valid is not the source's to say. */
  byAccessTokenHash(tokenHash: string): Promise<UserId | null>;
}

export interface IdentityPorts {
  readonly source: IdentitySource;
  readonly vault: Vault;
  readonly passwordChecks: Pick<PasswordChecks, 'guess'>;
  readonly sessions: Sessions;
  readonly directory: Directory;
  readonly tickets: Tickets;
  readonly factors: FactorSource;
  readonly secondFactor: SecondFactor;
  readonly passkeys: PasskeyCeremonies;
}

/** A reset of factors ends all sign-ins too: it counts here as the end of what came before. */
async function knownCredentials(
  { directory, factors }: Pick<IdentityPorts, 'directory' | 'factors'>,
  id: UserId,
): Promise<UserCredentials | null> {
  const [found, { resetAt }] = await Promise.all([directory.credentials(id), factors.of(id)]);
  return found === null || found.endedAt >= resetAt ? found : { ...found, endedAt: resetAt };
}

/** null: nobody, or deleted. */
export async function liveCredentials(ports: IdentityPorts, id: UserId | null): Promise<UserCredentials | null> {
  const found = id === null ? null : await knownCredentials(ports, id);
  return found === null || found.user.status === 'deleted' ? null : found;
}

/** Throws `user-deleted`, `user-disabled`, or `user-not-found` where there has never been such a user. */
export async function admittedCredentials(ports: IdentityPorts, id: UserId): Promise<UserCredentials> {
  const found = await knownCredentials(ports, id);
  if (found === null) throw new Failure('user-not-found');
  if (found.user.status === 'deleted') throw new Failure('user-deleted');
  if (found.user.status === 'disabled') throw new Failure('user-disabled');
  return found;
}

/** Administrators and auditors who must have a second factor, and have none, have the rights of everybody else until they do. */
export async function withWithheldRole(
  { directory, secondFactor }: Pick<IdentityPorts, 'directory' | 'secondFactor'>,
  user: UserView,
): Promise<UserView> {
  if (user.role === 'ordinary' || !directory.settings().adminSecondFactor) return user;
  const isOn = (await secondFactor.methods(user.id)).length > 0;
  return isOn ? user : { ...user, role: 'ordinary', withheldRole: user.role };
}
