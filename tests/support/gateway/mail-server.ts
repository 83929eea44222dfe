import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressObject, type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { certificate, certificateKey } from '../inputs/certificate.js';
import { until } from '../until.js';

/* A real SMTP server that keeps what it is sent, as a mail program reads it. */

interface ReceivedMail {
  readonly from: string;
  /** As the server received it, not as the header says. */
  readonly to: readonly string[];
  readonly senderName: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  /** All headers, by lower-case names. */
  readonly headers: ParsedMail['headers'];
  /** The connection it came by was encrypted. */
  readonly encrypted: boolean;
  /** Who had signed in; '': nobody. */
  readonly user: string;
}

export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** Connections there have been. */
  readonly connections: () => number;
  /** Takes nothing more, and forgets nothing: `start` goes on at the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** The first mail to that address which `wanted` takes, as soon as there is one. */
  mailTo(address: string, wanted?: (mail: ReceivedMail) => boolean): Promise<ReceivedMail>;
}

export interface MailServerOptions {
  /** Signing in is demanded, with this. */
  readonly credentials?: { readonly account: string; readonly password: string };
  /** TLS from the first byte. */
  readonly implicitTls?: boolean;
  /** STARTTLS is not offered, as gateways do not trust the server's certificate; usually so. */
  readonly plainOnly?: boolean;
  /** Answers to commands, in place of the usual ones. */
  readonly behaviour?: Partial<SMTPServerOptions>;
}

/** No system gives these to whoever asks for any port, so that nobody else has it while the server is stopped. */
const unassigned = [20_000, 32_000] as const;
const maxTries = 20;

const addressIn = (to: AddressObject | undefined): string => to?.value[0]?.address ?? '';

export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { credentials, implicitTls = false, plainOnly = true, behaviour = {} } = options;
  const received: ReceivedMail[] = [];
  let connections = 0;
  let port = 0;
  let server: SMTPServer;

  const open = (): SMTPServer =>
    new SMTPServer({
      secure: implicitTls,
      key: certificateKey,
      cert: certificate,
      authOptional: credentials === undefined,
      allowInsecureAuth: true,
      disabledCommands: plainOnly ? ['STARTTLS'] : [],
      onConnect(_, done) {
        connections++;
        done();
      },
      onAuth({ username, password }, _, done) {
        const known = username === credentials?.account && password === credentials?.password;
        if (known) done(null, { user: username });
        else done(new Error('535 wrong'));
      },
      onData(stream, { envelope, secure, user }, done) {
        simpleParser(stream).then(
          (mail) => {
            received.push({
              from: addressIn(mail.from),
              to: envelope.rcptTo.map(({ address }) => address),
              senderName: mail.from?.value[0]?.name ?? '',
              subject: mail.subject ?? '',
              html: typeof mail.html === 'string' ? mail.html : '',
              text: mail.text ?? '',
              headers: mail.headers,
              encrypted: secure,
              user: user ?? '',
            });
            done();
          },
          (error: Error) => done(error),
        );
      },
      ...behaviour,
    });

  const listen = async (at: number): Promise<void> => {
    server = open();
    // A client that leaves in the middle is what some tests are about.
    server.on('error', () => {});
    server.listen(at, '127.0.0.1');
    await once(server.server, 'listening');
    port = at;
  };
  const start = async (): Promise<void> => {
    if (port !== 0) return listen(port);
    for (let tries = 1; port === 0; tries++)
      await listen(randomInt(...unassigned)).catch((error: unknown) => {
        if (tries === maxTries) throw error;
      });
  };
  await start();

  return {
    host: '127.0.0.1',
    get port() {
      return port;
    },
    received,
    connections: () => connections,
    start,
    stop: () =>
      new Promise((resolve) => {
        for (const connection of server.connections) connection.close();
        server.close(resolve);
      }),
    mailTo: (address, wanted = () => true) =>
      until(async () => received.find((mail) => mail.to.includes(address) && wanted(mail)) ?? null, 30_000),
  };
}
