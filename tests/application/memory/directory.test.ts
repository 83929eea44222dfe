import { beforeEach, describe, expect, test } from 'vitest';
import type { NodeDirectory } from '../../../src/application/memory/directory.js';
import type { ChannelView } from '../../../src/application/ports/storage-ports.js';
import { beginning, Position, streams } from '../../../src/domain/events/events.js';
import { ApiKeyId, CallId, ChannelId, Sealed, SecretId, UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { apiKeyTerms } from '../../support/given/api-key-terms.js';
import { reserved } from '../../support/given/calls.js';
import { DirectoryNode, prices } from '../../support/memory/directory-node.js';

const alice = UserId(7);
const terms = apiKeyTerms();

let node: DirectoryNode;

beforeEach(() => {
  node = new DirectoryNode();
});

const names = (channels: readonly ChannelView[]): string[] => channels.map(({ settings }) => settings.name);

describe('the channel directory', () => {
  test('is loaded from the read model, then updated by the tail', async () => {
    await node.addChannel(1);
    await node.project();
    const directory = await node.open();
    expect(directory.position).toBe(0);
    expect(names(directory.channels())).toStrictEqual(['east']);

    await node.addChannel(2, { name: 'west' });
    await node.editChannel(1, { name: 'far east' });
    await node.channel(2, { type: 'ChannelDisabled', automatic: true, reason: 'status 401' });
    await node.deliver(directory);
    expect(names(directory.channels())).toStrictEqual(['far east', 'west']);
    expect(directory.channel(ChannelId(2))).toMatchObject({
      id: 2,
      status: 'auto-disabled',
      secrets: { key: 'key-2', keyHash: 'hash-2', proxy: null },
    });

    await node.channel(2, { type: 'ChannelEnabled', automatic: false });
    await node.channel(1, { type: 'ChannelRemoved' });
    await node.deliver(directory);
    expect(directory.channel(ChannelId(1))).toBeNull();
    expect(directory.channel(ChannelId(2))?.status).toBe('enabled');
  });

  test('keeps rows newer than the position of the snapshot when the tail repeats the past', async () => {
    await node.addChannel(1);
    await node.project();
    await node.editChannel(1, { name: 'first edit' });
    await node.editChannel(1, { name: 'second edit' });
    node.channelRowsAt = Position(2);
    const directory = await node.open();

    directory.take(await node.store.readAll(Position(0), 1));
    expect(names(directory.channels())).toStrictEqual(['second edit']);
    await node.deliver(directory);
    expect(names(directory.channels())).toStrictEqual(['second edit']);
  });

  test('keeps channels removed that the read model lacks when the tail repeats the past', async () => {
    await node.addChannel(1);
    await node.project();
    await node.editChannel(1, { name: 'edited' });
    await node.channel(1, { type: 'ChannelRemoved' });
    node.channelRowsAt = Position(2);
    const directory = await node.open();
    await node.deliver(directory);
    expect(directory.channels()).toStrictEqual([]);
  });

  test('returns the same object until it changes, so that derived values can be cached as long', async () => {
    await node.addChannel(1);
    await node.project();
    const directory = await node.open();
    const before = directory.channel(ChannelId(1));
    await node.channel(1, { type: 'ChannelTested', ok: true, responseTimeMs: 9, error: null, usage: null });
    await node.option('RetryTimes', '1');
    await node.deliver(directory);
    expect(directory.channel(ChannelId(1))).toBe(before);
    await node.editChannel(1, { weight: 1 });
    await node.deliver(directory);
    expect(directory.channel(ChannelId(1))).not.toBe(before);
  });
});

describe('the candidate channels', () => {
  const open = async (): Promise<NodeDirectory> => {
    await node.project();
    return node.open();
  };

  test('serve the model for the group, highest priority first', async () => {
    await node.addChannel(1, { name: 'low', priority: -5 });
    await node.addChannel(2, { name: 'high', priority: 10 });
    await node.addChannel(3, { name: 'other model', models: ['o1'] });
    await node.addChannel(4, { name: 'other group', groups: ['vip'] });
    await node.addChannel(5, { name: 'middle', groups: ['vip', 'default'], models: ['o1', 'gpt-4o'] });
    const directory = await open();
    expect(names(directory.candidates('default', 'gpt-4o'))).toStrictEqual(['high', 'middle', 'low']);
    expect(names(directory.candidates('vip', 'gpt-4o'))).toStrictEqual(['other group', 'middle']);
    expect(names(directory.candidates('default', 'o1'))).toStrictEqual(['other model', 'middle']);
    expect(directory.candidates('default', 'unknown')).toStrictEqual([]);
    expect(directory.candidates('nowhere', 'gpt-4o')).toStrictEqual([]);
  });

  test('are only those that are enabled', async () => {
    await node.addChannel(1, { name: 'by hand' });
    await node.addChannel(2, { name: 'automatically' });
    await node.addChannel(3, { name: 'on' });
    await node.channel(1, { type: 'ChannelDisabled', automatic: false, reason: '' });
    await node.channel(2, { type: 'ChannelDisabled', automatic: true, reason: 'status 401' });
    expect(names((await open()).candidates('default', 'gpt-4o'))).toStrictEqual(['on']);
  });

  test('occur once, however often a list names the model or the group', async () => {
    await node.addChannel(1, { models: ['gpt-4o', 'gpt-4o'], groups: ['default', 'default'] });
    expect((await open()).candidates('default', 'gpt-4o')).toHaveLength(1);
  });

  test('are computed again after every change', async () => {
    await node.addChannel(1);
    const directory = await open();
    expect(directory.candidates('default', 'gpt-4o')).toHaveLength(1);
    await node.channel(1, { type: 'ChannelDisabled', automatic: true, reason: '' });
    await node.addChannel(2, { name: 'west', priority: 1 });
    await node.deliver(directory);
    expect(names(directory.candidates('default', 'gpt-4o'))).toStrictEqual(['west']);
    await node.channel(1, { type: 'ChannelEnabled', automatic: true });
    await node.deliver(directory);
    expect(names(directory.candidates('default', 'gpt-4o'))).toStrictEqual(['west', 'east']);
    await node.editChannel(2, { models: ['o1'] });
    await node.channel(1, { type: 'ChannelRemoved' });
    await node.deliver(directory);
    expect(directory.candidates('default', 'gpt-4o')).toStrictEqual([]);
    expect(directory.candidates('default', 'o1')).toHaveLength(1);
  });
});

describe('the models of some groups', () => {
  test('are those that enabled channels serve for one of them, sorted, without duplicates', async () => {
    await node.addChannel(1, { models: ['o1', 'gpt-4o'] });
    await node.addChannel(2, { models: ['gpt-4o', 'claude-2'], groups: ['vip'] });
    await node.addChannel(3, { models: ['off'] });
    await node.channel(3, { type: 'ChannelDisabled', automatic: false, reason: '' });
    await node.project();
    const directory = await node.open();
    expect(directory.models(['default'])).toStrictEqual(['gpt-4o', 'o1']);
    expect(directory.models(['default', 'vip'])).toStrictEqual(['claude-2', 'gpt-4o', 'o1']);
    expect(directory.models([])).toStrictEqual([]);
  });
});

describe('the options in memory', () => {
  test('have their initial values, then those of the read model, then those of the tail', async () => {
    await node.option('RetryTimes', '1');
    await node.project();
    const directory = await node.open();
    expect(directory.settings()).toMatchObject({ retryTimes: 1, preConsumedTokens: 500, selfUseMode: false });
    expect(directory.settings().prices.modelRatio).toStrictEqual(prices.modelRatio);

    await node.option('RetryTimes', '3');
    await node.option('ModelRatio', '{"o1":7.5}');
    await node.option('SelfUseModeEnabled', 'true');
    await node.deliver(directory);
    expect(directory.settings()).toMatchObject({ retryTimes: 3, selfUseMode: true });
    expect(directory.settings().prices.modelRatio).toStrictEqual(new Map([['o1', '7.5']]));
  });

  test('are parsed once per change', async () => {
    const directory = await node.open();
    const settings = directory.settings();
    await node.addChannel(1);
    await node.deliver(directory);
    expect(directory.settings()).toBe(settings);
    await node.option('Notice', 'hello');
    await node.deliver(directory);
    expect(directory.settings()).not.toBe(settings);
    expect(directory.settings().text('Notice')).toBe('hello');
  });

  test('end at the newest value when the tail repeats the past', async () => {
    await node.option('Notice', 'old');
    await node.option('Notice', 'new');
    await node.project();
    const directory = await node.open();
    directory.take(await node.store.readAll(beginning, 10));
    expect(directory.settings().text('Notice')).toBe('new');
  });

  test('have texts, initial ones included; a secret has only a reference to the vault', async () => {
    const secret = { secret: SecretId('smtp-1') };
    await node.option('SMTPToken', secret);
    await node.option('MyOption', 'mine');
    await node.project();
    const directory = await node.open();
    const texts = directory.optionTexts();
    expect(texts.get('MyOption')).toBe('mine');
    expect(texts.get('RetryTimes')).toBe('0');
    expect(texts.get('ModelRatio')).toBe('{"gpt-4o":1.25}');
    expect([...texts.values()].join()).not.toContain('smtp-1');
    expect(directory.optionSecret('SMTPToken')).toStrictEqual(secret);
    expect(directory.optionSecret('EpayKey')).toBeNull();
    expect(directory.optionSecret('MyOption')).toBeNull();

    await node.option('SMTPToken', '');
    await node.deliver(directory);
    expect(directory.optionSecret('SMTPToken')).toBeNull();
  });

  test('include their initial values', async () => {
    await node.option('RetryTimes', '3');
    await node.project();
    const directory = await node.open();
    expect(directory.initialOptionText('RetryTimes')).toBe('0');
    expect(directory.initialOptionText('ModelRatio')).toBe('{"gpt-4o":1.25}');
    expect(directory.initialOptionText('MyOption')).toBe('');
  });
});

describe('an API key', () => {
  test('is found by the hash of its text, and cached', async () => {
    await node.issueKey(12, 'hash-a');
    await node.project();
    const directory = await node.open();
    const found = { id: 12, owner: alice, status: 'enabled', terms };
    expect(await directory.apiKey('hash-a')).toStrictEqual(found);
    expect(await directory.apiKey('hash-a')).toStrictEqual(found);
    expect(node.lookUps).toBe(1);
  });

  test('that does not exist is absent, and its absence is not cached: it may be issued', async () => {
    const directory = await node.open();
    expect(await directory.apiKey('hash-a')).toBeNull();
    await node.issueKey(12, 'hash-a');
    await node.deliver(directory);
    expect(await directory.apiKey('hash-a')).toMatchObject({ id: 12 });
  });

  test('issued after the read model was read is found by the tail alone', async () => {
    await node.project();
    const directory = await node.open();
    await node.issueKey(12, 'hash-a');
    await node.deliver(directory);
    expect(await directory.apiKey('hash-a')).toMatchObject({ id: 12, status: 'enabled' });
    expect(node.lookUps).toBe(0);
  });

  test('issued during its lookup is found', async () => {
    const directory = await node.open();
    node.meanwhile = async () => {
      await node.issueKey(12, 'hash-a');
      await node.deliver(directory);
    };
    expect(await directory.apiKey('hash-a')).toMatchObject({ id: 12 });
  });

  test('is as new as the tail: edited, disabled, enabled, deleted', async () => {
    await node.issueKey(12, 'hash-a');
    await node.project();
    const directory = await node.open();
    const stream = streams.apiKey(ApiKeyId(12));
    expect(await directory.apiKey('hash-a')).toMatchObject({ status: 'enabled' });

    const edited = { ...terms, modelLimitsEnabled: true, modelLimits: ['o1'] };
    await node.append(stream, { type: 'ApiKeyEdited', owner: alice, quotaDelta: Quota(0), terms: edited });
    await node.append(stream, { type: 'ApiKeyDisabled', owner: alice, cause: 'manual' });
    await node.deliver(directory);
    expect(await directory.apiKey('hash-a')).toMatchObject({ status: 'manual', terms: edited });

    await node.append(stream, { type: 'ApiKeyEnabled', owner: alice });
    await node.deliver(directory);
    expect(await directory.apiKey('hash-a')).toMatchObject({ status: 'enabled' });

    await node.append(stream, { type: 'ApiKeyDeleted', owner: alice });
    await node.deliver(directory);
    expect(await directory.apiKey('hash-a')).toBeNull();
  });

  test('is never older than the log position of its first lookup, however far the read model is behind', async () => {
    await node.issueKey(12, 'hash-a');
    await node.project();
    await node.append(streams.apiKey(ApiKeyId(12)), { type: 'ApiKeyDisabled', owner: alice, cause: 'manual' });
    const directory = await node.open();
    expect(await directory.apiKey('hash-a')).toMatchObject({ status: 'manual' });
    await node.deliver(directory);
    expect(await directory.apiKey('hash-a')).toMatchObject({ status: 'manual' });
  });

  test('evicted for others is looked up again', async () => {
    for (const id of [12, 13, 14]) await node.issueKey(id, `hash-${id}`);
    await node.project();
    const directory = await node.open(2);
    for (const id of [12, 13, 14]) expect(await directory.apiKey(`hash-${id}`)).toMatchObject({ id });
    await node.append(streams.apiKey(ApiKeyId(12)), { type: 'ApiKeyDisabled', owner: alice, cause: 'manual' });
    await node.deliver(directory);
    expect(await directory.apiKey('hash-12')).toMatchObject({ id: 12, status: 'manual' });
    expect(node.lookUps).toBe(4);
  });
});

describe('a user', () => {
  test('is as new as the tail', async () => {
    const stream = streams.user(alice);
    await node.register(alice);
    const directory = await node.open();
    const known = {
      id: alice,
      username: 'alice',
      role: 'ordinary',
      status: 'enabled',
      group: 'default',
      acceptUnpricedModels: false,
    };
    expect(await directory.user(alice)).toStrictEqual(known);

    await node.append(stream, { type: 'UserGroupChanged', group: 'vip', by: UserId(1) });
    await node.append(stream, { type: 'UserRoleChanged', role: 'admin', by: UserId(1) });
    await node.append(stream, {
      type: 'UserSettingsChanged',
      settings: Sealed('sealed'),
      webhookSecret: null,
      acceptUnpricedModels: true,
      quotaWarningThreshold: null,
    });
    await node.append(stream, { type: 'QuotaGranted', quota: Quota(5), reason: 'signup' });
    await node.append(stream, { type: 'UserDisabled', by: UserId(1) });
    await node.deliver(directory);
    expect(await directory.user(alice)).toStrictEqual({
      ...known,
      role: 'admin',
      status: 'disabled',
      group: 'vip',
      acceptUnpricedModels: true,
    });

    await node.append(stream, { type: 'UserDeleted', by: UserId(1) });
    await node.deliver(directory);
    expect(await directory.user(alice)).toMatchObject({ status: 'deleted' });
  });

  test('that does not exist is absent until it is registered', async () => {
    const directory = await node.open();
    expect(await directory.user(alice)).toBeNull();
    await node.register(alice);
    await node.deliver(directory);
    expect(await directory.user(alice)).toMatchObject({ username: 'alice' });
  });
});

test('calls and claims of names leave no trace in the directory', async () => {
  await node.addChannel(1);
  await node.project();
  const directory = await node.open();
  const settings = directory.settings();
  await node.append(streams.call(CallId('c1')), reserved({ quota: 5 }));
  await node.append(streams.username('alice'), { type: 'UsernameClaimed', userId: alice });
  await node.deliver(directory);
  expect(directory.settings()).toBe(settings);
  expect(directory.channels()).toHaveLength(1);
});
