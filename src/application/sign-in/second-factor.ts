import { streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { UserId } from '../../domain/kernel/ids.js';
import { checkCode, factorsDecider } from '../../domain/user/second-factor.js';
import { type SignInDelays, signInDelays } from '../../rate-limit/sign-in-delays.js';
import type { Handle } from '../handle.js';
import type { FactorSource, OneTimeCodes, SecondFactorMethod, Site } from '../ports/proof-ports.js';
import type { Clock, Directory, Vault } from '../ports/storage-ports.js';
import type { PasskeyCeremonies } from './passkeys.js';

/* Second factors. Each proof is accepted once: the user's own stream says whether it was used. */

export type FactorProof =
  | { readonly kind: 'totp' | 'recovery-code'; readonly code: string }
  /** `response`: JSON, as the browser gives it. */
  | { readonly kind: 'passkey'; readonly response: string };

/** What a proof is for; and whether a passkey must know its user, as where nothing else was asked before. */
export interface ProofContext {
  readonly user: UserId;
  readonly about: string;
  readonly verified: boolean;
}

interface SecondFactorPorts {
  readonly handle: Handle;
  readonly factors: FactorSource;
  readonly codes: OneTimeCodes;
  readonly vault: Pick<Vault, 'get' | 'hash'>;
  readonly clock: Clock;
  readonly ceremonies: PasskeyCeremonies;
  readonly directory: Pick<Directory, 'credentials'>;
  /** Called with a user whose codes others guess at. */
  readonly guessed?: (user: UserId) => void;
}

interface CodePorts extends SecondFactorPorts {
  readonly delays: { readonly totp: SignInDelays; readonly other: SignInDelays };
}

/** A guess at one of a user's codes, from a client network. */
interface Guess {
  readonly kind: keyof CodePorts['delays'];
  readonly user: UserId;
  readonly network: string;
}

const wrong = (): Failure => new Failure('second-factor-wrong');

/** As people write codes down: case, spaces and dashes say nothing. */
const plain = (code: string): string => code.replace(/[\s-]/g, '').toLowerCase();

/**
 * A one-time code has six digits: what all networks may guess at it together is bounded. A recovery code cannot be found
 * by guessing, so it stays a way in while others guess.
 */
const delaysOf = ({ clock, guessed = () => {} }: SecondFactorPorts): CodePorts['delays'] => ({
  totp: signInDelays(clock, {
    together: true,
    manyFailed: (account) => guessed(UserId(account.split(' ', 1)[0] ?? '')),
  }),
  other: signInDelays(clock),
});

/** Whoever guesses knows the password: a new one ends their guessing, and what it cost the owner. */
const accountOf = async ({ directory }: CodePorts, user: UserId): Promise<string> =>
  `${user} ${(await directory.credentials(user))?.endedAt ?? ''}`;

/** Guesses at one user's codes get slower, whatever they are guessed for. Throws `too-many-attempts`. */
async function guarded<Result>(
  ports: CodePorts,
  { kind, user, network }: Guess,
  guess: () => Promise<Result>,
): Promise<Result> {
  const attempt = ports.delays[kind].begin(await accountOf(ports, user), network);
  try {
    const result = await guess();
    attempt.succeeded();
    return result;
  } catch (error) {
    // With the database away nothing was compared.
    if (!(error instanceof Failure) || error.code !== 'second-factor-wrong') attempt.withdrawn();
    throw error;
  }
}

const recoveryHash = ({ vault }: SecondFactorPorts, user: UserId, code: string): string =>
  vault.hash(`recovery code of ${user}: ${plain(code)}`);

/** The time step a right code is of. Throws `second-factor-wrong`. */
function stepOf({ codes, clock }: SecondFactorPorts, secret: string, code: string): number {
  const digits = plain(code);
  const step = /^\d{6}$/.test(digits) ? codes.stepOf(secret, digits, clock.now()) : null;
  if (step === null) throw wrong();
  return step;
}

async function useCode(
  ports: CodePorts,
  user: UserId,
  { kind, code }: Extract<FactorProof, { code: string }>,
): Promise<void> {
  const { handle, factors, vault } = ports;
  const { totp } = (await factors.of(user)).factors;
  if (totp === null) throw new Failure('second-factor-off');
  checkCode('code', code);
  if (kind === 'recovery-code') {
    const recoveryCode = recoveryHash(ports, user, code);
    await handle(factorsDecider, streams.factors(user), { type: 'UseRecoveryCode', recoveryCode });
    return;
  }
  const secret = await vault.get(totp.secret);
  if (secret === null) throw wrong();
  await handle(factorsDecider, streams.factors(user), { type: 'UseTotpCode', step: stepOf(ports, secret, code) });
}

async function methodsOf({ factors }: CodePorts, user: UserId): Promise<readonly SecondFactorMethod[]> {
  const { totp, recoveryCodes, passkeys } = (await factors.of(user)).factors;
  if (totp === null) return [];
  return [
    'totp',
    ...(recoveryCodes.length > 0 ? (['recovery-code'] as const) : []),
    ...(passkeys.size > 0 ? (['passkey'] as const) : []),
  ];
}

async function prove(ports: CodePorts, context: ProofContext, proof: FactorProof, network: string): Promise<void> {
  if (proof.kind === 'passkey') {
    await ports.ceremonies.authenticate(context, proof.response);
    return;
  }
  const { user } = context;
  const kind = proof.kind === 'totp' ? 'totp' : 'other';
  await guarded(ports, { kind, user, network }, () => useCode(ports, user, proof));
}

/** A code that shows that an authenticator app knows the secret. */
interface CodeOfSecret {
  readonly user: UserId;
  readonly network: string;
  readonly secret: string;
  readonly code: string;
}

export interface SecondFactor {
  recoveryHash(user: UserId, code: string): string;
  /** The time step of the code. Throws as `prove` does. */
  stepProven(given: CodeOfSecret): Promise<number>;
  /** By what the user can prove it; none: the second factor is off. */
  methods(user: UserId): Promise<readonly SecondFactorMethod[]>;
  /** A challenge for the user's passkeys, as JSON for the browser. Throws `passkey-not-found`. */
  passkeyOptions(context: ProofContext, site: Site): Promise<string>;
  /** Throws `second-factor-wrong`, `too-many-attempts`, `second-factor-off`, or what a passkey is refused with. */
  prove(context: ProofContext, proof: FactorProof, network: string): Promise<void>;
}

export function secondFactor(given: SecondFactorPorts): SecondFactor {
  const ports: CodePorts = { ...given, delays: delaysOf(given) };
  return {
    recoveryHash: recoveryHash.bind(null, ports),
    stepProven: ({ user, network, secret, code }) =>
      guarded(ports, { kind: 'other', user, network }, async () => stepOf(ports, secret, code)),
    methods: methodsOf.bind(null, ports),
    passkeyOptions: (context, site) => ports.ceremonies.authenticationOptions(context, site),
    prove: prove.bind(null, ports),
  };
}
