import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { smtpMailer } from '../../../src/adapters/mail/smtp-mailer.js';
import type { MailSettings } from '../../../src/application/options/mail-settings.js';
import type { Mail } from '../../../src/application/ports/outbound-ports.js';
import { addressGuard, type Resolve } from '../../../src/outbound/address-guard.js';
import { type MailServer, type MailServerOptions, startMailServer } from '../../support/gateway/mail-server.js';
import { certificate } from '../../support/inputs/certificate.js';
import { quietLog } from '../../support/quiet-log.js';
import { refusal } from '../../support/refusal.js';

let server: MailServer | null = null;
afterEach(async () => {
  await server?.stop();
  server = null;
});

const started = async (options: MailServerOptions = {}): Promise<MailServer> => {
  server = await startMailServer({ plainOnly: false, ...options });
  return server;
};

const here: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];
const inside = ['127.0.0.0/8'];

interface MailerOf extends Partial<MailSettings> {
  readonly password?: string | null;
  readonly networks?: readonly string[];
  readonly timeoutMs?: number;
  readonly resolve?: Resolve;
}

const mailerTo = (at: Pick<MailServer, 'host' | 'port'>, given: MailerOf = {}) => {
  const { password = null, networks = inside, timeoutMs = 10_000, resolve = here, ...settings } = given;
  const { host, port } = at;
  const sender = { name: 'Tallygate', address: 'gateway@mail.example' };
  return smtpMailer(
    {
      settings: () => ({ host, port, account: '', sender, implicitTls: false, ...settings }),
      password: async () => password,
      guard: addressGuard(networks, resolve),
      log: quietLog,
    },
    { timeoutMs, authorities: [certificate] },
  );
};

const mail: Mail = {
  to: 'alice@mail.example',
  subject: 'A code',
  html: '<p>Your code is <b>1</b></p>',
  text: 'Your code is 1',
};
const reason = (text: string) => refusal('mail-failed', { reason: text });

describe('a mail', () => {
  test('arrives with its sender, its subject and both of its texts', async () => {
    const to = await started({ plainOnly: true });
    await mailerTo(to).send(mail);
    expect(to.received).toEqual([
      expect.objectContaining({
        from: 'gateway@mail.example',
        to: ['alice@mail.example'],
        senderName: 'Tallygate',
        subject: 'A code',
        html: mail.html,
        text: expect.stringContaining(mail.text),
        encrypted: false,
        user: '',
      }),
    ]);
  });

  test('is encrypted where the server offers TLS', async () => {
    const to = await started();
    await mailerTo({ host: 'mail.example', port: to.port }).send(mail);
    expect(to.received).toMatchObject([{ encrypted: true }]);
  });

  test('is encrypted from the first byte where the options require it', async () => {
    const to = await started({ implicitTls: true });
    await mailerTo({ host: 'mail.example', port: to.port }, { implicitTls: true }).send(mail);
    expect(to.received).toMatchObject([{ encrypted: true }]);
  });

  test('may be in any script', async () => {
    const to = await started();
    const sender = { name: '网关 “一号”', address: 'gateway@mail.example' };
    await mailerTo(to, { sender }).send({
      ...mail,
      subject: '您的额度即将用尽',
      html: '<p>充值链接</p>',
      text: '充值链接',
    });
    expect(to.received).toMatchObject([
      { senderName: sender.name, subject: '您的额度即将用尽', html: '<p>充值链接</p>' },
    ]);
  });

  test('is sent to several recipients if there are several', async () => {
    const to = await started();
    await mailerTo(to).send({ ...mail, to: 'alice@mail.example; bob@mail.example;' });
    expect(to.received).toMatchObject([{ to: ['alice@mail.example', 'bob@mail.example'] }]);
  });

  test('has only the headers and recipients of the order, whatever is in its texts', async () => {
    const to = await started();
    const sender = { name: 'Evil\r\nBcc: eve@mail.example', address: 'gateway@mail.example' };
    await mailerTo(to, { sender }).send({ ...mail, subject: 'Hello\r\nBcc: eve@mail.example\r\n\r\nAnother text' });
    expect(to.received).toMatchObject([
      { to: ['alice@mail.example'], subject: 'Hello Bcc: eve@mail.example Another text' },
    ]);
    expect([...(to.received[0]?.headers.keys() ?? [])]).not.toContain('bcc');
  });

  test.each([
    '',
    ';',
    'alice',
    'a@b c',
    'a@b\r\nRCPT TO:<eve@mail.example>',
    '<a@b>',
    'a@b,c@d',
    `${'a'.repeat(250)}@b.example`,
  ])('is not sent to %j', async (address) => {
    const to = await started();
    await expect(mailerTo(to).send({ ...mail, to: address })).rejects.toThrow(
      reason('the address of the recipient is not valid'),
    );
    expect(to.connections()).toBe(0);
  });

  test('is not sent from an invalid address', async () => {
    const to = await started();
    const sender = { name: 'x', address: 'nobody\r\nMAIL' };
    await expect(mailerTo(to, { sender }).send(mail)).rejects.toThrow(reason('the address of the sender is not valid'));
  });
});

describe('signing in at the mail server', () => {
  const credentials = { account: 'gateway', password: 'kept-secret' };

  test('permits the mail', async () => {
    const to = await started({ credentials });
    await mailerTo({ host: 'mail.example', port: to.port }, credentials).send(mail);
    expect(to.received).toMatchObject([{ user: 'gateway', encrypted: true }]);
  });

  test('may be unencrypted inside a network that the operator has allowed', async () => {
    const to = await started({ credentials, plainOnly: true });
    await mailerTo(to, credentials).send(mail);
    expect(to.received).toMatchObject([{ user: 'gateway', encrypted: false }]);
  });

  test('with a wrong password is reported as that, without account and password', async () => {
    const to = await started({ credentials });
    const sending = mailerTo({ host: 'mail.example', port: to.port }, { ...credentials, password: 'guessed-one' }).send(
      mail,
    );
    const refused = await sending.catch((error: unknown) => error);
    expect(refused).toEqual(reason('the mail server does not accept the account and password'));
    expect(JSON.stringify(refused)).not.toMatch(/guessed-one|mail\.example|"gateway"/);
    expect(to.received).toEqual([]);
  });
});

describe('a mail server', () => {
  test('that is not configured sends nothing', async () => {
    const mailer = smtpMailer(
      { settings: () => null, password: async () => null, guard: addressGuard([], here), log: quietLog },
      { timeoutMs: 1000 },
    );
    await expect(mailer.send(mail)).rejects.toThrow(refusal('mail-not-configured'));
  });

  test('that is down is reported as unreachable', async () => {
    const { host, port } = await started();
    await server?.stop();
    server = null;
    await expect(mailerTo({ host, port }).send(mail)).rejects.toThrow(reason('the mail server cannot be reached'));
  });

  test('with an untrusted certificate gets no mail', async () => {
    const to = await started();
    // The certificate is for another name.
    await expect(mailerTo({ host: 'other.example', port: to.port }).send(mail)).rejects.toThrow(
      reason('the certificate of the mail server is not trusted, is out of date, or is for another name'),
    );
    expect(to.received).toEqual([]);
  });

  test.each([
    ['sends nothing', (_: Socket) => {}],
    ['is silent after its greeting', (socket: Socket) => void socket.write('220 mail.example ESMTP\r\n')],
  ])('that %s is abandoned at its timeout', async (_, serve) => {
    const silent = createServer((socket) => {
      socket.on('error', () => {}).resume();
      serve(socket);
    }).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const ended = once(silent, 'connection').then(([socket]) => once(socket as Socket, 'close'));
    await expect(mailerTo({ host: '127.0.0.1', port }, { timeoutMs: 300 }).send(mail)).rejects.toThrow(
      reason('the mail server does not answer in time'),
    );
    await ended;
    silent.close();
  });

  test('that speaks no TLS at this port is distinguished from an untrusted one', async () => {
    const { host, port } = await started();
    await expect(mailerTo({ host, port }, { implicitTls: true }).send(mail)).rejects.toThrow(
      reason('the mail server does not speak TLS at this port: encrypted from the first byte is usually port 465'),
    );
  });

  test('that defers unknown senders, as with greylisting, is reported as asking to try again later', async () => {
    const deferred = Object.assign(new Error('450 greylisted'), { responseCode: 450 });
    const to = await started({ behaviour: { onRcptTo: (_, __, done) => done(deferred) } });
    await expect(mailerTo(to).send(mail)).rejects.toThrow(reason('the mail server asks to try again later'));
  });

  test('that refuses the recipient is reported without its message', async () => {
    const to = await started({
      behaviour: { onRcptTo: (_, __, done) => done(new Error('550 alice@mail.example is unknown here')) },
    });
    await expect(mailerTo(to).send(mail)).rejects.toThrow(
      reason('the mail server does not take mail from or for this address'),
    );
  });

  test.each(['127.0.0.1', 'mail.example'])(
    'at %s, which is not public, is not dialled unless it is allowed',
    async (host) => {
      const to = await started();
      await expect(mailerTo({ host, port: to.port }, { networks: [] }).send(mail)).rejects.toThrow(
        reason('the address of the mail server is not allowed'),
      );
      expect(to.connections()).toBe(0);
    },
  );
});
