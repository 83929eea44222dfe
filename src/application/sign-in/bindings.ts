import { type Position, streams } from '../../domain/events/events.js';
import type { Binding, IdentityKind, IdentityProvider } from '../../domain/kernel/claim.js';
import type { IdentityClaim, UserId } from '../../domain/kernel/ids.js';
import { type User, type UserCommand, type UserEvent, userDecider } from '../../domain/user/user.js';
import { normalEmail } from '../../domain/user/user-fields.js';
import type { Handle, Observing } from '../handle.js';
import type { PersonalData } from '../ports/storage-ports.js';
import { type Claiming, type ClaimSwap, type Claims, exchanging } from '../users/claims.js';
import type { PasskeysOf } from './passkeys-of.js';

/* By what else a user is known: an e-mail address, accounts elsewhere. Each belongs to one user. */

/** An account elsewhere, as its provider has just vouched for it. */
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

export function bindings({ handle, personal, claims, passkeysOf }: BindingPorts) {
  const bindingOf = async (id: UserId, kind: IdentityKind, subject: string, shown: string): Promise<Binding> => ({
    claim: personal.identityClaim(kind, subject),
    shown: await personal.seal(id, shown),
  });

  const run = async (id: UserId, command: Observing<UserCommand>): Promise<Position> =>
    (await handle<User, UserCommand, UserEvent>(userDecider, streams.user(id), command)).position;

  const emailClaim = (email: string): Claiming =>
    claims.identity('email', personal.identityClaim('email', normalEmail(email)));
  const emailHolder = (email: string): Promise<UserId | null> => emailClaim(email).holder();

  return {
    emailClaim,
    identityClaim: ({ provider, subject }: ExternalIdentity): Claiming =>
      claims.identity(provider, personal.identityClaim(provider, subject)),

    emailBinding: (id: UserId, email: string): Promise<Binding> => bindingOf(id, 'email', normalEmail(email), email),
    identityBinding: async (id: UserId, { provider, subject, shown }: ExternalIdentity) => ({
      provider,
      ...(await bindingOf(id, provider, subject, shown)),
    }),

    /** Who has the address, deleted users included; null: nobody. */
    emailHolder,

    /** The same, but for deleted users: they keep the address, and nothing else. */
    async liveEmailHolder(email: string): Promise<UserId | null> {
      const holder = await emailHolder(email);
      const user = holder === null ? null : await claims.userOf(holder);
      return user === null || user.status === 'deleted' ? null : holder;
    },

    /** Who is known elsewhere as that, deleted users included; null: nobody. */
    identityHolder: (provider: IdentityProvider, subject: string): Promise<UserId | null> =>
      claims.identity(provider, personal.identityClaim(provider, subject)).holder(),

    /** Throws `identity-taken`; `other-identity-bound` where the user has another one of the provider. */
    async link(id: UserId, identity: ExternalIdentity): Promise<Position> {
      const { provider, subject, shown } = identity;
      const linked = { provider, ...(await bindingOf(id, provider, subject, shown)) };
      const exchanged = async (): Promise<ClaimSwap> => {
        const isBound = (await claims.userOf(id))?.identities[provider] === linked.claim;
        return { wanted: isBound ? null : claims.identity(provider, linked.claim), former: null };
      };
      return exchanging(id, exchanged, (prepare) =>
        run(id, async () => {
          await prepare();
          return { type: 'LinkIdentity', ...linked };
        }),
      );
    },

    /** Throws `last-door`. */
    async unlink(id: UserId, provider: IdentityProvider): Promise<Position> {
      const exchanged = async (): Promise<ClaimSwap> => {
        const bound = (await claims.userOf(id))?.identities[provider];
        return { wanted: null, former: bound === undefined ? null : claims.identity(provider, bound) };
      };
      return exchanging(id, exchanged, (prepare) =>
        run(id, async () => {
          await prepare();
          return { type: 'UnlinkIdentity', provider, passkeys: await passkeysOf(id) };
        }),
      );
    },

    /** An address that its owner has shown to be theirs; null: none any more. Throws `email-taken`. */
    async changeEmail(id: UserId, email: string | null): Promise<Position> {
      const binding = email === null ? null : await bindingOf(id, 'email', normalEmail(email), email);
      const exchanged = async (): Promise<ClaimSwap> => {
        const former = (await claims.userOf(id))?.email ?? null;
        const wanted = binding?.claim ?? null;
        if (wanted === former) return { wanted: null, former: null };
        const claimOf = (claim: IdentityClaim | null) => (claim === null ? null : claims.identity('email', claim));
        return { wanted: claimOf(wanted), former: claimOf(former) };
      };
      return exchanging(id, exchanged, (prepare) =>
        run(id, async () => {
          await prepare();
          return { type: 'ChangeEmail', email: binding };
        }),
      );
    },
  };
}

export type Bindings = ReturnType<typeof bindings>;
