import type { VisitedProvider } from '../../domain/kernel/claim.js';

/* What the application needs of those elsewhere who vouch for people; `src/identity-providers` talks with them. */

/** What goes along with a browser that is sent to a provider, and must be the same when it comes back. */
export interface SignInTrip {
  /** null: the provider sends it where its own settings say. */
  readonly redirectUri: string | null;
  /** Of PKCE; null: the client that sent the browser away had none. */
  readonly verifier: string | null;
  readonly nonce: string | null;
}

/** Somebody as a provider knows them. */
export interface ExternalProfile {
  /** By which the provider knows them for ever. */
  readonly subject: string;
  /** What people know the account by. */
  readonly shown: string;
  /** The name they would like; it may be unfit, or taken. */
  readonly username: string | null;
  readonly displayName: string;
  /** Only one that the provider has made sure of. */
  readonly email: string | null;
}

/** What Telegram's widget hands over, under Telegram's names; what is not there was not signed. */
export interface TelegramSignIn {
  readonly id: string;
  readonly first_name?: string | undefined;
  readonly last_name?: string | undefined;
  readonly username?: string | undefined;
  readonly photo_url?: string | undefined;
  /** Unix seconds. */
  readonly auth_date: string;
  readonly hash: string;
}

/** Who vouches for people. Each throws `provider-off` where it cannot be asked. */
export interface IdentityProviders {
  /** Throws `provider-unreachable`. */
  authoriseAddress(provider: VisitedProvider, state: string, trip: SignInTrip): Promise<string>;
  /** Throws `provider-unreachable`, `provider-token-refused`, `provider-profile-refused`, `provider-profile-empty`. */
  byCode(provider: VisitedProvider, code: string, trip: SignInTrip): Promise<ExternalProfile>;
  /** Throws `provider-unreachable`, `wechat-code-wrong`. */
  byWeChat(code: string): Promise<ExternalProfile>;
  /** Throws `telegram-signature-wrong`: not Telegram's, or too old. */
  byTelegram(given: TelegramSignIn): Promise<Pick<ExternalProfile, 'subject' | 'shown'>>;
}
