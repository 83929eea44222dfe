import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newClient } from '../../../src/adapters/database/postgres.js';
import { startGateway } from '../../../src/bootstrap/gateway.js';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import { openCallers } from '../../support/callers/callers.js';
import { signIn } from '../../support/gateway/sign-in.js';
import { configFor, startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { ownProfile } from '../../support/given/user-inputs.js';
import { createEmptyDatabase } from '../../support/postgres/postgres.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

let gateway: TestGateway;
let database: pg.Client;

beforeAll(async () => {
  gateway = await startTestGateway();
  database = newClient({ url: gateway.config.database.url ?? '' });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await gateway.stop();
});

const secrets = async (): Promise<number> =>
  Number((await database.query('SELECT count(*) AS secrets FROM vault_secrets')).rows[0].secrets);
const shrinksTo = (wanted: number) => until(async () => ((await secrets()) === wanted ? true : null));

test('the vault contains the secrets in use: a replaced or deleted one is removed, and calls continue', async () => {
  const { application, root } = gateway;
  const channel = await gateway.addChannel({ key: 'sk-first-key' });
  const user = await gateway.addUser(1_000_000);
  const doomed = await gateway.addUser(0);
  const apiKey = await gateway.addApiKey(user);
  const deletedKey = await application.apiKeys.issue(user.actor, {
    quota: 1,
    terms: {
      ...{ name: 'short lived', unlimited: false, expiresAt: null },
      ...{ modelLimitsEnabled: false, modelLimits: [], allowIps: [], group: '' },
    },
  });
  await gateway.setOption('SMTPToken', 'first');
  // Root's password, the channel's key, two users' passwords, two API keys, one option.
  expect(await secrets()).toBe(7);

  await application.channels.edit(root, channel, { settings: {}, key: 'sk-second-key', proxy: '' });
  await application.users.changeOwnProfile(
    user.actor,
    ownProfile({ password: 'another-password' }),
    await gateway.proven(user, 'password'),
  );
  await application.apiKeys.remove(user.actor, deletedKey.id);
  await gateway.setOption('SMTPToken', 'second');
  await application.visible(await application.users.manage(root, doomed.actor.id, 'delete'));
  await shrinksTo(5);

  const answer = await openCallers(gateway.url).with(apiKey).chat({ model: 'gpt-4o-mini' });
  expect(answer.status).toBe(200);
  await signIn(application.identity, user.username, 'another-password');
  expect(gateway.logged.filter((line) => line.includes('reaction failed'))).toEqual([]);
});

test('secrets left by a dead process are removed by the next one, and none in use is', async () => {
  const ours = await createEmptyDatabase();
  const rows = async (table: string): Promise<number> => {
    const client = newClient(ours.connection);
    await client.connect();
    const { rows } = await client.query(`SELECT count(*)::integer AS rows FROM ${table}`);
    // As after a crash: nothing of what was reacted to has been written down.
    await client.query('DELETE FROM reaction_places');
    await client.end();
    return rows[0].rows;
  };
  const config = configFor(ours);
  try {
    const first = await startGateway(config, quietLog);
    const password = 'root-password-1';
    const setUp = await first.application.setup.complete({
      ...{ username: 'root', mode: 'external' },
      ...{ password, confirmPassword: password },
    });
    await first.application.visible(setUp);
    const { user: root } = await signIn(first.application.identity, 'root', password);
    const { ids } = await first.application.channels.add(root, {
      ...{ settings: channelSettings(), key: 'sk-first-key', proxy: 'http://proxy.example', enabled: false },
    });
    const id = ids[0] as ChannelId;
    await first.application.visible(
      await first.application.channels.edit(root, id, { settings: {}, key: 'sk-second-key', proxy: '' }),
    );
    // Sooner than anything is dropped, or not: the next process finds the same.
    await first.stop();
    await rows('vault_secrets');

    const second = await startGateway(config, quietLog);
    try {
      await until(async () => ((await rows('vault_secrets')) === 2 ? true : null));
      expect((await signIn(second.application.identity, 'root', password)).user.id).toBe(root.id);
      await second.application.channels.remove(root, [id]);
      await until(async () => ((await rows('vault_secrets')) === 1 ? true : null));
    } finally {
      await second.stop();
    }
  } finally {
    await ours.drop();
  }
});
