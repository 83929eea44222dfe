import { expect, test } from 'vitest';
import { UserId } from '../../src/domain/kernel/ids.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import { channelSettings } from '../support/given/channel-settings.js';
import { admin, openMemoryNode, root } from '../support/memory/memory-node.js';

/** Everything that must never be in the log, planted where a caller could put it. */
const planted = {
  rootPassword: 'planted-root-pw',
  userPassword: 'planted-user-pw',
  newPassword: 'planted-new-pw',
  editedPassword: 'planted-edit-pw',
  displayName: 'planted-display',
  newDisplayName: 'planted-display2',
  webhookSecret: 'planted-webhook-secret',
  webhookUrl: 'https://hooks.example/planted-url',
  notificationEmail: 'planted@mail.example',
  channelKey: 'sk-planted-channel',
  secondChannelKey: 'sk-planted-second',
  newChannelKey: 'sk-planted-new',
  proxy: 'http://user:planted-proxy@proxy.example',
  newProxy: 'http://user:planted-new-proxy@proxy.example',
  smtpToken: 'planted-smtp',
  unknownSecret: 'planted-unknown',
} as const;

test('no event contains a secret or personal data, whatever is done', async () => {
  const node = await openMemoryNode();
  const { users, apiKeys, channels, options, setup, store, caughtUp } = node;
  const { rootPassword, userPassword } = planted;
  await setup.complete({ username: 'root', password: rootPassword, confirmPassword: rootPassword, mode: 'external' });
  await caughtUp();

  const { displayName } = planted;
  const { id } = await users.create(root, { username: 'alice', password: userPassword, displayName });
  await caughtUp();
  const alice = { id, role: 'ordinary' } as const;
  await users.changeOwnProfile(alice, { username: 'al', password: planted.newPassword, displayName: null });
  await users.edit(root, id, {
    ...{ username: null, group: 'vip', quota: 500, role: null },
    password: planted.editedPassword,
    displayName: planted.newDisplayName,
  });
  const settings = {
    quotaWarningThreshold: 5,
    acceptUnpricedModels: true,
    notificationEmail: planted.notificationEmail,
  };
  const webhook = { webhookUrl: planted.webhookUrl, webhookSecret: planted.webhookSecret };
  await users.changeSettings(alice, { ...settings, ...webhook, notifyType: 'webhook' });
  await users.changeSettings(alice, { ...settings, ...webhook, notifyType: 'email' });
  const { token } = await users.issueAccessToken(alice);

  const issued = await apiKeys.issue(alice, { terms: apiKeyTerms(), quota: 100 });
  await apiKeys.edit(alice, issued.id, { terms: apiKeyTerms({ name: 'build' }), quota: 50 });
  await apiKeys.setStatus(alice, issued.id, 'manual');
  await apiKeys.setStatus(alice, issued.id, 'enabled');
  await apiKeys.remove(alice, issued.id);

  const key = `${planted.channelKey}\n${planted.secondChannelKey}`;
  const { ids } = await channels.add(admin, { settings: channelSettings(), key, proxy: planted.proxy, enabled: true });
  await caughtUp();
  for (const channelId of ids) {
    await channels.edit(admin, channelId, { settings: {}, key: planted.newChannelKey, proxy: planted.newProxy });
    await channels.test(admin, channelId, '');
  }
  await channels.remove(admin, ids);

  await options.change(root, 'SMTPToken', planted.smtpToken);
  await options.change(root, 'MyOwnToken', planted.unknownSecret);
  await users.manage(root, id, 'disable');
  await users.manage(root, id, 'delete');

  const log = JSON.stringify(await store.everything());
  for (const [what, secret] of Object.entries({ ...planted, token, apiKey: issued.key }))
    expect(log.includes(secret), what).toBe(false);
  for (const stored of node.vault.secrets.values()) expect(log).not.toContain(stored);

  // The search would have found them: what may be shown is there.
  expect(log).toContain('"username":"alice"');
  expect(log).toContain(node.vault.hash(issued.key));
  expect(log).toContain(`user-${UserId(1)}`);
  expect([...node.vault.secrets.values()]).toEqual(
    expect.arrayContaining([
      planted.channelKey,
      planted.newProxy,
      planted.smtpToken,
      planted.webhookSecret,
      issued.key,
    ]),
  );
});
