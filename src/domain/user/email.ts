import { checkText, type TextBound } from '../kernel/bounds.js';
import { Failure, invalidField } from '../kernel/failure.js';

/* E-mail addresses: what can be written to, and what an operator lets people use. */

const maxLength = 254;
/** Of a code, or the token of a link: longer than any that is given out. */
const codeText: TextBound = { max: 64 };

/** Nothing that would end a header, a command or an address. */
const address = /^[^\s\p{Cc}@<>()[\],;:"\\]+@[^\s\p{Cc}@<>()[\],;:"\\]+$/u;

/** Throws `invalid-field` or `email-invalid`. */
export function checkEmail(email: string): void {
  checkText('email', email, { max: maxLength });
  if (!email.includes('@')) throw invalidField('email', 'an e-mail address');
  if (email.indexOf('@') !== email.lastIndexOf('@')) throw new Failure('email-invalid', { field: 'email' });
  if (!address.test(email)) throw invalidField('email', 'an e-mail address');
}

/** Throws `invalid-field` for what can be no code, or token of a link, that was sent by mail. */
export const checkMailedCode = (field: string, code: string): void => checkText(field, code, codeText);

export interface EmailRules {
  /** What may stand behind the `@`, to the letter; null: anything. */
  readonly domains: readonly string[] | null;
  /** Whoever has one mailbox has one address: no `+` and no dot before the `@`. */
  readonly withoutAliases: boolean;
}

/** Throws `email-domain-not-allowed` or `email-alias-not-allowed`. */
export function checkEmailAllowed(email: string, { domains, withoutAliases }: EmailRules): void {
  const [mailbox = '', domain = ''] = email.split('@');
  if (domains !== null && !domains.includes(domain)) throw new Failure('email-domain-not-allowed', { field: 'email' });
  if (withoutAliases && /[+.]/.test(mailbox)) throw new Failure('email-alias-not-allowed', { field: 'email' });
}
