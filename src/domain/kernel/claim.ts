import type { Decider } from './decider.js';
import { assertNever, Failure } from './failure.js';
import type { IdentityClaim, Sealed, UserId } from './ids.js';

/*
 * What no two users may have: a name, an e-mail address, an account elsewhere, an invite code. Each is claimed in a
 * stream of its own before its user gets it: `username-{lower}`, `identity-{kind}-{claim}`, `invite-{code}`.
 */

/** Where else somebody may be known. */
export const identityProviders = ['github', 'oidc', 'linuxdo', 'wechat', 'telegram'] as const;
export type IdentityProvider = (typeof identityProviders)[number];

/** Those a browser is sent to, and comes back from with a code. */
const visitedProviders = ['github', 'oidc', 'linuxdo'] as const satisfies readonly IdentityProvider[];
export type VisitedProvider = (typeof visitedProviders)[number];

export type IdentityKind = IdentityProvider | 'email';

/** What is sealed and shown, and the claim by which it is found. */
export interface Binding {
  readonly claim: IdentityClaim;
  readonly shown: Sealed;
}

export interface LinkedIdentity extends Binding {
  readonly provider: IdentityProvider;
}

export type UsernameEvent = { type: 'UsernameClaimed'; userId: UserId } | { type: 'UsernameReleased' };
/** Case counts. */
export type InviteCodeEvent = { type: 'InviteCodeClaimed'; userId: UserId } | { type: 'InviteCodeReleased' };
export type IdentityEvent = { type: 'IdentityClaimed'; userId: UserId } | { type: 'IdentityReleased' };

export type ClaimCommand =
  /** `anew`: also by who holds it, so that nobody takes it for abandoned. */
  | { type: 'Claim'; userId: UserId; anew?: true }
  /** `claims`: only while nothing has been claimed since there were so many; left out: in any case. */
  | { type: 'Release'; userId: UserId; claims?: number };
/** `claims`: how many there have been. */
export type Claim = { holder: UserId | null; claims: number };

type ClaimEvent = UsernameEvent | IdentityEvent | InviteCodeEvent;

const evolve = ({ claims }: Claim, event: ClaimEvent): Claim => {
  switch (event.type) {
    case 'UsernameClaimed':
    case 'IdentityClaimed':
    case 'InviteCodeClaimed':
      return { holder: event.userId, claims: claims + 1 };
    case 'UsernameReleased':
    case 'IdentityReleased':
    case 'InviteCodeReleased':
      return { holder: null, claims };
    default:
      return assertNever(event);
  }
};

const claimDecider = <Event extends ClaimEvent>(
  claimed: (userId: UserId) => Event,
  released: Event,
  taken: () => Failure,
): Decider<Claim, ClaimCommand, Event> => ({
  initial: { holder: null, claims: 0 },
  decide(command, { holder, claims }) {
    switch (command.type) {
      case 'Claim':
        if (holder === command.userId && command.anew !== true) return [];
        if (holder !== null && holder !== command.userId) throw taken();
        return [claimed(command.userId)];
      case 'Release':
        return holder === command.userId && (command.claims ?? claims) === claims ? [released] : [];
      default:
        return assertNever(command);
    }
  },
  evolve,
});

export const usernameDecider = claimDecider<UsernameEvent>(
  (userId) => ({ type: 'UsernameClaimed', userId }),
  { type: 'UsernameReleased' },
  () => new Failure('username-taken'),
);

export const inviteCodeDecider = claimDecider<InviteCodeEvent>(
  (userId) => ({ type: 'InviteCodeClaimed', userId }),
  { type: 'InviteCodeReleased' },
  () => new Failure('invite-code-taken'),
);

/** What can be an invite code at all. */
export const isInviteCode = (text: string): boolean => /^[0-9a-zA-Z]{4}$/.test(text);

const deciderOf = (taken: () => Failure) =>
  claimDecider<IdentityEvent>((userId) => ({ type: 'IdentityClaimed', userId }), { type: 'IdentityReleased' }, taken);

const identityTaken = (provider: IdentityProvider) => deciderOf(() => new Failure('identity-taken', { provider }));

/** Whose passkey a credential is: stream `passkey-{hash}`. Never given back: no authenticator makes the same one twice. */
export const passkeyDecider = deciderOf(() => new Failure('passkey-taken'));

export const identityDeciders: Readonly<Record<IdentityKind, Decider<Claim, ClaimCommand, IdentityEvent>>> = {
  email: deciderOf(() => new Failure('email-taken')),
  github: identityTaken('github'),
  oidc: identityTaken('oidc'),
  linuxdo: identityTaken('linuxdo'),
  wechat: identityTaken('wechat'),
  telegram: identityTaken('telegram'),
};
