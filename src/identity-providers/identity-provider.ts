import type { ExternalProfile, SignInTrip } from '../application/ports/identity-provider-ports.js';
import type { Outbound } from '../application/ports/outbound-ports.js';
import type { IdentityProvider } from '../domain/kernel/claim.js';
import { Failure } from '../domain/kernel/failure.js';
import type { OptionKey } from '../domain/options/option-table.js';

/* What every identity provider is made of. */

export interface IdentityProviderPorts {
  readonly outbound: Outbound;
  /** The text of an option that is no secret. */
  readonly text: (key: OptionKey) => string;
  /** What a secret option holds; null: it is not set. */
  readonly secretOf: (key: OptionKey) => Promise<string | null>;
  /**
   * Reports to the operator why a provider did not vouch for somebody: what step failed and how, nothing of its answer.
   */
  readonly report: (facts: {
    readonly provider: IdentityProvider;
    readonly step: string;
    readonly reason: string;
  }) => void;
}

/** A provider that browsers are sent to, and come back from with a code. */
export interface OAuthProvider {
  /** Where the browser is to go. `trip`: what has to be the same when it comes back. */
  authoriseAddress(state: string, trip: SignInTrip): Promise<string>;
  /** Throws `provider-unreachable`, `provider-token-refused`, `provider-profile-refused`, `provider-profile-empty`. */
  identify(code: string, trip: SignInTrip): Promise<ExternalProfile>;
}

/** For one request: a person is waiting. */
export const answerTimeoutMs = 5000;
/** Of one answer: far beyond a profile, or the keys of a provider. */
export const maxAnswerBytes = 256 * 1024;

/** Switched on, and its secret is gone. */
export async function neededSecret(
  { secretOf }: IdentityProviderPorts,
  provider: IdentityProvider,
  key: OptionKey,
): Promise<string> {
  const secret = await secretOf(key);
  if (secret === null) throw new Failure('provider-off', { provider });
  return secret;
}
