import { type Position, streams } from '../../domain/events/events.js';
import type { Binding, IdentityKind, IdentityProvider, LinkedIdentity } from '../../domain/kernel/claim.js';
import type { IdentityClaim, UserId } from '../../domain/kernel/ids.js';
import { type User, type UserCommand, type UserEvent, userDecider } from '../../domain/user/user.js';
import { normalEmail } from '../../domain/user/user-fields.js';
import type { Handle } from '../handle.js';
import type { PersonalData } from '../ports/storage-ports.js';
import { type ClaimSwap, swapClaims } from '../users/claim-swap.js';
import type { Claims, UniqueClaim } from '../users/claims.js';
import type { PasskeysOf } from './passkeys-of.js';

/* By what else a user is known: an e-mail address, accounts at identity providers. Each belongs to one user. */

/** An account at an identity provider, which has just vouched for it. */
export interface ExternalIdentity {
  readonly provider: IdentityProvider;
  /** By which the provider knows the account for ever; names that can be given away do not serve. */
  readonly subject: string;
  /** What people know it by. */
  readonly shown: string;
}

interface BindingPorts {
  readonly handle: Handle;
  readonly personal: Pick<PersonalData, 'seal' | 'identityClaim'>;
  readonly claims: Claims;
  readonly passkeysOf: PasskeysOf;
}

const emailClaim = ({ claims, personal }: BindingPorts, email: string): UniqueClaim =>
  claims.identity('email', personal.identityClaim('email', normalEmail(email)));

const identityClaim = (
  { claims, personal }: BindingPorts,
  { provider, subject }: Pick<ExternalIdentity, 'provider' | 'subject'>,
): UniqueClaim => claims.identity(provider, personal.identityClaim(provider, subject));

const bindingOf = async (
  { personal }: BindingPorts,
  id: UserId,
  kind: IdentityKind,
  { subject, shown }: Pick<ExternalIdentity, 'subject' | 'shown'>,
): Promise<Binding> => ({ claim: personal.identityClaim(kind, subject), shown: await personal.seal(id, shown) });

const emailBinding = (ports: BindingPorts, id: UserId, email: string): Promise<Binding> =>
  bindingOf(ports, id, 'email', { subject: normalEmail(email), shown: email });

const identityBinding = async (
  ports: BindingPorts,
  id: UserId,
  identity: ExternalIdentity,
): Promise<LinkedIdentity> => ({
  provider: identity.provider,
  ...(await bindingOf(ports, id, identity.provider, identity)),
});

/** Deleted users keep the address, and nothing else. */
async function liveEmailHolder(ports: BindingPorts, email: string): Promise<UserId | null> {
  const holder = await emailClaim(ports, email).holder();
  const user = holder === null ? null : await ports.claims.userOf(holder);
  return user === null || user.status === 'deleted' ? null : holder;
}

/** A change of what is bound, with the claims that follow it. */
const changeBinding = (
  { handle }: BindingPorts,
  id: UserId,
  swapFor: () => Promise<ClaimSwap>,
  commandOf: () => Promise<UserCommand>,
): Promise<Position> =>
  swapClaims(id, swapFor, async (prepare) => {
    const { position } = await handle<User, UserCommand, UserEvent>(userDecider, streams.user(id), async () => {
      await prepare();
      return commandOf();
    });
    return position;
  });

async function linkIdentity(ports: BindingPorts, id: UserId, identity: ExternalIdentity): Promise<Position> {
  const linked = await identityBinding(ports, id, identity);
  const { provider, claim } = linked;
  const swapFor = async (): Promise<ClaimSwap> => {
    const isBound = (await ports.claims.userOf(id))?.identities[provider] === claim;
    return { wanted: isBound ? null : ports.claims.identity(provider, claim), former: null };
  };
  return changeBinding(ports, id, swapFor, async () => ({ type: 'LinkIdentity', ...linked }));
}

async function unlinkIdentity(ports: BindingPorts, id: UserId, provider: IdentityProvider): Promise<Position> {
  const swapFor = async (): Promise<ClaimSwap> => {
    const bound = (await ports.claims.userOf(id))?.identities[provider];
    return { wanted: null, former: bound === undefined ? null : ports.claims.identity(provider, bound) };
  };
  return changeBinding(ports, id, swapFor, async () => ({
    type: 'UnlinkIdentity',
    provider,
    passkeys: await ports.passkeysOf(id),
  }));
}

async function changeEmail(ports: BindingPorts, id: UserId, address: string | null): Promise<Position> {
  const email = address === null ? null : await emailBinding(ports, id, address);
  const swapFor = async (): Promise<ClaimSwap> => {
    const former = (await ports.claims.userOf(id))?.email ?? null;
    const wanted = email?.claim ?? null;
    if (wanted === former) return { wanted: null, former: null };
    const claimOf = (claim: IdentityClaim | null) => (claim === null ? null : ports.claims.identity('email', claim));
    return { wanted: claimOf(wanted), former: claimOf(former) };
  };
  return changeBinding(ports, id, swapFor, async () => ({ type: 'ChangeEmail', email }));
}

export const bindings = (ports: BindingPorts) => ({
  emailClaim: (email: string): UniqueClaim => emailClaim(ports, email),
  identityClaim: (identity: ExternalIdentity): UniqueClaim => identityClaim(ports, identity),
  emailBinding: (id: UserId, email: string): Promise<Binding> => emailBinding(ports, id, email),
  identityBinding: (id: UserId, identity: ExternalIdentity): Promise<LinkedIdentity> =>
    identityBinding(ports, id, identity),

  /** Who has the address, deleted users included; null: nobody. */
  emailHolder: (email: string): Promise<UserId | null> => emailClaim(ports, email).holder(),
  /** The same without deleted users; null: nobody. */
  liveEmailHolder: (email: string): Promise<UserId | null> => liveEmailHolder(ports, email),
  /** Who is known to the provider as that, deleted users included; null: nobody. */
  identityHolder: (provider: IdentityProvider, subject: string): Promise<UserId | null> =>
    identityClaim(ports, { provider, subject }).holder(),

  /** Throws `identity-taken`; `other-identity-bound` where the user has another one of the provider. */
  link: (id: UserId, identity: ExternalIdentity): Promise<Position> => linkIdentity(ports, id, identity),
  /** Throws `last-door`. */
  unlink: (id: UserId, provider: IdentityProvider): Promise<Position> => unlinkIdentity(ports, id, provider),
  /** An address that its owner has shown to be theirs; null: none any more. Throws `email-taken`. */
  changeEmail: (id: UserId, email: string | null): Promise<Position> => changeEmail(ports, id, email),
});

export type Bindings = ReturnType<typeof bindings>;
