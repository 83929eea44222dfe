import { beforeEach, describe, expect, test } from 'vitest';
import { beginning, streams } from '../../../src/domain/events/events.js';
import { newEvent } from '../../support/given/events.js';
import { admin, type MemoryNode, openMemoryNode, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;

beforeEach(async () => {
  node = await openMemoryNode();
});

describe('changing an option', () => {
  test('takes effect on the node as soon as the tail brings it', async () => {
    const position = await node.options.change(root, 'RetryTimes', '3');
    expect(position).toBe(await node.store.head());
    await node.caughtUp();
    expect(node.directory.settings().retryTimes).toBe(3);
  });

  test('to an invalid value stores nothing', async () => {
    await expect(node.options.change(root, 'RetryTimes', 'many')).rejects.toThrow(
      refusal('option-value-invalid', { field: 'RetryTimes', allowed: 'an integer from 0 to 100' }),
    );
    await expect(node.options.change(root, 'ModelRatio', '{"o1":-1}')).rejects.toThrow(
      refusal('option-value-invalid', { field: 'ModelRatio.o1' }),
    );
    await expect(node.options.change(root, '', 'x')).rejects.toThrow(refusal('option-value-invalid', { field: 'key' }));
    expect(await node.store.everything()).toStrictEqual([]);
  });

  test('that requires another one is checked against the log: a value set just before counts', async () => {
    await expect(node.options.change(root, 'GitHubOAuthEnabled', 'true')).rejects.toThrow(
      refusal('option-prerequisite-missing', { field: 'GitHubOAuthEnabled', needed: 'GitHubClientId' }),
    );
    node.store.hold();
    await node.options.change(root, 'GitHubClientId', 'id');
    await expect(node.options.change(root, 'GitHubOAuthEnabled', 'true')).resolves.toBeDefined();
    node.store.letGo();
  });

  test('that is unknown stores and lists it', async () => {
    await node.options.change(root, 'MyOption', '{');
    await node.caughtUp();
    expect(node.options.list(root)).toContainEqual({ key: 'MyOption', value: '{' });
  });

  test('that is fixed is refused with the reason, except for its fixed value', async () => {
    await expect(node.options.change(root, 'CheckSensitiveOnCompletionEnabled', 'true')).rejects.toThrow(
      refusal('option-fixed', {
        field: 'CheckSensitiveOnCompletionEnabled',
        allowed: 'false',
        because: 'answers-unseen',
      }),
    );
    await expect(node.options.change(root, 'CheckSensitiveOnCompletionEnabled', 'false')).resolves.toBeDefined();
    await expect(node.options.change(root, 'DataExportInterval', '')).resolves.toBeDefined();
  });

  test('that is fixed but was set in an earlier release has no effect', async () => {
    const earlier = {
      type: 'OptionChanged',
      key: 'CheckSensitiveOnCompletionEnabled',
      value: { text: 'true' },
      by: root.id,
    } as const;
    await node.store.append(streams.options, [{ ...newEvent(1), event: earlier }], 'any');
    await node.caughtUp();
    expect(node.directory.settings().flag('CheckSensitiveOnCompletionEnabled')).toBe(false);
    expect(node.options.list(root)).toContainEqual({ key: 'CheckSensitiveOnCompletionEnabled', value: 'false' });
    expect(node.options.view(root, 'CheckSensitiveOnCompletionEnabled')).toMatchObject({ value: 'false', isSet: true });
  });

  test('is for root', async () => {
    await expect(node.options.change(admin, 'RetryTimes', '3')).rejects.toThrow(refusal('role-too-low'));
    expect(() => node.options.list(admin)).toThrow(refusal('role-too-low'));
  });

  test('to its initial value restores that', async () => {
    await node.options.change(root, 'RetryTimes', '3');
    await node.options.reset(root, 'RetryTimes');
    await node.caughtUp();
    expect(node.directory.settings().retryTimes).toBe(0);
    await expect(node.options.reset(admin, 'RetryTimes')).rejects.toThrow(refusal('role-too-low'));
  });
});

describe('two concurrent editors of an option', () => {
  test('conflict by the version they have read: the second is refused, and gets the current value', async () => {
    const first = await node.options.change(root, 'RetryTimes', '1', beginning);
    await node.caughtUp();
    expect(node.options.view(root, 'RetryTimes')).toMatchObject({ value: '1', position: first });
    const both = await Promise.allSettled([
      node.options.change(root, 'RetryTimes', '2', first),
      node.options.change(root, 'RetryTimes', '3', first),
    ]);
    const refused = both.filter((one) => one.status === 'rejected');
    expect(both.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    expect(refused.map(({ reason }) => reason)).toMatchObject([
      { code: 'option-changed', details: { field: 'RetryTimes', position: await node.store.head() } },
    ]);
  });

  test('do not conflict over different options', async () => {
    await node.options.change(root, 'Notice', 'hello', beginning);
    await expect(node.options.change(root, 'RetryTimes', '1', beginning)).resolves.toBeDefined();
  });
});

describe('a secret option', () => {
  test.each(['SMTPToken', 'oidc.client_secret', 'MyOwnSecret'])('%s is stored in the vault', async (key) => {
    await node.options.change(root, key, 'planted');
    await node.caughtUp();
    const reference = node.directory.optionSecret(key);
    expect(reference !== null && 'secret' in reference && (await node.vault.get(reference.secret))).toBe('planted');
    expect(JSON.stringify(await node.store.everything())).not.toContain('planted');
    expect(node.options.list(root).map((option) => option.key)).not.toContain(key);
  });

  test('that is emptied is no longer secret', async () => {
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

test('a secret option is shown only as set', async () => {
  expect(node.options.view(root, 'SMTPToken')).toMatchObject({ value: null, isSet: false, position: beginning });
  const position = await node.options.change(root, 'SMTPToken', 'planted');
  await node.caughtUp();
  expect(node.options.view(root, 'SMTPToken')).toMatchObject({ value: null, isSet: true, position });
  expect(JSON.stringify(node.options.views(root))).not.toContain('planted');
  expect(() => node.options.views(admin)).toThrow(refusal('role-too-low'));
  expect(() => node.options.view(admin, 'RetryTimes')).toThrow(refusal('role-too-low'));
});

test('the list has every option that is not secret, sorted, with the values in force', async () => {
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
