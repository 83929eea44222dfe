import { connect, isIP, type Socket } from 'node:net';
import { rootCertificates } from 'node:tls';
import { createTransport, type SMTPTransportOptions } from 'nodemailer';
import type { Logger } from 'pino';
import type { MailSettings } from '../../application/options/mail-settings.js';
import type { Mailer } from '../../application/ports/outbound-ports.js';
import { Failure } from '../../domain/kernel/failure.js';
import { type AddressGuard, BlockedAddress, isPublic } from '../../outbound/address-guard.js';

/*
 * Mail through one SMTP server. Each mail has a connection of its own: there are few, and so nothing is kept that could
 * go stale. Whoever configures the server chooses where the gateway connects to, so the guard looks at it first.
 */

interface SmtpMailerPorts {
  /** As the options say now. */
  readonly settings: () => MailSettings | null;
  /** null: there is none, and nobody signs in at the server. */
  readonly password: () => Promise<string | null>;
  readonly guard: Pick<AddressGuard, 'check' | 'lookup'>;
  readonly log: Pick<Logger, 'warn'>;
}

interface SmtpMailerOptions {
  /** For one mail, from the name of the server to its last word. */
  readonly timeoutMs: number;
  /** Authorities that are trusted beside those Node knows; PEM. */
  readonly authorities?: readonly string[];
}

const maxRecipients = 10;

/** Nothing that could end a header, a command or an address. */
const isAddress = (text: string): boolean =>
  text.length <= 254 && /^[^\s@<>()[\],;:"\\]+@[^\s@<>()[\],;:"\\]+$/.test(text);

const recipientsIn = (to: string): string[] =>
  to
    .split(';')
    .map((address) => address.trim())
    .filter((address) => address !== '');

/** On one line, whatever somebody typed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into a header
const oneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim();

const late = 'the mail server does not answer in time';
const unencrypted = 'the mail server offers no encryption, and the account and password need it';
const untrusted = 'the certificate of the mail server is not trusted, is out of date, or is for another name';
const otherPort = 'the mail server does not speak TLS at this port: encrypted from the first byte is usually port 465';
const greylisted = 'the mail server asks to try again later';

const reasons: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server does not accept the account and password',
  ENOAUTH: 'the mail server does not accept the account and password',
  ETLS: unencrypted,
  EENVELOPE: 'the mail server does not take mail from or for this address',
  EMESSAGE: 'the mail server does not take this mail',
  ETIMEDOUT: late,
};

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof BlockedAddress) return 'the address of the mail server is not allowed';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (signal.aborted) return late;
  // The code of the library says only that the connection ended; this one why.
  const cause = error instanceof Error && 'originalCode' in error ? String(error.originalCode) : '';
  const detail = `${cause} ${error instanceof Error ? error.message : ''}`;
  if (/WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH|packet length|UNEXPECTED_MESSAGE/.test(detail))
    return otherPort;
  if (/CERT|SIGN|ISSUER|ALTNAME/.test(cause)) return untrusted;
  if (/TLS|SSL/.test(cause)) return otherPort;
  const answered = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0;
  // Of an address or a mail that is refused for now, as greylisting does with those it has never seen.
  if (answered >= 400 && answered < 500 && code !== 'EAUTH' && code !== 'ENOAUTH') return greylisted;
  return reasons[code] ?? 'the mail server cannot be reached';
}

const failed = (reason: string): Failure => new Failure('mail-failed', { reason });

/** A connection to an address that the guard lets pass; a name is resolved once. */
async function dial(
  { host, port }: MailSettings,
  guard: SmtpMailerPorts['guard'],
  signal: AbortSignal,
): Promise<Socket> {
  if (isIP(host) !== 0) await guard.check(host);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, lookup: guard.lookup, signal });
    // Stays: the signal may end the socket when nobody listens to it any more.
    socket.on('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}

export function smtpMailer(ports: SmtpMailerPorts, { timeoutMs, authorities }: SmtpMailerOptions): Mailer {
  const { guard, log } = ports;

  const transportTo = (settings: MailSettings, password: string | null, signal: AbortSignal) => {
    const { host, port, account, implicitTls } = settings;
    const signsIn = account !== '' && password !== null;
    const options: SMTPTransportOptions = {
      host,
      port,
      secure: implicitTls,
      ...(signsIn ? { auth: { user: account, pass: password } } : {}),
      ...(authorities === undefined ? {} : { tls: { ca: [...rootCertificates, ...authorities] } }),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      // What a text names is text.
      disableFileAccess: true,
      disableUrlAccess: true,
      getSocket: (_, callback) => {
        dial(settings, guard, signal).then(
          (connection) =>
            callback(null, {
              connection,
              // A password crosses nobody's network but the operator's own unencrypted, whatever the server offers.
              requireTLS: signsIn && isPublic(connection.remoteAddress ?? ''),
            }),
          (error: Error) => callback(error),
        );
      },
    };
    return createTransport(options);
  };

  return {
    async send({ to, subject, html, text }) {
      const settings = ports.settings();
      if (settings === null) throw new Failure('mail-not-configured');
      const { sender } = settings;
      const recipients = recipientsIn(to);
      if (!isAddress(sender.address)) throw failed('the address of the sender is not valid');
      if (recipients.length === 0 || recipients.length > maxRecipients || !recipients.every(isAddress))
        throw failed('the address of the recipient is not valid');
      const password = await ports.password();
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        await transportTo(settings, password, signal).sendMail({
          from: { name: oneLine(sender.name), address: sender.address },
          to: recipients.map((address) => ({ name: '', address })),
          subject: oneLine(subject),
          html,
          text,
          signal,
        });
      } catch (error) {
        const reason = reasonOf(error, signal);
        const answered = error instanceof Error && 'responseCode' in error ? error.responseCode : null;
        log.warn({ reason, answered }, 'a mail could not be sent');
        throw failed(reason);
      }
    },
  };
}
