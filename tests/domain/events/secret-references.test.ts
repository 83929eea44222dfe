import { describe, expect, test } from 'vitest';
import type { DomainEvent } from '../../../src/domain/events/events.js';
import { secretReferences, withSecretsOf } from '../../../src/domain/events/secret-references.js';
import { Sealed, SecretId, UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { channelSettings } from '../../support/given/channel-settings.js';

const secret = (name: string) => SecretId(name);
const named = (...events: readonly DomainEvent[]) => [
  ...events.reduce<ReadonlyMap<string, SecretId>>(withSecretsOf, new Map()).values(),
];

const channel = (type: 'ChannelAdded' | 'ChannelEdited', key: string, proxy: string | null): DomainEvent => ({
  type,
  settings: channelSettings(),
  secrets: { key: secret(key), keyHash: 'hash', proxy: proxy === null ? null : secret(proxy) },
});
const settings = (webhook: string | null): DomainEvent => ({
  type: 'UserSettingsChanged',
  settings: Sealed('sealed'),
  webhookSecret: webhook === null ? null : secret(webhook),
  acceptUnpricedModels: false,
  quotaWarningThreshold: null,
});
const registered: DomainEvent = {
  type: 'UserRegistered',
  username: 'alice',
  displayName: Sealed('sealed'),
  role: 'ordinary',
  group: 'default',
  passwordSecret: secret('first password'),
  inviter: null,
};
const option = (key: string, name: string | null): DomainEvent => ({
  type: 'OptionChanged',
  key,
  value: name === null ? { text: '' } : { secret: secret(name) },
});

describe('the secrets that a stream references', () => {
  test('are key and proxy for a channel, until they are replaced or it is removed', () => {
    expect(named(channel('ChannelAdded', 'k1', 'p1'))).toEqual(['k1', 'p1']);
    expect(named(channel('ChannelAdded', 'k1', 'p1'), channel('ChannelEdited', 'k2', 'p1'))).toEqual(['k2', 'p1']);
    expect(named(channel('ChannelAdded', 'k1', 'p1'), channel('ChannelEdited', 'k1', null))).toEqual(['k1']);
    expect(named(channel('ChannelAdded', 'k1', 'p1'), { type: 'ChannelRemoved' })).toEqual([]);
  });

  test('are password and webhook secret for a user, each replaced by its like only, both removed with the user', () => {
    const changed: DomainEvent = { type: 'PasswordChanged', passwordSecret: secret('second password') };
    expect(named(registered, settings('hook'), changed)).toEqual(['second password', 'hook']);
    expect(named(registered, settings('hook'), settings(null))).toEqual(['first password']);
    expect(named(registered, settings('hook'), { type: 'UserDisabled', by: UserId(1) })).toHaveLength(2);
    expect(named(registered, settings('hook'), { type: 'UserDeleted', by: UserId(1) })).toEqual([]);
  });

  test('are the text for a redemption code, used or not, until it is deleted', () => {
    const [by, quota] = [UserId(1), Quota(5)];
    const issued: DomainEvent = {
      ...{ type: 'RedemptionCodeIssued', codeHash: 'hash', secret: secret('code'), name: 'promo', quota, by },
    };
    const redeemed: DomainEvent = { type: 'RedemptionCodeRedeemed', user: UserId(7), quota };
    expect(named(issued, redeemed)).toEqual(['code']);
    expect(named(issued, redeemed, { type: 'RedemptionCodeDeleted', by })).toEqual([]);
  });

  test('are one per option for the options', () => {
    expect(named(option('SMTPToken', 'a'), option('OtherToken', 'b'), option('SMTPToken', 'c'))).toEqual(['c', 'b']);
    expect(named(option('SMTPToken', 'a'), option('OtherToken', 'b'), option('SMTPToken', null))).toEqual(['b']);
  });

  test('include the initial password only for the root user', () => {
    const done: DomainEvent = {
      type: 'SetupCompleted',
      rootUserId: UserId(1),
      username: 'root',
      passwordSecret: secret('root password'),
      mode: 'external',
    };
    expect(secretReferences(done)).toBeNull();
  });
});
