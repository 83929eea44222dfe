/** What a caller can do about it; each face maps a kind to its own status exactly once. */
export type FailureKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'refused'
  | 'conflict'
  | 'exhausted'
  | 'upstream'
  | 'unavailable';

/** Every reason the system gives for saying no. A face that translates codes is checked against this list. */
export const failureKinds = {
  'invalid-field': 'invalid',
  'invalid-body': 'invalid',
  'password-too-short': 'invalid',
  'passwords-differ': 'invalid',
  'username-blank': 'invalid',
  'username-too-long': 'invalid',
  'display-name-too-long': 'invalid',
  'password-length': 'invalid',
  'email-too-long': 'invalid',
  'email-invalid': 'invalid',
  'email-domain-not-allowed': 'refused',
  'email-alias-not-allowed': 'refused',
  'email-unknown': 'not-found',
  'email-code-needed': 'invalid',
  'email-code-wrong': 'forbidden',
  'reset-link-invalid': 'forbidden',
  'quota-out-of-range': 'invalid',
  'api-key-name-too-long': 'invalid',
  'model-name-too-long': 'invalid',
  'redemption-name-length': 'invalid',
  'redemption-quota-too-small': 'invalid',
  'redemption-count-too-small': 'invalid',
  'redemption-count-too-large': 'invalid',
  'redemption-code-missing': 'invalid',
  'redemption-code-unknown': 'invalid',
  'channel-key-missing': 'invalid',
  'channel-key-needed': 'invalid',
  'channel-type-unknown': 'invalid',
  'channel-type-not-served': 'invalid',
  'region-missing': 'invalid',
  'region-default-missing': 'invalid',
  'option-value-invalid': 'invalid',
  'notify-type-invalid': 'invalid',
  'warning-threshold-invalid': 'invalid',
  'webhook-url-missing': 'invalid',
  'webhook-url-invalid': 'invalid',
  'notification-email-invalid': 'invalid',
  'not-signed-in': 'unauthenticated',
  'access-token-unknown': 'unauthenticated',
  'wrong-credentials': 'unauthenticated',
  'password-login-closed': 'forbidden',
  'registration-closed': 'forbidden',
  'password-registration-closed': 'forbidden',
  'human-check-missing': 'forbidden',
  'human-check-failed': 'forbidden',
  'human-check-unavailable': 'upstream',
  'second-factor-wrong': 'unauthenticated',
  'second-factor-on': 'refused',
  'second-factor-off': 'refused',
  'second-factor-needed': 'forbidden',
  'half-sign-in-over': 'unauthenticated',
  'enrolment-over': 'refused',
  'step-up-needed': 'forbidden',
  'sign-in-again-needed': 'forbidden',
  'proof-not-fit': 'refused',
  'password-wrong': 'forbidden',
  'passkey-not-found': 'not-found',
  'passkey-refused': 'unauthenticated',
  'passkey-counter-behind': 'forbidden',
  'passkey-taken': 'conflict',
  'too-many-passkeys': 'refused',
  'session-not-found': 'not-found',
  'site-unknown': 'refused',
  'user-disabled': 'forbidden',
  'user-deleted': 'forbidden',
  'role-too-low': 'forbidden',
  'peer-read-forbidden': 'forbidden',
  'peer-update-forbidden': 'forbidden',
  'peer-delete-forbidden': 'forbidden',
  'role-raise-forbidden': 'forbidden',
  'role-create-forbidden': 'forbidden',
  'promote-forbidden': 'forbidden',
  'root-protected-disable': 'refused',
  'root-protected-delete': 'refused',
  'root-protected-demote': 'refused',
  'root-protected-leave': 'refused',
  'already-admin': 'refused',
  'already-ordinary': 'refused',
  'already-set-up': 'refused',
  'setup-code-wrong': 'forbidden',
  'too-many-attempts': 'exhausted',
  'export-too-large': 'refused',
  'not-set-up': 'refused',
  'username-taken': 'conflict',
  'email-taken': 'conflict',
  'identity-taken': 'conflict',
  'invite-code-taken': 'conflict',
  'invite-transfer-too-small': 'refused',
  'invite-quota-short': 'refused',
  'other-identity-bound': 'conflict',
  'last-door': 'refused',
  'provider-off': 'forbidden',
  'sign-in-state-wrong': 'forbidden',
  'sign-in-code-missing': 'invalid',
  'provider-unreachable': 'upstream',
  'provider-token-refused': 'upstream',
  'provider-profile-refused': 'upstream',
  'provider-profile-empty': 'upstream',
  'wechat-code-wrong': 'forbidden',
  'telegram-signature-wrong': 'forbidden',
  'telegram-not-bound': 'forbidden',
  'user-not-found': 'not-found',
  'api-key-not-found': 'not-found',
  'channel-not-found': 'not-found',
  'redemption-not-found': 'not-found',
  'redemption-not-unused': 'refused',
  'redemption-used': 'refused',
  'redemption-code-used': 'refused',
  'redemption-code-own': 'forbidden',
  'api-key-expired-enable': 'refused',
  'api-key-exhausted-enable': 'refused',
  'too-many-api-keys': 'refused',
  'channel-not-testable': 'refused',
  'test-run-under-way': 'refused',
  'balance-not-implemented': 'refused',
  'balance-not-told': 'upstream',
  'models-not-listed': 'refused',
  'models-not-askable': 'refused',
  'models-not-told': 'upstream',
  'models-unreadable': 'upstream',
  'engine-unreached': 'upstream',
  'read-model-not-stopped-there': 'refused',
  'books-stay-whole': 'refused',
  'option-prerequisite-missing': 'refused',
  'option-fixed': 'refused',
  'option-changed': 'conflict',
  'price-changed': 'conflict',
  'oidc-discovery-failed': 'upstream',
  'price-list-unreadable': 'invalid',
  'price-source-unknown': 'not-found',
  'price-source-failed': 'upstream',
  'price-list-changed': 'conflict',
  'price-below-purchase': 'refused',
  'release-check-not-configured': 'refused',
  'release-check-failed': 'upstream',
  'lost-race': 'conflict',
  'form-outdated': 'conflict',
  'idempotency-key-reused': 'conflict',
  'insufficient-user-quota': 'exhausted',
  'insufficient-api-key-quota': 'exhausted',
  'price-missing': 'refused',
  'upstream-failed': 'upstream',
  'payment-not-configured': 'refused',
  'payment-not-begun': 'upstream',
  'payment-unanswered': 'upstream',
  'payment-not-found': 'not-found',
  'repair-not-found': 'not-found',
  'repair-under-way': 'refused',
  'repair-preview-outdated': 'conflict',
  'payment-differs': 'refused',
  'payment-completed': 'refused',
  'top-up-too-small': 'invalid',
  'top-up-too-cheap': 'invalid',
  'too-many-open-payments': 'refused',
  'mail-not-configured': 'refused',
  'mail-failed': 'upstream',
  'webhook-failed': 'upstream',
  'usage-log-cleared': 'refused',
  'period-not-ready': 'refused',
  'period-not-closed': 'not-found',
  'log-archived': 'refused',
  'archive-missing': 'refused',
  'store-unavailable': 'unavailable',
  'outcome-unknown': 'unavailable',
  'event-too-large': 'invalid',
  'stream-too-large': 'refused',
  'query-too-slow': 'unavailable',
  'store-busy': 'unavailable',
} as const satisfies Record<string, FailureKind>;

export type FailureCode = keyof typeof failureKinds;

/**
 * An expected "no". `details` are plain values a face may show (field names, limits, amounts); never a secret.
 * Anything thrown that is not a Failure is a bug: logged whole, answered blank.
 */
export class Failure extends Error {
  readonly kind: FailureKind;

  constructor(
    readonly code: FailureCode,
    readonly details: Readonly<Record<string, string | number>> = {},
  ) {
    super(code);
    this.name = 'Failure';
    this.kind = failureKinds[code];
  }
}

/** The store cannot serve it now; nobody's mistake, and worth asking again. */
export const isUnavailable = (error: unknown): error is Failure =>
  error instanceof Failure && error.kind === 'unavailable';

/** A field the caller sent is wrong: says which, and what is allowed. */
export const invalidField = (field: string, allowed: string): Failure =>
  new Failure('invalid-field', { field, allowed });

/** Ends an exhaustive switch: a union member nobody handled does not compile. */
export function assertNever(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`);
}
