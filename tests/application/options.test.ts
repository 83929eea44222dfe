import { beforeEach, describe, expect, test } from 'vitest';
import { streams } from '../../src/domain/events.js';
import { admin, type MemoryNode, openMemoryNode, root } from '../support/memory-node.js';
import { refusal } from '../support/refusal.js';

let node: MemoryNode;

beforeEach(async () => {
  node = await openMemoryNode();
});

describe('changing an option', () => {
  test('is seen by the node as soon as the tail brings it', async () => {
    const position = await node.options.change(root, 'RetryTimes', '3');
    expect(position).toBe(await node.store.head());
    await node.caughtUp();
    expect(node.directory.settings().retryTimes).toBe(3);
  });

  test('to a value that cannot be stores nothing', async () => {
    await expect(node.options.change(root, 'RetryTimes', 'many')).rejects.toThrow(
      refusal('option-value-invalid', { field: 'RetryTimes', allowed: 'an integer from 0 to 100' }),
    );
    await expect(node.options.change(root, 'ModelRatio', '{"o1":-1}')).rejects.toThrow(
      refusal('option-value-invalid', { field: 'ModelRatio.o1' }),
    );
    await expect(node.options.change(root, '', 'x')).rejects.toThrow(refusal('option-value-invalid', { field: 'key' }));
    expect(await node.store.everything()).toStrictEqual([]);
  });

  test('that needs something first is judged by the log: what was filled in a moment ago counts', async () => {
    await expect(node.options.change(root, 'GitHubOAuthEnabled', 'true')).rejects.toThrow(
      refusal('option-prerequisite-missing', { field: 'GitHubOAuthEnabled', needed: 'GitHubClientId' }),
    );
    node.store.hold();
    await node.options.change(root, 'GitHubClientId', 'id');
    await expect(node.options.change(root, 'GitHubOAuthEnabled', 'true')).resolves.toBeDefined();
    node.store.letGo();
  });

  test('nobody has heard of is stored and listed', async () => {
    await node.options.change(root, 'MyOption', '{');
    await node.caughtUp();
    expect(node.options.list(root)).toContainEqual({ key: 'MyOption', value: '{' });
  });

  test('is for root', async () => {
    await expect(node.options.change(admin, 'RetryTimes', '3')).rejects.toThrow(refusal('role-too-low'));
    expect(() => node.options.list(admin)).toThrow(refusal('role-too-low'));
  });

  test('back to what it held before anybody changed it', async () => {
    await node.options.change(root, 'RetryTimes', '3');
    await node.options.reset(root, 'RetryTimes');
    await node.caughtUp();
    expect(node.directory.settings().retryTimes).toBe(0);
    await expect(node.options.reset(admin, 'RetryTimes')).rejects.toThrow(refusal('role-too-low'));
  });
});

describe('a secret option', () => {
  test.each(['SMTPToken', 'oidc.client_secret', 'MyOwnSecret'])('%s goes into the vault', async (key) => {
    await node.options.change(root, key, 'planted');
    await node.caughtUp();
    const place = node.directory.optionSecret(key);
    expect(place !== null && 'secret' in place && (await node.vault.get(place.secret))).toBe('planted');
    expect(JSON.stringify(await node.store.everything())).not.toContain('planted');
    expect(node.options.list(root).map((option) => option.key)).not.toContain(key);
  });

  test('that is emptied is no secret any more', async () => {
    await node.options.change(root, 'TelegramBotToken', 'planted');
    await node.options.change(root, 'TelegramBotToken', '');
    await node.caughtUp();
    expect(node.directory.optionSecret('TelegramBotToken')).toBeNull();
    expect(node.options.list(root).map(({ key }) => key)).not.toContain('TelegramBotToken');
    await expect(node.options.change(root, 'TelegramOAuthEnabled', 'true')).rejects.toThrow(
      refusal('option-prerequisite-missing'),
    );
    expect((await node.eventsOf(streams.options)).at(-1)).toMatchObject({ value: { text: '' } });
  });
});

test('the list has every option that is no secret, sorted, with the values in force', async () => {
  await node.options.change(root, 'Notice', 'hello');
  await node.caughtUp();
  const list = node.options.list(root);
  const keys = list.map(({ key }) => key);
  expect(keys).toStrictEqual([...keys].sort());
  expect(list).toContainEqual({ key: 'Notice', value: 'hello' });
  expect(list).toContainEqual({ key: 'RetryTimes', value: '0' });
  expect(list).toContainEqual({ key: 'TurnstileSiteKey', value: '' });
  for (const hidden of ['SMTPToken', 'oidc.client_secret', 'EpayKey']) expect(keys).not.toContain(hidden);
});
