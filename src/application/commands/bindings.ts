import type { Binding, IdentityKind, IdentityProvider } from '../../domain/claim.js';
import { type Position, streams } from '../../domain/events.js';
import type { UserId } from '../../domain/ids.js';
import { type User, type UserCommand, type UserEvent, userDecider } from '../../domain/user.js';
import { normalEmail } from '../../domain/user-fields.js';
import type { PersonalData } from '../ports.js';
import type { Claiming, Claims } from './claims.js';
import type { Handle } from './handle.js';
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

export interface BindingPorts {
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

  /** Claims what the change needs, or undoes the claim. */
  const holding = async <Result>(claiming: Claiming, id: UserId, change: () => Promise<Result>): Promise<Result> => {
    await claiming.claim(id);
    try {
      return await change();
    } catch (error) {
      // Where this fails too, the claim is left unused, and the next who wants it takes it over.
      await claiming.release(id).catch(() => {});
      throw error;
    }
  };

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
      const linked = {
        provider: identity.provider,
        ...(await bindingOf(id, identity.provider, identity.subject, identity.shown)),
      };
      return holding(claims.identity(linked.provider, linked.claim), id, async () => {
        const { position } = await handle(userDecider, streams.user(id), { type: 'LinkIdentity', ...linked });
        return position;
      });
    },

    /** Throws `last-door`. */
    async unlink(id: UserId, provider: IdentityProvider): Promise<Position> {
      const bound = (await claims.userOf(id))?.identities[provider];
      const unlinking = async (): Promise<UserCommand> => ({
        type: 'UnlinkIdentity',
        provider,
        passkeys: await passkeysOf(id),
      });
      const { position } = await handle<User, UserCommand, UserEvent>(userDecider, streams.user(id), unlinking);
      if (bound !== undefined) await claims.identity(provider, bound).release(id);
      return position;
    },

    /** An address that its owner has shown to be theirs; null: none any more. Throws `email-taken`. */
    async changeEmail(id: UserId, email: string | null): Promise<Position> {
      const former = (await claims.userOf(id))?.email ?? null;
      const binding = email === null ? null : await bindingOf(id, 'email', normalEmail(email), email);
      const change = async (): Promise<Position> => {
        const { position } = await handle(userDecider, streams.user(id), { type: 'ChangeEmail', email: binding });
        return position;
      };
      const position = await (binding === null
        ? change()
        : holding(claims.identity('email', binding.claim), id, change));
      if (former !== null) await claims.identity('email', former).release(id);
      return position;
    },
  };
}

export type Bindings = ReturnType<typeof bindings>;
