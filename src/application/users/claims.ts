import { type DomainEvent, streams } from '../../domain/events/events.js';
import { type IdentityKind, identityDeciders, inviteCodeDecider, usernameDecider } from '../../domain/kernel/claim.js';
import type { IdentityClaim, UserId } from '../../domain/kernel/ids.js';
import {
  type ClaimPorts,
  type ClaimSubject,
  claimFor,
  claimHolder,
  type KnownUser,
  prepareRelease,
  type Rollback,
  releaseClaim,
  userFromLog,
} from './unique-claim.js';

/* What users claim: names, invite codes, e-mail addresses and accounts at identity providers. */

export interface UniqueClaim {
  /** Throws Failure (`username-taken`, …) while somebody else holds it. Resolves with what undoes it. */
  claim(userId: UserId): Promise<Rollback>;
  /** Before the user gives it up: what gives it back afterwards. */
  prepareRelease(userId: UserId): Promise<Rollback>;
  /** Gives it back, unless the user bears it. */
  release(userId: UserId): Promise<void>;
  /** Who holds and bears it, deleted users included; null: nobody. */
  holder(): Promise<UserId | null>;
}

export interface Claims {
  /** From the log. null: no such user. */
  userOf(userId: UserId): Promise<KnownUser | null>;
  /** `written`: as it stands or looks, see look-alike.ts; `isBorneBy`: whether a user has such a name. */
  username(written: string, isBorneBy: (user: KnownUser) => boolean): UniqueClaim;
  invite(code: string): UniqueClaim;
  identity(kind: IdentityKind, claim: IdentityClaim): UniqueClaim;
}

const uniqueClaim = <Event extends DomainEvent>(ports: ClaimPorts, subject: ClaimSubject<Event>): UniqueClaim => ({
  claim: (userId) => claimFor(ports, subject, userId),
  prepareRelease: (userId) => prepareRelease(ports, subject, userId),
  release: (userId) => releaseClaim(ports, subject, userId),
  holder: () => claimHolder(ports, subject),
});

export const claims = (ports: ClaimPorts): Claims => ({
  userOf: (userId) => userFromLog(ports, userId),
  username: (written, isBorneBy) =>
    uniqueClaim(ports, { stream: streams.username(written), decider: usernameDecider, isBorneBy }),
  invite: (code) =>
    uniqueClaim(ports, {
      stream: streams.invite(code),
      decider: inviteCodeDecider,
      isBorneBy: ({ inviteCode }) => inviteCode === code,
    }),
  identity: (kind, claim) =>
    uniqueClaim(ports, {
      stream: streams.identity(kind, claim),
      decider: identityDeciders[kind],
      isBorneBy: ({ email, identities }) => (kind === 'email' ? email === claim : identities[kind] === claim),
    }),
});
