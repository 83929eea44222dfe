import type { Position } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { Factors } from '../../domain/user/second-factor.js';

/* What the application needs for proofs beside passwords. */

export type SecondFactorMethod = 'totp' | 'recovery-code' | 'passkey';

/** A user's factors as this node knows them. */
export interface KnownFactors {
  readonly factors: Factors;
  /** By keyed hash of the credential id; of removed passkeys as well. */
  readonly addedAt: ReadonlyMap<string, Instant>;
  /** When all sign-ins ended with the factors; `beginning`: never. */
  readonly resetAt: Position;
}

export interface FactorSource {
  of(user: UserId): Promise<KnownFactors>;
}

/** One-time codes by time (TOTP). */
export interface OneTimeCodes {
  /** Base32. */
  newSecret(): string;
  /** `otpauth:` address that gives an authenticator app everything. */
  address(of: { readonly secret: string; readonly issuer: string; readonly account: string }): string;
  /** The time step the code is of: that of `at`, or a neighbour. null: of none of them. */
  stepOf(secret: string, code: string, at: Instant): number | null;
}

/** The site a passkey is made for and shown to: scheme, host and port as the browser reports them. */
export interface Site {
  readonly origin: string;
}

/**
 * WebAuthn. Options and answers are JSON as browsers take and give it; challenges, credential ids and keys are base64url.
 * null: the answer is wrong, whatever about it.
 */
export interface PasskeyChecks {
  /** What an answer claims: which challenge it answers, with which credential. */
  claimOf(response: string): { readonly challenge: string; readonly credential: string } | null;
  registrationOptions(asked: {
    readonly site: Site;
    readonly systemName: string;
    readonly challenge: string;
    /** `handle`: base64url; says nothing about the user. */
    readonly user: { readonly name: string; readonly handle: string };
    /** Credentials the user has already. */
    readonly known: readonly string[];
  }): Promise<string>;
  verifyRegistration(answered: {
    readonly site: Site;
    readonly challenge: string;
    readonly response: string;
  }): Promise<{
    readonly credential: string;
    readonly publicKey: string;
    readonly counter: number;
    readonly transports: readonly string[];
  } | null>;
  /** `known` empty: any credential made for the site. `verified`: the authenticator must know its user. */
  authenticationOptions(asked: {
    readonly site: Site;
    readonly challenge: string;
    readonly known: readonly { readonly credential: string; readonly transports: readonly string[] }[];
    readonly verified: boolean;
  }): Promise<string>;
  verifyAuthentication(answered: {
    readonly site: Site;
    readonly challenge: string;
    readonly response: string;
    readonly publicKey: string;
    readonly verified: boolean;
  }): Promise<{ readonly counter: number } | null>;
}
