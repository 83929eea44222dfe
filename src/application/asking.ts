import { invalidField } from '../domain/kernel/failure.js';

import type { SecondFactorMethod } from './ports/proof-ports.js';

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

/** By what somebody signed in proves anew who they are. */
export type StepUpMethod = SecondFactorMethod | 'password' | 'mail-code';

export interface SessionProof {
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

/** By a face that has nothing to show. */
export const nothingShown: SessionProof = { session: '', stepUp: null };
