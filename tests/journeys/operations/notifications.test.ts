import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { UserSettings } from '../../../src/domain/user/user-fields.js';
import { type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { type MailServer, startMailServer } from '../../support/gateway/mail-server.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { signatureOf, startWebhookReceiver, type WebhookReceiver } from '../../support/gateway/webhook-receiver.js';
import { refusal } from '../../support/refusal.js';
import { until } from '../../support/until.js';
import { startUpstream } from '../../support/upstreams/upstream.js';

/* A gateway that notifies users of what happens to them, with a real mail server and real webhooks. */

let gateway: TestGateway;
let callers: Callers;
let mails: MailServer;
let hooks: WebhookReceiver;
let user: TestUser;
let caller: Caller;

/** Less than is left after any call of these tests, and more than nobody has. */
const balance = 100_000;
const threshold = 1_000_000;

beforeAll(async () => {
  mails = await startMailServer();
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  await gateway.addChannel();
  await gateway.setOption('SMTPServer', mails.host);
  await gateway.setOption('SMTPPort', String(mails.port));
  await gateway.setOption('SMTPFrom', 'gateway@mail.example');
  await gateway.setOption('ServerAddress', 'https://gate.example/');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await mails?.stop();
});
beforeEach(async () => {
  hooks = await startWebhookReceiver();
  user = await gateway.addUser(balance);
  caller = callers.with(await gateway.addApiKey(user));
  return () => hooks.stop();
});

const settings = (changed: Partial<UserSettings>): UserSettings => ({
  notifyType: 'email',
  quotaWarningThreshold: threshold,
  webhookUrl: '',
  webhookSecret: '',
  notificationEmail: '',
  acceptUnpricedModels: false,
  ...changed,
});

const choose = async (changed: Partial<UserSettings>, who = user.actor): Promise<void> => {
  await gateway.application.visible(await gateway.application.users.changeSettings(who, settings(changed)));
};
const byMail = (address: string) => choose({ notificationEmail: address });
const byWebhook = (webhookSecret = '') =>
  choose({ notifyType: 'webhook', webhookUrl: `${hooks.url}/hook`, webhookSecret });

const call = async (): Promise<void> => {
  expect((await caller.chat({ model: 'gpt-4o-mini' })).status).toBe(200);
};
const state = () => gateway.application.queries.notifications(gateway.root);

describe('a user whose quota runs low', () => {
  test('is notified by mail, at the address chosen for it', async () => {
    await byMail('quota@mail.example');
    await call();
    const mail = await mails.mailTo('quota@mail.example');
    const left = ((await gateway.available(user)) / 500_000).toFixed(6);
    expect(mail).toMatchObject({
      subject: '您的额度即将用尽',
      senderName: 'Tallygate',
      text: expect.stringContaining(`当前剩余额度为 ＄${left} 额度`),
      html: expect.stringContaining("<a href='https://gate.example/topup'>https://gate.example/topup</a>"),
    });
  });

  test('is notified by a signed webhook', async () => {
    await byWebhook('shared-secret');
    await call();
    const { headers, body, payload: notified, url } = await hooks.ofType('quota_exceed');
    expect(url).toBe('/hook');
    expect(headers['content-type']).toBe('application/json');
    expect(headers['x-webhook-signature']).toBe(signatureOf('shared-secret', body));
    expect(notified).toEqual({
      type: 'quota_exceed',
      title: '您的额度即将用尽',
      content:
        "{{value}}，当前剩余额度为 {{value}}，为了不影响您的使用，请及时充值。<br/>充值链接：<a href='{{value}}'>{{value}}</a>",
      values: [
        '您的额度即将用尽',
        `＄${((await gateway.available(user)) / 500_000).toFixed(6)} 额度`,
        'https://gate.example/topup',
        'https://gate.example/topup',
      ],
      timestamp: expect.any(Number),
    });
  });

  test('without a secret is notified by an unsigned webhook', async () => {
    await byWebhook();
    await call();
    expect((await hooks.ofType('quota_exceed')).headers).not.toHaveProperty('x-webhook-signature');
  });

  test('is notified through the configured worker, where there is one', async () => {
    await gateway.setOption('WorkerUrl', `${hooks.url}/worker`);
    await gateway.setOption('WorkerValidKey', 'worker-key');
    await choose({ notifyType: 'webhook', webhookUrl: 'https://hooks.example/q', webhookSecret: 'shared-secret' });
    await call();
    const wrapped = await until(async () => hooks.received[1] ?? null, 30_000);
    await gateway.setOption('WorkerUrl', '');
    const { url, payload: notified } = wrapped;
    const body = JSON.stringify(notified.body);
    expect(url).toBe('/worker');
    expect(notified).toEqual({
      url: 'https://hooks.example/q',
      key: 'worker-key',
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Webhook-Signature': signatureOf('shared-secret', body),
        Authorization: 'Bearer shared-secret',
      },
      body: expect.objectContaining({ type: 'quota_exceed' }),
    });
  });

  test('is notified twice, however many calls follow', async () => {
    await byWebhook();
    for (const times of [1, 2]) {
      await call();
      await until(async () => (hooks.received.length > times ? true : null), 30_000);
    }
    await call();
    // Whoever is charged later is notified later: by then the third has been decided.
    user = await gateway.addUser(balance);
    caller = callers.with(await gateway.addApiKey(user));
    await byMail('barrier@mail.example');
    await call();
    await mails.mailTo('barrier@mail.example');
    expect(hooks.received.map(({ payload: notified }) => notified.type)).toEqual([
      'test',
      'quota_exceed',
      'quota_exceed',
    ]);
  });

  test('is not notified while enough quota is left', async () => {
    await choose({ notificationEmail: 'rich@mail.example', quotaWarningThreshold: 1 });
    await call();
    user = await gateway.addUser(balance);
    caller = callers.with(await gateway.addApiKey(user));
    await byMail('poor@mail.example');
    await call();
    await mails.mailTo('poor@mail.example');
    expect(mails.received.some(({ to }) => to.includes('rich@mail.example'))).toBe(false);
  });
});

test('root is notified of a channel that was disabled automatically, with the reason', async () => {
  await choose({ notificationEmail: 'root@mail.example' }, gateway.root);
  await gateway.setOption('SelfUseModeEnabled', 'true');
  await gateway.setOption('AutomaticDisableChannelEnabled', 'true');
  gateway.provider.script('broken', {
    kind: 'refuse',
    status: 401,
    body: { error: { message: 'no', type: 'server_error', code: 'invalid_api_key' } },
  });
  const id = await gateway.addChannel({ name: '东 <1>', models: ['broken'] });
  await caller.chat({ model: 'broken' });
  const { subject, text } = await mails.mailTo('root@mail.example');
  expect(subject).toBe(`通道「东 <1>」（#${id}）已被禁用`);
  expect(text).toContain(`${subject}，原因：`);
});

test('root is notified that all channels have been tested, and which accounts run out', async () => {
  await choose({ notifyType: 'webhook', webhookUrl: `${hooks.url}/root` }, gateway.root);
  const provider = await startUpstream((_, response) =>
    response.end(JSON.stringify({ balance_infos: [{ currency: 'CNY', total_balance: '0.25' }] })),
  );
  const id = await gateway.addChannel({ name: 'east', type: 43, baseUrl: provider.url, models: ['deepseek-chat'] });
  gateway.application.channels.testAll(gateway.root);
  expect((await hooks.ofType('channel_test')).payload).toEqual({
    type: 'channel_test',
    title: '通道测试完成',
    content: '所有通道测试已完成',
    timestamp: expect.any(Number),
  });
  await gateway.application.channels.updateBalances(gateway.root);
  expect((await hooks.ofType(`channel_balance_${id}`)).payload).toMatchObject({
    title: `通道「east」（#${id}）余额不足`,
    content: `通道「east」（#${id}）余额不足，当前余额：0.25 CNY`,
  });
  await provider.stop();
});

test('a mail that a mail server could not accept is sent when it is back, and no other notification waits for it', async () => {
  await mails.stop();
  await byMail('later@mail.example');
  await call();
  await until(async () => ((await state()).waiting > 0 ? true : null));
  // Somebody else, who has not chosen mail.
  user = await gateway.addUser(balance);
  caller = callers.with(await gateway.addApiKey(user));
  await byWebhook();
  await call();
  await hooks.ofType('quota_exceed');
  await mails.start();
  expect(await mails.mailTo('later@mail.example')).toMatchObject({ subject: '您的额度即将用尽' });
  await until(async () => ((await state()).waiting === 0 ? true : null));
});

describe('a webhook', () => {
  test('is tested before it is stored', async () => {
    await byWebhook('shared-secret');
    expect(hooks.received).toHaveLength(1);
    const [{ headers, body, payload: notified } = {}] = hooks.received;
    expect(notified).toMatchObject({ type: 'test' });
    expect(headers?.['x-webhook-signature']).toBe(signatureOf('shared-secret', body ?? ''));
  });

  test('that fails its test is not stored, with the reason', async () => {
    hooks.answer = 500;
    await expect(byWebhook()).rejects.toThrow(refusal('webhook-failed', { reason: 'it was answered with status 500' }));
    expect((await gateway.application.queries.self(user.actor)).settings).toBe('');
  });

  test('to a private address is refused, without disclosing what is there', async () => {
    const reason = 'the address cannot be reached, or must not be';
    for (const webhookUrl of ['https://169.254.169.254/latest', 'https://10.0.0.7/', 'http://127.0.0.1:1/'])
      await expect(choose({ notifyType: 'webhook', webhookUrl })).rejects.toThrow(
        refusal('webhook-failed', { reason }),
      );
  });

  test('that redirects is not followed', async () => {
    hooks.answer = 307;
    await expect(byWebhook()).rejects.toThrow(refusal('webhook-failed', { reason: 'it was answered with status 307' }));
    expect(hooks.received).toHaveLength(1);
  });

  test('is not tested at an unlimited rate', async () => {
    for (let trial = 0; trial < 5; trial++) await byWebhook();
    await expect(byWebhook()).rejects.toThrow(refusal('too-many-attempts'));
    expect(hooks.received).toHaveLength(5);
  });
});
