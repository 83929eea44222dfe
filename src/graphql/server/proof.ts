import { Arg, Field, InputType } from 'type-graphql';
import { type Asking, type StepUpPurpose, shownStepUp } from '../../application/asking.js';
import type { SecondFactorMethod, Site } from '../../application/proof-ports.js';
import type { FactorProof } from '../../application/sessions/second-factor.js';
import { Failure } from '../../domain/failure.js';
import { checkAnswer, checkCode } from '../../domain/second-factor.js';
import type { Browser, GraphqlContext } from './context.js';
import { enumeration } from './enumeration.js';

/* How somebody proves to this face who they are, and shows what they have proven. */

export const SecondFactorMethodEnum = enumeration<SecondFactorMethod>(
  'SecondFactorMethod',
  'By what somebody can prove a second time who they are.',
  { TOTP: 'totp', RECOVERY_CODE: 'recovery-code', PASSKEY: 'passkey' },
);

export const StepUpPurposeEnum = enumeration<StepUpPurpose>(
  'StepUpPurpose',
  'What somebody with a second factor must prove anew for.',
  {
    ACCESS_TOKEN: 'access-token',
    PASSWORD: 'password',
    EMAIL: 'email',
    BINDINGS: 'bindings',
    PASSKEYS: 'passkeys',
    SECOND_FACTOR: 'second-factor',
    DELETE_ACCOUNT: 'delete-account',
    PAYMENTS: 'payments',
  },
);

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

export const StepUpArg = () =>
  Arg('stepUp', () => String, {
    nullable: true,
    description: 'What `stepUp` has answered for this purpose; needed where there is a second factor.',
  });

/** With what the operation is given. Throws `invalid-field`. */
export const askingIn = (
  { caller: { credentials }, application }: GraphqlContext,
  stepUp: string | null | undefined = null,
): Asking => ({
  session: credentials.kind === 'session' ? application.identity.sessionOf(credentials.token) : 'access token',
  stepUp: shownStepUp('stepUp', stepUp),
});

/** The site the browser believes to be at. Throws `site-unknown`. */
export function siteOf({ site }: Browser): Site {
  if (site === null) throw new Failure('site-unknown');
  return site;
}
