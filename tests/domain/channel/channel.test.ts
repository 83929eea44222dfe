import { describe, expect, test } from 'vitest';
import {
  type ChannelCommand,
  type ChannelEvent,
  type ChannelSecrets,
  channelDecider,
  isLiveChannel,
} from '../../../src/domain/channel/channel.js';
import type { ChannelSettings } from '../../../src/domain/channel/channel-settings.js';
import { SecretId, UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { scenariosOf } from '../../support/given/given.js';
import { notServed, regional, testProviders } from '../../support/given/providers.js';

const given = scenariosOf(channelDecider);

const settings = channelSettings();
const secrets: ChannelSecrets = { key: SecretId('key-1'), keyHash: 'hash-1', proxy: null };

const by = UserId(2);

const added: ChannelEvent = { type: 'ChannelAdded', settings, secrets, by };
const enabled: ChannelEvent = { type: 'ChannelEnabled', automatic: false, by };
const disabled: ChannelEvent = { type: 'ChannelDisabled', automatic: false, reason: '', by };
const autoEnabled: ChannelEvent = { type: 'ChannelEnabled', automatic: true };
const autoDisabled: ChannelEvent = { type: 'ChannelDisabled', automatic: true, reason: 'status 401' };
const rekeyed: ChannelEvent = { type: 'ChannelEdited', settings, secrets: { ...secrets, key: SecretId('key-2') }, by };
const removed: ChannelEvent = { type: 'ChannelRemoved', by };
const remove: ChannelCommand = { type: 'RemoveChannel', by };

const add = (changed: Partial<ChannelSettings> = {}, on = true): ChannelCommand => ({
  type: 'AddChannel',
  settings: channelSettings(changed),
  secrets,
  enabled: on,
  providers: testProviders,
  by,
});
const edit = (
  changed: Partial<ChannelSettings>,
  newSecrets: Partial<ChannelSecrets> = {},
  keyMayFollow = false,
): ChannelCommand => ({
  type: 'EditChannel',
  patch: changed,
  secrets: newSecrets,
  providers: testProviders,
  keyMayFollow,
  by,
});
const { key } = secrets;
const enable = (automatic: boolean): ChannelCommand =>
  automatic ? { type: 'EnableChannel', automatic, key } : { type: 'EnableChannel', automatic, by };
const disable = (automatic: boolean): ChannelCommand =>
  automatic
    ? { type: 'DisableChannel', automatic, key, reason: 'status 401' }
    : { type: 'DisableChannel', automatic, reason: '', by };

describe('the balance of a channel’s account', () => {
  const reported = (balance: string, low = 1): ChannelCommand => ({
    type: 'RecordChannelBalance',
    balance,
    currency: null,
    low,
  });
  const observed = (balance: string, becameLow = false): ChannelEvent => ({
    type: 'ChannelBalanceObserved',
    balance,
    becameLow,
  });

  test('is recorded each time, as exact text', () => {
    given(added).when(reported('12.50')).thenRecorded(observed('12.5'));
    given(added, observed('12.5')).when(reported('1.25e1')).thenRecorded(observed('12.5'));
  });
  test('is recorded with its currency, where that is reported', () =>
    given(added)
      .when({ type: 'RecordChannelBalance', balance: '7', currency: 'CNY', low: 1 })
      .thenRecorded({ type: 'ChannelBalanceObserved', balance: '7', currency: 'CNY', becameLow: false }));
  test('becomes low when it falls below the threshold, and only then', () => {
    given(added).when(reported('0.99')).thenRecorded(observed('0.99', true));
    given(added).when(reported('1')).thenRecorded(observed('1'));
    given(added, observed('1')).when(reported('-3')).thenRecorded(observed('-3', true));
    given(added, observed('0.99', true)).when(reported('0.5')).thenRecorded(observed('0.5'));
    given(added, observed('0.5', true), observed('7')).when(reported('0.5')).thenRecorded(observed('0.5', true));
  });
  test('is compared with the current threshold', () =>
    given(added, observed('3')).when(reported('3', 5)).thenRecorded(observed('3')));
  test('is never low without a threshold', () => given(added).when(reported('-1', 0)).thenRecorded(observed('-1')));
  test('survives an edit', () => {
    const edited: ChannelEvent = { type: 'ChannelEdited', settings, secrets };
    given(added, observed('0.5', true), edited).when(reported('0.4')).thenRecorded(observed('0.4'));
  });
  test('of an absent channel is refused', () =>
    given(added, removed).when(reported('1')).thenRefused('channel-not-found'));
});

describe('adding a channel', () => {
  test('records settings and references to its secrets', () => given().when(add()).thenRecordedOnce(added));
  test('as disabled records a second event', () => given().when(add({}, false)).thenRecordedOnce(added, disabled));
  test('does not restore a removed one', () => given(added, removed).when(add()).thenNothing());
  test('is refused for a model name of more than 255 bytes, showing its beginning', () =>
    given()
      .when(add({ models: ['gpt-4o', 'm'.repeat(256)] }))
      .thenRefused('model-name-too-long', { model: 'm'.repeat(64) }));
  test('counts bytes, not characters', () => {
    given()
      .when(add({ models: ['模'.repeat(86)] }))
      .thenRefused('model-name-too-long');
    given()
      .when(add({ models: ['模'.repeat(85)] }))
      .thenRecorded({ type: 'ChannelAdded', settings: { ...settings, models: ['模'.repeat(85)] }, secrets, by });
  });
});

describe('editing a channel', () => {
  test('applies the change to the current settings', () =>
    given(added, { type: 'ChannelEdited', settings: { ...settings, name: 'west' }, secrets })
      .when(edit({ weight: 5 }))
      .thenRecordedOnce({ type: 'ChannelEdited', settings: { ...settings, name: 'west', weight: 5 }, secrets, by }));
  test('replaces the given secrets and keeps the others', () =>
    given(added)
      .when(edit({}, { proxy: SecretId('proxy-1') }, true))
      .thenRecordedOnce({ type: 'ChannelEdited', settings, secrets: { ...secrets, proxy: SecretId('proxy-1') }, by }));
  test('that changes nothing records nothing', () =>
    given(added)
      .when(edit({ name: 'east' }))
      .thenNothing());
  test('is refused for a model name that is too long', () =>
    given(added)
      .when(edit({ models: ['m'.repeat(256)] }))
      .thenRefused('model-name-too-long'));
});

describe('the type of a channel', () => {
  const { type } = notServed;
  const old: ChannelEvent = { type: 'ChannelAdded', settings: channelSettings({ type }), secrets };

  test('must be known', () => {
    given()
      .when(add({ type: 4711 }))
      .thenRefused('channel-type-unknown', { field: 'type', type: 4711 });
    given(added)
      .when(edit({ type: 0 }, secrets))
      .thenRefused('channel-type-unknown', { field: 'type', type: 0 });
  });
  test('must be supported by the gateway', () => {
    const refusal = { field: 'type', type, name: 'Someday' };
    given().when(add({ type })).thenRefused('channel-type-not-served', refusal);
    given(added).when(edit({ type }, secrets)).thenRefused('channel-type-not-served', refusal);
  });
  test('is kept where an earlier release accepted an unsupported one, until another is set', () => {
    given(old)
      .when(edit({ name: 'old' }))
      .thenRecorded({ type: 'ChannelEdited', settings: channelSettings({ type, name: 'old' }), secrets, by });
    given(old)
      .when(edit({ type: 1 }, secrets))
      .thenRecorded({ type: 'ChannelEdited', settings, secrets, by });
    given(old).when(remove).thenRecorded(removed);
  });
  test('may require a region, according to the new type', () => {
    given(added)
      .when(edit({ type: regional.type }, secrets))
      .thenRefused('region-missing', { field: 'other' });
    given(added)
      .when(edit({ type: regional.type, other: '{"m":"us"}' }, secrets))
      .thenRefused('region-default-missing', { field: 'other' });
    const settings = channelSettings({ type: regional.type, other: 'us-central1' });
    given(added)
      .when(edit({ type: regional.type, other: 'us-central1' }, secrets))
      .thenRecorded({ type: 'ChannelEdited', settings, secrets, by });
  });
});

describe('settings of the interface that an upstream has', () => {
  const set = (setting: object) => given(added).when(edit({ setting: JSON.stringify(setting) }));

  test('are stored where they say one thing', () => {
    for (const setting of [{ chat_only: true }, { responses_only: true }, { chat_only: false, responses_only: true }])
      set(setting).thenRecorded({
        type: 'ChannelEdited',
        settings: { ...settings, setting: JSON.stringify(setting) },
        secrets,
        by,
      });
  });

  test('are refused where they contradict each other or are of another type', () => {
    for (const setting of [
      { chat_only: 1 },
      { chat_only: true, responses_only: true },
      { chat_only: true, responses_only_models: ['gpt-5'] },
    ])
      set(setting).thenRefused('invalid-field');
  });
});

describe('enabling or disabling a channel by hand', () => {
  test('to disabled is recorded once', () => given(added).when(disable(false)).thenRecordedOnce(disabled));
  test('to enabled is recorded once', () => given(added, disabled).when(enable(false)).thenRecordedOnce(enabled));
  test('to enabled works for one that was disabled automatically', () =>
    given(added, autoDisabled).when(enable(false)).thenRecordedOnce(enabled));
  test('to disabled replaces an automatic decision by a manual one', () =>
    given(added, autoDisabled).when(disable(false)).thenRecordedOnce(disabled));
  test('to enabled changes nothing when it is enabled', () => given(added).when(enable(false)).thenNothing());
});

describe('enabling or disabling a channel automatically', () => {
  test('to disabled is recorded once, with the reason', () =>
    given(added).when(disable(true)).thenRecordedOnce(autoDisabled));
  test('to disabled does not change a manual decision', () => given(added, disabled).when(disable(true)).thenNothing());
  test('to disabled is skipped for a channel whose key has been replaced since', () =>
    given(added, rekeyed).when(disable(true)).thenNothing());
  test('to enabled is skipped for a channel whose key has been replaced since', () =>
    given(added, autoDisabled, rekeyed).when(enable(true)).thenNothing());
  test('to enabled reverses an automatic decision', () =>
    given(added, autoDisabled).when(enable(true)).thenRecordedOnce(autoEnabled));
  test('to enabled does not change a manual decision', () => given(added, disabled).when(enable(true)).thenNothing());
});

describe('a channel test', () => {
  const passed: ChannelCommand = {
    type: 'RecordChannelTest',
    ok: true,
    responseTimeMs: 840,
    error: null,
    usage: {
      model: 'gpt-4o',
      promptTokens: 8,
      completionTokens: 9,
      quota: Quota(55),
      modelRatio: '1.25',
      completionRatio: '4',
      modelPrice: null,
    },
  };
  test('is recorded each time', () => {
    const { type: _, ...result } = passed;
    given(added, { type: 'ChannelTested', ...result })
      .when(passed)
      .thenRecorded({ type: 'ChannelTested', ...result });
  });
  test('changes nothing about the channel', () =>
    given(added, { type: 'ChannelTested', ok: false, responseTimeMs: 10, error: 'timeout', usage: null }).thenState({
      status: 'enabled',
      settings,
      secrets,
    }));
});

describe('removing a channel', () => {
  test('is recorded once', () => given(added).when(remove).thenRecordedOnce(removed));
  test('that does not exist is not an error', () => given().when(remove).thenNothing());
});

describe('a channel that does not exist', () => {
  const orders: ChannelCommand[] = [
    edit({ name: 'west' }),
    enable(false),
    disable(true),
    { type: 'RecordChannelTest', ok: true, responseTimeMs: 1, error: null, usage: null },
  ];
  test.each(orders)('refuses $type', (order) => given().when(order).thenRefused('channel-not-found'));
  test.each(orders)('because it was removed refuses $type', (order) =>
    given(added, removed).when(order).thenRefused('channel-not-found'),
  );
});

describe('the state of a channel is', () => {
  test('absent before it is added, whatever else is recorded', () => {
    given().thenState({ status: 'absent' });
    given(enabled, autoDisabled, { type: 'ChannelEdited', settings, secrets }).thenState({ status: 'absent' });
  });
  test('enabled with settings and secrets', () => given(added).thenState({ status: 'enabled', settings, secrets }));
  test('disabled by hand, disabled automatically, enabled again', () => {
    given(added, disabled).thenState({ status: 'disabled', settings, secrets });
    given(added, autoDisabled).thenState({ status: 'auto-disabled', settings, secrets });
    given(added, autoDisabled, autoEnabled).thenState({ status: 'enabled', settings, secrets });
  });
  test('edited, with its status kept', () =>
    given(added, autoDisabled, { type: 'ChannelEdited', settings: { ...settings, name: 'west' }, secrets }).thenState({
      status: 'auto-disabled',
      settings: { ...settings, name: 'west' },
      secrets,
    }));
  test('absent once removed, permanently', () => given(added, removed, enabled).thenState({ status: 'removed' }));
  test('live unless absent or removed', () => {
    expect(isLiveChannel({ status: 'absent' })).toBe(false);
    expect(isLiveChannel({ status: 'removed' })).toBe(false);
    expect(isLiveChannel({ status: 'auto-disabled', settings, secrets })).toBe(true);
  });
});

describe('a stored key is only sent to the address it was entered for', () => {
  const at = (baseUrl: string, proxy: SecretId | null = null): ChannelEvent => ({
    type: 'ChannelAdded',
    settings: channelSettings({ baseUrl }),
    secrets: { ...secrets, proxy },
  });
  const newKey = { key: SecretId('key-2'), keyHash: 'hash-2' };

  test.each<[string, string, Partial<ChannelSettings>]>([
    ['another host', 'https://a.example/v1', { baseUrl: 'https://b.example/v1' }],
    ['another port', 'https://a.example', { baseUrl: 'https://a.example:8443' }],
    ['an unencrypted connection', 'https://a.example', { baseUrl: 'http://a.example' }],
    ['an address in place of the default', '', { baseUrl: 'https://b.example' }],
    ['the default in place of an address', 'https://a.example', { baseUrl: '' }],
    ['the default of another type', '', { type: 3 }],
  ])('and must be entered again for %s', (_, before, changed) => {
    given(at(before)).when(edit(changed)).thenRefused('channel-key-needed');
    const settings = channelSettings({ baseUrl: before, ...changed });
    given(at(before))
      .when(edit(changed, newKey))
      .thenRecorded({ type: 'ChannelEdited', settings, secrets: { ...secrets, ...newKey }, by });
    given(at(before))
      .when(edit(changed, {}, true))
      .thenRecorded({ type: 'ChannelEdited', settings, secrets, by });
  });

  test('and must be entered again for another proxy, but not for none', () => {
    const [one, other] = [SecretId('proxy-1'), SecretId('proxy-2')];
    given(at('', one))
      .when(edit({}, { proxy: other }))
      .thenRefused('channel-key-needed');
    given(at(''))
      .when(edit({}, { proxy: one }))
      .thenRefused('channel-key-needed');
    given(at('', one))
      .when(edit({}, { proxy: null }))
      .thenRecorded({ type: 'ChannelEdited', settings: channelSettings(), secrets, by });
  });

  test('and is kept for another path of the same host', () =>
    given(at('https://a.example/v1'))
      .when(edit({ baseUrl: 'https://a.example/v2' }))
      .thenRecorded({
        type: 'ChannelEdited',
        settings: channelSettings({ baseUrl: 'https://a.example/v2' }),
        secrets,
        by,
      }));
});
