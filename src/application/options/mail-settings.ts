import { urlIn } from '../../domain/kernel/address.js';
import type { EmailRules } from '../../domain/user/email.js';
import { entriesIn, type OptionReader } from './option-reader.js';

/* The options of mail and of the site's own address, as the code uses them. */

export interface MailSettings {
  readonly host: string;
  readonly port: number;
  /** '': nobody signs in at the server. */
  readonly account: string;
  /** Who mails are from. */
  readonly sender: { readonly name: string; readonly address: string };
  /** TLS from the first byte. */
  readonly implicitTls: boolean;
}

const implicitTlsPort = 465;

/** null: no mail can be sent. */
export function mailSettings({ text, flag, number }: OptionReader): MailSettings | null {
  const host = text('SMTPServer').trim();
  const port = number('SMTPPort');
  const account = text('SMTPAccount').trim();
  const address = text('SMTPFrom').trim() || account;
  if (host === '' || address === '') return null;
  const implicitTls = port === implicitTlsPort || flag('SMTPSSLEnabled');
  return { host, port, account, sender: { name: text('SystemName'), address }, implicitTls };
}

export const emailRules = ({ text, flag }: OptionReader): EmailRules => ({
  domains: flag('EmailDomainRestrictionEnabled') ? entriesIn(text('EmailDomainWhitelist')) : null,
  withoutAliases: flag('EmailAliasRestrictionEnabled'),
});

/** Scheme, host and port; '' where the address names no site. */
export function siteIn(address: string): string {
  const url = urlIn(address);
  return url !== null && /^https?:$/.test(url.protocol) ? url.origin : '';
}
