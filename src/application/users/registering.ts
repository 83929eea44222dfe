import type { Position } from '../../domain/events/events.js';
import { checkText, isLonger } from '../../domain/kernel/bounds.js';
import { Failure } from '../../domain/kernel/failure.js';
import { checkEmail, checkMailedCode } from '../../domain/user/email.js';
import { checkPassword, checkUsername } from '../../domain/user/user-fields.js';
import { nobody } from '../idempotency.js';
import type { Directory } from '../ports/storage-ports.js';
import type { EmailCodes } from './email-codes.js';
import type { UserCommands } from './user-commands.js';
import { welcome } from './welcome.js';

/* Self-registration. */

export interface Registration {
  readonly username: string;
  readonly password: string;
  /** Kept where it has been verified; '' : none. */
  readonly email: string;
  /** Sent to `email`; '' where none is asked for. */
  readonly emailCode: string;
  /** Of who has invited them; one that is nobody's counts as none. */
  readonly inviteCode: string;
}

interface RegisteringPorts {
  readonly directory: Pick<Directory, 'settings'>;
  readonly users: Pick<UserCommands, 'registerOnce' | 'isNameTaken' | 'bindings' | 'invites'>;
  readonly codes: Pick<EmailCodes, 'check' | 'redeem'>;
}

const maxEmailLength = 50;
/** Longer than any there is. */
const maxInviteCodeLength = 64;

export function registering({ directory, users, codes }: RegisteringPorts) {
  /** Throws `registration-closed` or `password-registration-closed`. */
  const checkOpen = (): void => {
    const { flag } = directory.settings();
    if (!flag('RegisterEnabled')) throw new Failure('registration-closed');
    if (!flag('PasswordRegisterEnabled')) throw new Failure('password-registration-closed');
  };

  return {
    /** For a face that says so before it looks at what was typed; `register` looks itself. */
    checkOpen,

    /**
     * `key`: the client's name for this order; a repeat changes nothing. Throws what is wrong with a field,
     * `email-code-needed`, `email-code-wrong`, `username-taken`, `email-taken`.
     */
    async register(registration: Registration, key: string | null = null): Promise<Position> {
      checkOpen();
      const { username, password, emailCode, inviteCode } = registration;
      const email = registration.email.trim();
      checkUsername(username);
      checkPassword(password);
      checkMailedCode('emailCode', emailCode);
      checkText('inviteCode', inviteCode, { max: maxInviteCodeLength });
      if (isLonger(email, maxEmailLength)) throw new Failure('email-too-long', { field: 'email', max: maxEmailLength });
      if (email !== '') checkEmail(email);
      const settings = directory.settings();
      const verifies = settings.flag('EmailVerificationEnabled');
      if (verifies && (email === '' || emailCode === ''))
        throw new Failure('email-code-needed', { field: 'emailCode' });

      const order = { actor: nobody, key, content: JSON.stringify(['register', username, email, inviteCode]) } as const;
      const { position } = await users.registerOnce(order, { username, password, displayName: username }, async () => {
        if (verifies) await codes.check(email, emailCode);
        if (await users.isNameTaken(username)) throw new Failure('username-taken', { field: 'username' });
        if (email !== '' && (await users.bindings.emailHolder(email)) !== null)
          throw new Failure('email-taken', { field: 'email' });
        const inviter = await users.invites.inviterBy(inviteCode);
        // Last of what can be known beforehand: a name that is taken costs nobody a code.
        if (verifies) await codes.redeem(email, emailCode);
        return { email: verifies ? email : null, ...welcome(settings, inviter) };
      });
      return position;
    },
  };
}
