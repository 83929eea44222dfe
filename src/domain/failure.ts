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
  'quota-out-of-range': 'invalid',
  'api-key-name-too-long': 'invalid',
  'model-name-too-long': 'invalid',
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
  'user-disabled': 'forbidden',
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
  'already-admin': 'refused',
  'already-ordinary': 'refused',
  'already-set-up': 'refused',
  'setup-code-wrong': 'forbidden',
  'too-many-attempts': 'exhausted',
  'not-set-up': 'refused',
  'username-taken': 'conflict',
  'user-not-found': 'not-found',
  'api-key-not-found': 'not-found',
  'channel-not-found': 'not-found',
  'api-key-expired-enable': 'refused',
  'api-key-exhausted-enable': 'refused',
  'too-many-api-keys': 'refused',
  'channel-not-testable': 'refused',
  'read-model-not-stopped-there': 'refused',
  'books-stay-whole': 'refused',
  'option-prerequisite-missing': 'refused',
  'lost-race': 'conflict',
  'form-outdated': 'conflict',
  'idempotency-key-reused': 'conflict',
  'insufficient-user-quota': 'exhausted',
  'insufficient-api-key-quota': 'exhausted',
  'price-missing': 'refused',
  'upstream-failed': 'upstream',
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
