import { randomBytes } from 'node:crypto';
import type { Position } from '../../domain/events/events.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';
import { UserId } from '../../domain/kernel/ids.js';
import { defaultLanguage } from '../../domain/kernel/language.js';
import { checkEmail, checkMailedCode } from '../../domain/user/email.js';
import { normalEmail } from '../../domain/user/user-fields.js';
import { resetMail } from '../notifications/mail-texts.js';
import type { Mailer } from '../ports/outbound-ports.js';
import type { Directory, Sessions, Tickets } from '../ports/storage-ports.js';
import type { MailRequester } from '../users/email-codes.js';
import { codeLifetimeMs, codeMinutes, codeTries } from '../users/mail-codes.js';
import type { MailLimits } from '../users/mail-limits.js';
import type { UserCommands } from '../users/user-commands.js';

/* A forgotten password is replaced by a link that is mailed to its user. */

interface PasswordResetPorts {
  readonly directory: Pick<Directory, 'settings'>;
  readonly tickets: Tickets;
  readonly mailer: Mailer;
  readonly limits: MailLimits;
  readonly users: Pick<UserCommands, 'replacePassword' | 'bindings'>;
  readonly sessions: Pick<Sessions, 'languageOf'>;
  readonly hash: (text: string) => string;
}

const tokenBytes = 16;
const passwordBytes = 6;
const localAddress = 'http://localhost:3000';

export function passwordReset({ directory, tickets, mailer, limits, users, sessions, hash }: PasswordResetPorts) {
  const linkTo = (email: string, token: string): string => {
    const address = (directory.settings().text('ServerAddress') || localAddress).replace(/\/+$/, '');
    return `${address}/user/reset?${new URLSearchParams({ email, token })}`;
  };

  return {
    /**
     * Sends the link. Throws `email-unknown`, `too-many-attempts`, `mail-not-configured`, `mail-failed`; then the former
     * link is worth nothing either.
     */
    async request(given: string, { network, language }: MailRequester): Promise<void> {
      const address = given.trim();
      checkEmail(address);
      const name = normalEmail(address);
      const counted = limits.begin(hash(`mail ${name}`), network);
      const owner = await users.bindings.liveEmailHolder(name);
      const token = randomBytes(tokenBytes).toString('hex');
      // For an address nobody has as well, so that it takes the same time; that token is sent to nobody.
      await tickets.issue('password-reset', name, {
        code: token,
        content: String(owner ?? ''),
        lifetimeMs: codeLifetimeMs,
        tries: codeTries,
      });
      if (owner === null) throw new Failure('email-unknown', { field: 'email' });
      try {
        const systemName = directory.settings().text('SystemName');
        const mail = { to: address, systemName, link: linkTo(address, token), minutes: codeMinutes };
        await mailer.send(resetMail(mail, language ?? (await sessions.languageOf(owner)) ?? defaultLanguage));
      } catch (error) {
        counted.withdrawn();
        await tickets.drop('password-reset', name);
        throw error;
      }
    },

    /**
     * The new password, shown once. All sessions and the access token of the user end. Throws `reset-link-invalid` too
     * where the address has changed hands since the link was sent.
     */
    async complete(email: string, token: string): Promise<{ password: string; position: Position }> {
      const name = normalEmail(email);
      checkEmail(name);
      checkMailedCode('token', token);
      if (token === '') throw invalidField('token', 'the token from the link in the e-mail');
      const content = await tickets.redeem('password-reset', name, token);
      if (content === null || content === '') throw new Failure('reset-link-invalid');
      const owner = UserId(content);
      if ((await users.bindings.liveEmailHolder(name)) !== owner) throw new Failure('reset-link-invalid');
      const password = randomBytes(passwordBytes).toString('hex');
      return { password, position: await users.replacePassword(owner, password) };
    },
  };
}
