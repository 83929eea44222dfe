import { streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { UserId } from '../../domain/kernel/ids.js';
import { checkCode, factorsDecider } from '../../domain/user/second-factor.js';
import type { Handle } from '../handle.js';
import type { FactorSource, OneTimeCodes, SecondFactorMethod, Site } from '../ports/proof-ports.js';
import type { Clock, Directory, Vault } from '../ports/storage-ports.js';
import type { PasskeyCeremonies } from './passkeys.js';
import { signInDelays } from './sign-in-delays.js';

/* Proving a second time who one is. Each proof is taken once, by what the user's own stream says. */

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
  /** Told of a user whose codes strangers guess at. */
  readonly guessed?: (user: UserId) => void;
}

const wrong = (): Failure => new Failure('second-factor-wrong');

/** As people write codes down: case, spaces and dashes say nothing. */
const plain = (code: string): string => code.replace(/[\s-]/g, '').toLowerCase();

export function secondFactor(ports: SecondFactorPorts) {
  const { handle, factors, codes, vault, clock, ceremonies, directory, guessed = () => {} } = ports;
  // A code has six digits: what all places may guess at it together is bounded. Recovery codes nobody finds by guessing,
  // so they stay a way in while strangers guess.
  const delays = {
    totp: signInDelays(clock, {
      together: true,
      manyFailed: (account) => guessed(UserId(account.split(' ', 1)[0] ?? '')),
    }),
    other: signInDelays(clock),
  };

  /** Whoever guesses knows the password: a new one ends their guessing, and what it cost the owner. */
  const guessedAt = async (user: UserId): Promise<string> =>
    `${user} ${(await directory.credentials(user))?.endedAt ?? ''}`;

  const recoveryHash = (user: UserId, code: string): string => vault.hash(`recovery code of ${user}: ${plain(code)}`);

  /** The time step a right code is of. Throws `second-factor-wrong`. */
  const stepOf = (secret: string, code: string): number => {
    const digits = plain(code);
    const step = /^\d{6}$/.test(digits) ? codes.stepOf(secret, digits, clock.now()) : null;
    if (step === null) throw wrong();
    return step;
  };

  const used = async (user: UserId, proof: Extract<FactorProof, { code: string }>): Promise<void> => {
    const { totp } = (await factors.of(user)).factors;
    if (totp === null) throw new Failure('second-factor-off');
    checkCode('code', proof.code);
    if (proof.kind === 'recovery-code') {
      const recoveryCode = recoveryHash(user, proof.code);
      await handle(factorsDecider, streams.factors(user), { type: 'UseRecoveryCode', recoveryCode });
      return;
    }
    const secret = await vault.get(totp.secret);
    if (secret === null) throw wrong();
    await handle(factorsDecider, streams.factors(user), { type: 'UseTotpCode', step: stepOf(secret, proof.code) });
  };

  /** Guesses at one user's codes get slower, whatever they are guessed for. Throws `too-many-attempts`. */
  const guarded = async <Result>(
    kind: keyof typeof delays,
    user: UserId,
    place: string,
    guess: () => Promise<Result>,
  ): Promise<Result> => {
    const attempt = delays[kind].begin(await guessedAt(user), place);
    try {
      const result = await guess();
      attempt.succeeded();
      return result;
    } catch (error) {
      // With the database away nothing was compared.
      if (!(error instanceof Failure) || error.code !== 'second-factor-wrong') attempt.withdrawn();
      throw error;
    }
  };

  return {
    recoveryHash,

    /** Of a code that shows an authenticator app knows the secret. Throws as `prove` does. */
    stepProven: (user: UserId, place: string, secret: string, code: string): Promise<number> =>
      guarded('other', user, place, async () => stepOf(secret, code)),

    /** By what the user can prove it; none: the second factor is off. */
    async ways(user: UserId): Promise<readonly SecondFactorMethod[]> {
      const { totp, recoveryCodes, passkeys } = (await factors.of(user)).factors;
      if (totp === null) return [];
      return [
        'totp',
        ...(recoveryCodes.length > 0 ? (['recovery-code'] as const) : []),
        ...(passkeys.size > 0 ? (['passkey'] as const) : []),
      ];
    },

    /** A question to the user's passkeys, as JSON for the browser. Throws `passkey-not-found`. */
    ask: (context: ProofContext, site: Site): Promise<string> => ceremonies.ask(context, site),

    /** Throws `second-factor-wrong`, `too-many-attempts`, `second-factor-off`, or what a passkey is refused with. */
    async prove(context: ProofContext, proof: FactorProof, place: string): Promise<void> {
      if (proof.kind === 'passkey') await ceremonies.answered(context, proof.response);
      else
        await guarded(proof.kind === 'totp' ? 'totp' : 'other', context.user, place, () => used(context.user, proof));
    },
  };
}

export type SecondFactor = ReturnType<typeof secondFactor>;
