import { describe, expect, test } from 'vitest';
import { channelFieldChanges, type EditedParts } from '../../../src/domain/channel/channel-edits.js';
import type { ChannelSettings } from '../../../src/domain/channel/channel-settings.js';
import { SecretId } from '../../../src/domain/kernel/ids.js';
import { channelSettings } from '../../support/given/channel-settings.js';

const secrets = { key: SecretId('key-1'), keyHash: 'hash-1', proxy: null };
const parts = (settings: Partial<ChannelSettings>, changed: Partial<EditedParts['secrets']> = {}): EditedParts => ({
  settings: channelSettings(settings),
  secrets: { ...secrets, ...changed },
});
const changes = (before: Partial<ChannelSettings>, now: Partial<ChannelSettings>) =>
  channelFieldChanges(parts(before), parts(now));
const secret = (field: string) => [{ field, from: null, to: null, isCut: false }];

describe('the changes of an edited channel', () => {
  test('are listed field by field', () =>
    expect(changes({ name: 'east', priority: 0, tag: null }, { name: 'west', priority: -3, tag: 'eu' })).toEqual([
      { field: 'name', from: 'east', to: 'west', isCut: false },
      { field: 'priority', from: '0', to: '-3', isCut: false },
      { field: 'tag', from: '', to: 'eu', isCut: false },
    ]));

  test('contain, for a list, the removed and the added entries', () => {
    expect(changes({ models: ['a', 'b', 'c'] }, { models: ['c', 'd'] })).toEqual([
      { field: 'models', from: 'a\nb', to: 'd', isCut: false },
    ]);
    expect(changes({ models: ['a', 'b'] }, { models: ['b', 'a'] })).toMatchObject([{ from: 'a\nb', to: 'b\na' }]);
  });

  test('are bounded', () => {
    const [change] = changes({ modelMapping: null }, { modelMapping: `{"${'m'.repeat(2_000)}":"n"}` });
    expect(change).toMatchObject({ field: 'modelMapping', from: '', isCut: true });
    expect(change?.to).toHaveLength(1_000);
  });

  test('say of key and proxy only that they changed', () => {
    const otherKey = { key: SecretId('key-2'), keyHash: 'hash-2' };
    expect(channelFieldChanges(parts({}), parts({}, otherKey))).toEqual(secret('key'));
    expect(channelFieldChanges(parts({}), parts({}, { proxy: SecretId('proxy-1') }))).toEqual(secret('proxy'));
  });

  test('are empty where the same key was given again', () =>
    expect(channelFieldChanges(parts({}), parts({}, { key: SecretId('key-2') }))).toEqual([]));
});

describe('a secret among the settings', () => {
  test('is hidden by its name, while numbers are not', () =>
    expect(
      changes(
        { paramOverride: '{"max_tokens":5}' },
        { paramOverride: '{"max_tokens":9,"deep":[{"apiKey":"sk-planted","note":"fine"}],"access_token":"planted"}' },
      ),
    ).toEqual([
      {
        field: 'paramOverride',
        from: '{"max_tokens":5}',
        to: '{"max_tokens":9,"deep":[{"apiKey":"***","note":"fine"}],"access_token":"***"}',
        isCut: false,
      },
    ]));

  test('is any text of a header, whatever its name', () =>
    expect(
      changes({ setting: null }, { setting: '{"headers":{"X-Anything":["planted"],"X-Retries":3}}' }),
    ).toMatchObject([{ from: '', to: '{"headers":{"X-Anything":["***"],"X-Retries":3}}' }]));

  test('that alone differs is reported as changed', () =>
    expect(changes({ setting: '{"password":"planted-1"}' }, { setting: '{"password":"planted-2"}' })).toEqual(
      secret('setting'),
    ));

  test('may be anywhere in invalid JSON, so none of it is shown', () => {
    expect(changes({ paramOverride: '{"a":' }, { paramOverride: '{}' })).toEqual(secret('paramOverride'));
    expect(changes({ other: '2024-06-01' }, { other: '2024-10-21' })).toMatchObject([
      { from: '2024-06-01', to: '2024-10-21' },
    ]);
  });

  test('may follow the path of an address', () =>
    expect(
      changes({ baseUrl: 'https://a.example/v1?key=planted' }, { baseUrl: 'https://b.example/x#planted' }),
    ).toEqual([{ field: 'baseUrl', from: 'https://a.example/v1', to: 'https://b.example/x', isCut: false }]));
});
