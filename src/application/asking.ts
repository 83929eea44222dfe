import { invalidField } from '../domain/failure.js';

/* With what an order is given that a stolen session must not give. */

export const stepUpPurposes = [
  'access-token',
  'password',
  'email',
  'bindings',
  'passkeys',
  'second-factor',
  'delete-account',
  'payments',
] as const;

export type StepUpPurpose = (typeof stepUpPurposes)[number];

export interface Asking {
  /** Names the session, or says that it is the access token. */
  readonly session: string;
  /** What was proven for it; null: nothing. */
  readonly stepUp: string | null;
}

/** Throws `invalid-field` for what cannot have been given for a proof. null: nothing was. */
export function shownStepUp(field: string, text: string | null | undefined): string | null {
  if (text === null || text === undefined || text === '') return null;
  if (!/^[\w-]{1,64}$/.test(text)) throw invalidField(field, 'what a step-up has answered');
  return text;
}

/** By a program, or a face that has nothing to show: enough for whoever has no second factor. */
export const nothingShown: Asking = { session: '', stepUp: null };
