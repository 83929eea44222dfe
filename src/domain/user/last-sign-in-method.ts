import type { IdentityProvider } from '../kernel/claim.js';
import { Failure } from '../kernel/failure.js';
import type { Identities, UserEvent } from './user.js';

/* What a user comes in by is not given up where it is the last. An e-mail address opens nothing by itself. */

interface SignInMethods {
  /** It stays for ever. */
  readonly hasPassword: boolean;
  readonly identities: Identities;
  readonly passkeysGivenUp: readonly string[];
}

/** `passkeys`: those the user has. Throws `last-door`. */
export function unlinked(
  { provider, passkeys }: { readonly provider: IdentityProvider; readonly passkeys: readonly string[] },
  { hasPassword, identities, passkeysGivenUp }: SignInMethods,
): UserEvent[] {
  if (identities[provider] === undefined) return [];
  const others = Object.keys(identities).length - 1;
  const hasPasskey = passkeys.some((passkey) => !passkeysGivenUp.includes(passkey));
  if (!hasPassword && others === 0 && !hasPasskey) throw new Failure('last-door', { provider });
  return [{ type: 'IdentityUnlinked', provider }];
}

/** The last passkey. Throws `last-door`. */
export function givenUp(passkey: string, { hasPassword, identities }: SignInMethods): UserEvent[] {
  if (hasPassword) return [];
  if (Object.keys(identities).length === 0) throw new Failure('last-door');
  // Also when it was given up before: whoever counts on it may have read the stream meanwhile.
  return [{ type: 'PasskeyGivenUp', passkey }];
}
