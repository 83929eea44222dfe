import { Arg, Field, InputType } from 'type-graphql';
import type { SecondFactorMethod, Site } from '../../application/ports/proof-ports.js';
import {
  type SessionProof,
  type StepUpMethod,
  type StepUpPurpose,
  stepUpTicketIn,
} from '../../application/session-proof.js';
import type { FactorProof } from '../../application/sign-in/second-factor.js';
import type { StepUpProof } from '../../application/sign-in/step-up-proof.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';
import { checkAnswer, checkCode } from '../../domain/user/second-factor.js';
import type { Browser, GraphqlContext } from './context.js';
import { enumeration } from './enumeration.js';

/* How somebody proves to this face who they are, and shows what they have proven. */

export const SecondFactorMethodEnum = enumeration<SecondFactorMethod>(
  'SecondFactorMethod',
  'By what somebody can prove a second time who they are.',
  { TOTP: 'totp', RECOVERY_CODE: 'recovery-code', PASSKEY: 'passkey' },
);

export const StepUpMethodEnum = enumeration<StepUpMethod>(
  'StepUpMethod',
  'By what somebody signed in can prove anew who they are.',
  {
    PASSWORD: 'password',
    MAIL_CODE: 'mail-code',
    TOTP: 'totp',
    RECOVERY_CODE: 'recovery-code',
    PASSKEY: 'passkey',
  },
);

export const StepUpPurposeEnum = enumeration<StepUpPurpose>('StepUpPurpose', 'What must be proven anew for.', {
  ACCESS_TOKEN: 'access-token',
  PASSWORD: 'password',
  EMAIL: 'email',
  BINDINGS: 'bindings',
  PASSKEYS: 'passkeys',
  SECOND_FACTOR: 'second-factor',
  DELETE_ACCOUNT: 'delete-account',
  PAYMENTS: 'payments',
});

@InputType('FactorProof')
export class FactorProofInput {
  @Field(() => SecondFactorMethodEnum)
  readonly method!: SecondFactorMethod;

  @Field(() => String, {
    description:
      'The code; of a passkey the answer of `navigator.credentials.get`, as JSON with its bytes in base64url.',
  })
  readonly value!: string;
}

/** Throws `invalid-field`. */
export function proofIn({ method, value }: FactorProofInput): FactorProof {
  const check = method === 'passkey' ? checkAnswer : checkCode;
  check('proof.value', value);
  return method === 'passkey' ? { kind: method, response: value } : { kind: method, code: value };
}

/** One of them. Throws `invalid-field`. */
export function stepUpProofIn(given: {
  readonly proof?: FactorProofInput | null | undefined;
  readonly password?: string | null | undefined;
  readonly mailCode?: string | null | undefined;
}): StepUpProof {
  const proofs: StepUpProof[] = [];
  if (given.proof) proofs.push(proofIn(given.proof));
  if (typeof given.password === 'string') proofs.push({ kind: 'password', password: given.password });
  if (typeof given.mailCode === 'string') proofs.push({ kind: 'mail-code', code: given.mailCode });
  const [proof, more] = proofs;
  if (proof === undefined || more !== undefined)
    throw invalidField('proof', 'exactly one of proof, password, mailCode');
  return proof;
}

export const StepUpArg = () =>
  Arg('stepUp', () => String, {
    nullable: true,
    description: 'What `stepUp` has answered for this purpose.',
  });

/** With what the operation is given. Throws `invalid-field`. */
export const sessionProofOf = (
  { caller: { credentials }, application }: GraphqlContext,
  stepUp: string | null | undefined = null,
): SessionProof => ({
  session: credentials.kind === 'session' ? application.identity.sessionOf(credentials.token) : 'access token',
  stepUp: stepUpTicketIn('stepUp', stepUp),
});

/** The site the browser believes to be at. Throws `site-unknown`. */
export function siteOf({ site }: Browser): Site {
  if (site === null) throw new Failure('site-unknown');
  return site;
}
