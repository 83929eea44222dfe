import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWebhookReceiver, type WebhookReceiver } from '../support/gateway/webhook-receiver.js';
import { type Cast, dataOf, openStage } from './rest-server.js';

/* What nobody ever gets, looked for in everything there is to read. */

let stage: Cast;
const secrets = {
  channelKey: 'sk-upstream-secret-of-channel',
  option: 'smtp-password-of-operator',
  webhook: 'webhook-secret-of-alice',
};
let accessToken: string;
let aliceKey: string;

let hooks: WebhookReceiver;

beforeAll(async () => {
  hooks = await startWebhookReceiver();
  stage = await openStage();
  const { gateway, root, alice, users } = stage;
  await gateway.addChannel({ key: secrets.channelKey, tag: 'eu' });
  await gateway.setOption('SMTPToken', secrets.option);
  await alice.put('/api/user/setting', {
    notify_type: 'webhook',
    quota_warning_threshold: 1,
    webhook_url: hooks.url,
    webhook_secret: secrets.webhook,
  });
  accessToken = dataOf<string>(await alice.get('/api/user/token'));
  aliceKey = (await gateway.addApiKey(users.alice)).slice(3);
  await root.put('/api/channel/', { id: 1, priority: 1 });
});
afterAll(async () => {
  await stage.stop();
  await hooks?.stop();
});

const readable = () => [
  '/api/setup',
  '/api/status',
  '/api/pricing',
  '/api/option/',
  '/api/user/?page_size=100',
  '/api/user/search?keyword=a&page_size=100',
  `/api/user/${stage.alice.id}`,
  '/api/user/self',
  '/api/user/models',
  '/api/user/all_tokens?size=100',
  '/api/token/',
  '/api/redemption/',
  '/api/redemption/search?keyword=a',
  '/api/channel/',
  '/api/channel/?tag_mode=true',
  '/api/channel/search?keyword=upstream',
  '/api/channel/search?tag_mode=true&keyword=upstream',
  '/api/channel/1',
  '/api/channel/models_enabled',
  '/api/log/?page_size=100',
  '/api/log/self',
  '/api/log/search?keyword=2',
  '/api/data/',
  '/api/mj/',
  '/api/mj/self',
  '/api/task/',
  '/api/task/self',
];

describe('the answers to root', () => {
  test('contain no secret', async () => {
    for (const path of readable()) {
      const answer = await stage.root.get(path);
      expect(answer.status, path).toBe(200);
      expect(answer.json.success, path).toBe(true);
      for (const secret of [...Object.values(secrets), accessToken, aliceKey])
        expect(answer.text, path).not.toContain(secret);
      expect(answer.text, path).not.toMatch(/\$argon2|password_secret|key_hash|token_hash|_secret"/);
    }
  });
  test('find a channel by its whole key and still omit it', async () => {
    const answer = await stage.root.get(`/api/channel/search?keyword=${secrets.channelKey}`);
    expect(dataOf<object[]>(answer)).toHaveLength(1);
    expect(answer.text).not.toContain(secrets.channelKey);
  });
  test('contain no key when a channel is changed', async () => {
    const answer = await stage.root.put('/api/channel/', { id: 1, key: 'sk-changed-secret', name: 'renamed' });
    expect(answer.json).toMatchObject({ success: true, data: { name: 'renamed', key: '' } });
    expect(answer.text).not.toContain('sk-changed-secret');
  });
});

describe('the log of the process', () => {
  test('contains no secret either', () => {
    const text = stage.gateway.logged.join('\n');
    for (const secret of [...Object.values(secrets), accessToken, aliceKey, stage.users.alice.password])
      expect(text).not.toContain(secret);
  });
});
