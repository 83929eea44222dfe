import { Failure } from '../../domain/kernel/failure.js';
import { UserId } from '../../domain/kernel/ids.js';
import { type SignInDelays, signInDelays } from '../../rate-limit/sign-in-delays.js';
import type { Clock, Passwords, UserCredentials, Vault } from '../ports/storage-ports.js';

/* Comparing passwords: one place, so that guesses at sign-in and guesses in a session are counted together. */

interface PasswordCheckPorts {
  readonly vault: Pick<Vault, 'get'>;
  readonly passwords: Pick<Passwords, 'hash' | 'verify'>;
  readonly clock: Clock;
  /** Called when others have guessed at an account more often than people mistype. */
  readonly guessed?: (user: UserId) => void;
}

type Known = Pick<UserCredentials, 'passwordSecret' | 'user'>;

interface PasswordGuess {
  /** null: there is no such user. */
  readonly found: Known | null;
  /** What stands for whoever does not exist, hashed. */
  readonly name: string;
  readonly password: string;
  readonly network: string;
  /** What else is asked of who has the right password; without it, the attempt counts as failed. */
  readonly admits?: (known: Known) => boolean;
}

export interface PasswordChecks {
  /** Whether the password is right and its user admitted. Throws `too-many-attempts`. */
  guess(guess: PasswordGuess): Promise<boolean>;
  /** Of somebody signed in. Throws `password-wrong`, `too-many-attempts`. */
  prove(found: Known, password: string, network: string): Promise<void>;
}

export function passwordChecks({ vault, passwords, clock, guessed }: PasswordCheckPorts): PasswordChecks {
  let decoy: Promise<string> | null = null;
  const real = signInDelays(clock, { manyFailed: (account) => guessed?.(UserId(account)) });
  // Apart, so that made-up names cannot make it forget what was tried at real ones.
  const madeUp = signInDelays(clock);

  /** Whether it is the user's password, after the same work whoever is asked about. */
  const compared = async (found: Known | null, password: string): Promise<boolean> => {
    const stored = found?.passwordSecret ? await vault.get(found.passwordSecret) : null;
    // An unknown name must cost what a known one does, or the time gives away which names exist.
    decoy ??= passwords.hash('no such user');
    const matches = await passwords.verify(stored ?? (await decoy), password);
    return matches && stored !== null;
  };

  const counted = async (
    delays: SignInDelays,
    account: string,
    network: string,
    guess: () => Promise<boolean>,
  ): Promise<boolean> => {
    const attempt = delays.begin(account, network);
    const isRight = await guess().catch((error) => {
      // With the database away nothing was compared: its owner shall not wait for that when it is back.
      attempt.withdrawn();
      throw error;
    });
    if (isRight) attempt.succeeded();
    return isRight;
  };

  return {
    guess: ({ found, name, password, network, admits = () => true }) =>
      counted(found === null ? madeUp : real, found === null ? name : String(found.user.id), network, async () => {
        const isRight = await compared(found, password);
        return isRight && found !== null && admits(found);
      }),

    async prove(found, password, network) {
      const isRight = await counted(real, String(found.user.id), network, () => compared(found, password));
      if (!isRight) throw new Failure('password-wrong', { field: 'password' });
    },
  };
}
