import { describe, expect, test } from 'vitest';
import type { ChannelEvent } from '../../../src/domain/channel/channel.js';
import { channelChangeIn } from '../../../src/domain/channel/channel-change.js';
import { type DomainEvent, Position, type Recorded, streams } from '../../../src/domain/events/events.js';
import { ChannelId, SecretId, UserId } from '../../../src/domain/kernel/ids.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { eventId, someInstant } from '../../support/given/events.js';

const id = ChannelId(7);
const settings = channelSettings();
const secrets = { key: SecretId('key-1'), keyHash: 'hash-1', proxy: null };

const recorded = (event: DomainEvent, stream = streams.channel(id)): Recorded => ({
  stream,
  revision: 0,
  position: Position(3),
  id: eventId(1),
  at: someInstant,
  event,
});

describe('the history entry of a channel event', () => {
  const plain = {
    position: 3,
    at: someInstant,
    channelId: id,
    by: null,
    automatic: null,
    reason: null,
    ok: null,
    responseTimeMs: null,
    balance: null,
  };

  test.each<[string, ChannelEvent, object]>([
    ['added', { type: 'ChannelAdded', settings, secrets }, {}],
    ['edited', { type: 'ChannelEdited', settings, secrets }, {}],
    ['edited', { type: 'ChannelEdited', settings, secrets, by: UserId(2) }, { by: 2 }],
    ['removed', { type: 'ChannelRemoved', by: UserId(2) }, { by: 2 }],
    ['balance-told', { type: 'ChannelBalanceObserved', balance: '12.5', becameLow: false }, { balance: '12.5' }],
    ['enabled', { type: 'ChannelEnabled', automatic: true }, { automatic: true }],
    [
      'disabled',
      { type: 'ChannelDisabled', automatic: true, reason: 'status 401' },
      { automatic: true, reason: 'status 401' },
    ],
    [
      'tested',
      { type: 'ChannelTested', ok: false, responseTimeMs: 12, error: 'status 500', usage: null },
      { ok: false, responseTimeMs: 12, reason: 'status 500' },
    ],
  ])('is shown when the channel was %s', (kind, event, rest) => {
    expect(channelChangeIn(recorded(event))).toEqual({ ...plain, kind, ...rest });
  });

  test('is absent for other events', () => {
    const event: DomainEvent = { type: 'OptionChanged', key: 'Notice', value: { text: 'x' } };
    expect(channelChangeIn(recorded(event, streams.options as never))).toBeNull();
  });
});
