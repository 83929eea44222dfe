import { randomBytes } from 'node:crypto';
import { Failure } from '../../domain/kernel/failure.js';
import { defaultLanguage } from '../../domain/kernel/language.js';
import { checkEmail, checkEmailAllowed } from '../../domain/user/email.js';
import { normalEmail } from '../../domain/user/user-fields.js';
import { codeMail } from '../notifications/mail-texts.js';
import type { Mailer } from '../ports/outbound-ports.js';
import type { Client, Directory, Tickets } from '../ports/storage-ports.js';
import type { Bindings } from '../sign-in/bindings.js';
import { codeLifetimeMs, codeMinutes, codeTries } from './mail-codes.js';
import type { MailLimits } from './mail-limits.js';

/* Verification codes by mail: whoever can read them owns the address. For registration and for one's own address. */

interface EmailCodePorts {
  readonly directory: Pick<Directory, 'settings'>;
  readonly tickets: Tickets;
  readonly mailer: Mailer;
  readonly limits: MailLimits;
  readonly bindings: Pick<Bindings, 'emailHolder'>;
  readonly hash: (text: string) => string;
}

/** Who wants the mail. */
export type MailRequester = Pick<Client, 'network' | 'language'>;

const codeBytes = 3;

export function emailCodes({ directory, tickets, mailer, limits, bindings, hash }: EmailCodePorts) {
  return {
    /**
     * A new code in place of the former one. Throws what is wrong with the address, `email-taken`, `too-many-attempts`,
     * `mail-not-configured`, `mail-failed`; then the former code is worth nothing either.
     */
    async send(given: string, { network, language }: MailRequester): Promise<void> {
      const settings = directory.settings();
      const address = given.trim();
      checkEmail(address);
      checkEmailAllowed(address, settings.emailRules);
      const name = normalEmail(address);
      const counted = limits.begin(hash(`mail ${name}`), network);
      if ((await bindings.emailHolder(name)) !== null) throw new Failure('email-taken', { field: 'email' });
      const code = randomBytes(codeBytes).toString('hex');
      await tickets.issue('email-code', name, { code, content: '', lifetimeMs: codeLifetimeMs, tries: codeTries });
      try {
        const mail = { to: address, systemName: settings.text('SystemName'), code, minutes: codeMinutes };
        await mailer.send(codeMail(mail, language ?? defaultLanguage));
      } catch (error) {
        counted.withdrawn();
        await tickets.drop('email-code', name);
        throw error;
      }
    },

    /** Throws `email-code-wrong`; the code stays good. */
    async check(email: string, code: string): Promise<void> {
      if ((await tickets.check('email-code', normalEmail(email), code.trim())) === null)
        throw new Failure('email-code-wrong');
    },

    /** The same, and the code is used up. */
    async redeem(email: string, code: string): Promise<void> {
      if ((await tickets.redeem('email-code', normalEmail(email), code.trim())) === null)
        throw new Failure('email-code-wrong');
    },
  };
}

export type EmailCodes = ReturnType<typeof emailCodes>;
