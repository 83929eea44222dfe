import { invalidField } from '../domain/kernel/failure.js';

import type { SecondFactorMethod } from './ports/proof-ports.js';

/* What a sensitive order is given with: the session, and its step-up. */

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

/** By what a signed-in user steps up. */
export type StepUpMethod = SecondFactorMethod | 'password' | 'mail-code';

export interface SessionProof {
  /** Names the session, or says that it is the access token. */
  readonly session: string;
  /** The ticket of a step-up; null: none. */
  readonly stepUp: string | null;
}

/** Throws `invalid-field` for what cannot be a ticket of a step-up. null: none was sent. */
export function stepUpTicketIn(field: string, text: string | null | undefined): string | null {
  if (text === null || text === undefined || text === '') return null;
  if (!/^[\w-]{1,64}$/.test(text)) throw invalidField(field, 'the proof that a step-up returned');
  return text;
}

/** Of a face that has none. */
export const noStepUp: SessionProof = { session: '', stepUp: null };
