import type { CompleteSetupMutationVariables } from '../generated/setup/setup.js';

export type SetupForm = Required<CompleteSetupMutationVariables['input']>;

export const emptySetupForm: SetupForm = {
  username: '',
  password: '',
  confirmPassword: '',
  mode: 'EXTERNAL',
  code: '',
};

/** What the link in the gateway's log carries; '': nothing. */
export const codeInHash = (hash: string): string => new URLSearchParams(hash.slice(1)).get('code') ?? '';

const minPasswordLength = 8;

interface SetupProblems {
  readonly code?: 'wrong.code';
  readonly username?: 'wrong.username';
  readonly password?: 'wrong.short';
  readonly confirmPassword?: 'wrong.mismatch';
}

/** What has to be put right before the form may be sent; the server judges again. */
export function problemsIn(
  { username, password, confirmPassword, code }: SetupForm,
  codeNeeded: boolean,
): SetupProblems {
  return {
    ...(codeNeeded && code.trim() === '' && { code: 'wrong.code' as const }),
    ...(username.trim() === '' && { username: 'wrong.username' as const }),
    // The server counts bytes.
    ...(new TextEncoder().encode(password).length < minPasswordLength && { password: 'wrong.short' as const }),
    ...(password !== confirmPassword && { confirmPassword: 'wrong.mismatch' as const }),
  };
}
