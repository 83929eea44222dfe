import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserId } from '../../../src/domain/kernel/ids.js';
import type { Language } from '../../../src/domain/kernel/language.js';
import { GraphqlClient } from '../../graphql/graphql-server.js';
import { send } from '../../rest-compat/rest-server.js';
import { openCallers } from '../../support/callers/callers.js';
import { type MailServer, startMailServer } from '../../support/gateway/mail-server.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';

/* Every mail in the language of its reader, through a real mail server. */

let gateway: TestGateway;
let mails: MailServer;
let others = 5_000;

beforeAll(async () => {
  mails = await startMailServer();
  gateway = await startTestGateway();
  await gateway.addChannel();
  await gateway.setOption('SMTPServer', mails.host);
  await gateway.setOption('SMTPPort', String(mails.port));
  await gateway.setOption('SMTPFrom', 'gateway@mail.example');
});
afterAll(async () => {
  await gateway?.stop();
  await mails?.stop();
});

const headersOf: Record<Language, string> = { zh: 'zh-CN,zh;q=0.9,en;q=0.8', en: 'en-GB,en;q=0.9,zh;q=0.1' };
const browser = (language: string) =>
  new GraphqlClient(gateway.url, {
    'x-tallygate-client': 'test',
    origin: gateway.url,
    'accept-language': language,
  });

const bind = async (id: UserId, email: string): Promise<void> => {
  await gateway.application.visible(await gateway.application.users.bindings.changeEmail(id, email));
};

const notify = { notifyType: 'email', webhookUrl: '', webhookSecret: '', acceptUnpricedModels: false } as const;
const notifyAt = async (
  who: TestGateway['root'],
  notificationEmail: string,
  quotaWarningThreshold = 1,
): Promise<void> => {
  const { users, visible } = gateway.application;
  await visible(await users.changeSettings(who, { ...notify, notificationEmail, quotaWarningThreshold }));
};

interface Expected {
  readonly verification: readonly [subject: string, text: string];
  readonly reset: readonly [subject: string, text: string];
  readonly stepUp: readonly [subject: string, text: string];
  readonly quota: readonly [subject: string, text: string];
  readonly password: readonly [subject: string, text: string];
  readonly tests: readonly [subject: string, text: string];
}

const expected: Record<Language, Expected> = {
  zh: {
    verification: ['Tallygate邮箱验证邮件', '您的验证码为：'],
    reset: ['Tallygate密码重置', '重置链接 10 分钟内有效'],
    stepUp: ['Tallygate安全验证', '您的验证码为：'],
    quota: ['您的额度即将用尽', '充值链接：'],
    password: ['您的账户密码已更改', '请立即修改密码'],
    tests: ['通道测试完成', '所有通道测试已完成'],
  },
  en: {
    verification: ['Tallygate: verify your e-mail address', 'Your verification code: '],
    reset: ['Tallygate: reset your password', 'The link is valid for 10 minutes.'],
    stepUp: ['Tallygate: security check', 'Your verification code: '],
    quota: ['Your quota is running out', 'Top up: '],
    password: ['The password of your account was changed', 'If this was not you, change your password now'],
    tests: ['Channel tests finished', 'All channels have been tested'],
  },
};

const chinese = /[\u4e00-\u9fff]/;

describe.each(['zh', 'en'] as const)('a mail to a reader of %s', (language) => {
  const header = { 'accept-language': headersOf[language] };
  const arrives = async (address: string, kind: keyof Expected): Promise<void> => {
    const [subject, text] = expected[language][kind];
    const mail = await mails.mailTo(address, (received) => received.subject === subject);
    expect(mail.text).toContain(text);
    expect(mail.html).toContain(text);
    expect(chinese.test(mail.subject + mail.text + mail.html)).toBe(language === 'zh');
  };

  test('with a code for an address is in the language of the request, over both faces', async () => {
    const rest = `rest-${language}@mail.example`;
    await send(gateway.url, 'GET', `/api/verification?email=${rest}`, { headers: header });
    await arrives(rest, 'verification');
    const graphql = `graphql-${language}@mail.example`;
    await browser(headersOf[language]).ask(`mutation { sendEmailCode(email: "${graphql}") }`);
    await arrives(graphql, 'verification');
  });

  test('with the link for a forgotten password is in the language of the request', async () => {
    const { actor } = await gateway.addUser(0);
    const address = `reset-${language}@mail.example`;
    await bind(actor.id, address);
    await send(gateway.url, 'GET', `/api/reset_password?email=${address}`, { headers: header });
    await arrives(address, 'reset');
  });

  test('with the code in place of a password is in the language of the last sign-in where the request names none', async () => {
    const id = UserId(++others);
    const address = `step-up-${language}@mail.example`;
    const { users, identity } = gateway.application;
    await users.register(
      { id, username: `elsewhere${id}`, displayName: '', passwordSecret: null, role: 'ordinary' },
      [],
    );
    await bind(id, address);
    const entry = await identity.enter(id, { network: '', userAgent: '', language });
    const client = browser('fr');
    client.cookie = entry.kind === 'signed-in' ? `session=${entry.token}` : '';
    await client.ask('mutation { sendStepUpCode(purpose: PASSWORD) }');
    await arrives(address, 'stepUp');
  });

  test('without a request is in the language of the last sign-in', async () => {
    const { actor, username, password } = await gateway.addUser(100_000);
    const address = `told-${language}@mail.example`;
    await bind(actor.id, address);
    await notifyAt(actor, address, 1_000_000);
    const client = await browser(headersOf[language]).signIn(username, password);
    const callers = openCallers(gateway.url);
    await callers.with(await gateway.addApiKey({ actor })).chat({ model: 'gpt-4o-mini' });
    await callers.close();
    await arrives(address, 'quota');
    await client.ask(
      'mutation ($stepUp: String) { changeOwnProfile(patch: { password: "another-password" }, stepUp: $stepUp) { id } }',
      { stepUp: await client.proven('PASSWORD') },
    );
    await arrives(address, 'password');

    const ofRoot = `root-${language}@mail.example`;
    await notifyAt(gateway.root, ofRoot);
    await browser(headersOf[language]).signIn('root', gateway.rootPassword);
    gateway.application.channels.testAll(gateway.root);
    await arrives(ofRoot, 'tests');
  });
});

test('a mail is in Chinese for a user with no supported language', async () => {
  for (const [index, language] of ['fr, de;q=0.5', '*', 'en;q=0'].entries()) {
    const address = `unknown${index}@mail.example`;
    await send(gateway.url, 'GET', `/api/verification?email=${address}`, { headers: { 'accept-language': language } });
    expect((await mails.mailTo(address)).subject).toBe(expected.zh.verification[0]);
  }
});
