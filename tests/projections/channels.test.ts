import { describe, expect, test } from 'vitest';
import { ChannelId } from '../../src/domain/kernel/ids.js';
import {
  allChannels,
  channelById,
  channelPage,
  channelPageByTag,
  channelSecrets,
  channelSettings,
  searchChannels,
} from '../../src/projections/models/channel-queries.js';
import {
  added,
  at,
  east,
  edited,
  ofChannel,
  refunded,
  reserved,
  seconds,
  settings,
  settled,
  west,
  when,
} from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'emptied',
  'dense',
);

const north = ChannelId(5);
const south = ChannelId(6);

describe('a channel in the read model', () => {
  const full = {
    tag: 'eu',
    priority: -3,
    weight: 7,
    modelMapping: '{"gpt-4o":"gpt-4o-2024"}',
    organization: 'org',
    maxInputTokens: 100,
  };

  test('has its settings, and references to its secrets', async () => {
    const db = await projected.given(added(east, full));
    const row = await channelById(db, east);
    expect(row).toMatchObject({
      id: east,
      status: 'enabled',
      status_reason: '',
      status_time: null,
      response_time_ms: 0,
      tested_at: null,
      used_quota: 0,
      created_at: seconds(at()),
      position: 0,
    });
    expect(row && channelSettings(row)).toEqual(settings(full));
    expect(row && channelSecrets(row)).toEqual({ key: 'upstream 3', keyHash: 'hash of upstream 3', proxy: null });
  });

  test('keeps the reason and the time of the last automatic switch, whatever is done by hand', async () => {
    const db = await projected.given(
      added(east),
      when(at(5), ofChannel(east, { type: 'ChannelDisabled', automatic: true, reason: 'invalid key' })),
    );
    const switched = { status_reason: 'invalid key', status_time: seconds(at(5)) };
    expect(await channelById(db, east)).toMatchObject({ status: 'auto-disabled', ...switched });
    await projected.given(ofChannel(east, { type: 'ChannelDisabled', automatic: false, reason: '' }));
    expect(await channelById(db, east)).toMatchObject({ status: 'disabled', ...switched });
    await projected.given(ofChannel(east, { type: 'ChannelEnabled', automatic: false }));
    expect(await channelById(db, east)).toMatchObject({ status: 'enabled', ...switched });
    await projected.given(when(at(9), ofChannel(east, { type: 'ChannelEnabled', automatic: true })));
    expect(await channelById(db, east)).toMatchObject({ status_reason: '', status_time: seconds(at(9)) });
  });

  test('has the duration of the last passed test, and the time of the last test', async () => {
    const db = await projected.given(
      added(east),
      ofChannel(east, { type: 'ChannelTested', ok: true, responseTimeMs: 812.4, error: null, usage: null }),
      when(at(60), ofChannel(east, { type: 'ChannelTested', ok: false, responseTimeMs: 9, error: 'x', usage: null })),
    );
    expect(await channelById(db, east)).toMatchObject({ response_time_ms: 812, tested_at: seconds(at(60)) });
  });

  test('has the last reported balance of its account, with its currency and time', async () => {
    const db = await projected.given(added(east));
    expect(await channelById(db, east)).toMatchObject({ balance: null, balance_updated_at: null });
    await projected.given(
      ofChannel(east, { type: 'ChannelBalanceObserved', balance: '7', currency: 'CNY', becameLow: false }),
      when(
        at(60),
        ofChannel(east, { type: 'ChannelBalanceObserved', balance: '-0.25', currency: 'USD', becameLow: true }),
      ),
      edited(east, { name: 'other' }),
    );
    expect(await channelById(db, east)).toMatchObject({
      balance: '-0.25',
      balance_currency: 'USD',
      balance_updated_at: seconds(at(60)),
    });
  });

  test('sums the charges of its calls', async () => {
    const db = await projected.given(
      added(east),
      reserved('a', 9),
      settled('a', 9, 5),
      reserved('b', 9),
      settled('b', 9, 7),
      reserved('c', 9),
      settled('c', 9, 9, { channelId: west }),
    );
    expect(await channelById(db, east)).toMatchObject({ used_quota: 12 });
  });

  test('does not include refunds', async () => {
    const db = await projected.given(added(east), reserved('a', 9), settled('a', 9, 5), refunded('a', 5));
    expect(await channelById(db, east)).toMatchObject({ used_quota: 0 });
  });

  test('follows its edits', async () => {
    const db = await projected.given(added(east), edited(east, { models: ['only'], groups: ['vip'], priority: 9 }));
    expect(await channelById(db, east)).toMatchObject({ models: ['only'], groups: ['vip'], priority: 9 });
  });

  test('is absent when removed', async () => {
    const db = await projected.given(added(east), added(west), ofChannel(east, { type: 'ChannelRemoved' }));
    expect((await allChannels(db)).map(({ id }) => id)).toEqual([west]);
  });
});

describe('a list of channels', () => {
  const all = [
    added(east, { priority: 1, tag: 'eu', models: ['gpt-4o'] }),
    added(west, { name: 'w%st', priority: 5, tag: 'us', models: ['o1'], groups: ['vip-only'] }),
    added(north, { priority: 5, tag: 'eu', type: 14 }),
    added(south, { priority: 0, groups: ['vip'] }),
    ofChannel(south, { type: 'ChannelDisabled', automatic: false, reason: '' }),
  ];
  const ids = (rows: readonly { id: ChannelId }[]) => rows.map(({ id }) => id);

  test('is sorted by priority or by age, in pages', async () => {
    const db = await projected.given(...all);
    expect(ids(await allChannels(db, 'priority'))).toEqual([north, west, east, south]);
    expect(ids(await allChannels(db, 'id'))).toEqual([south, north, west, east]);
    const page = await channelPage(db, { page: 2, size: 3 });
    expect(ids(page.items)).toEqual([south]);
    expect(await page.count()).toBe(4);
  });

  test('by tag has pages of tags with all their channels, without untagged ones', async () => {
    const db = await projected.given(...all);
    const first = await channelPageByTag(db, { page: 1, size: 1 });
    expect(ids(first.items)).toEqual([north, east]);
    expect(await first.count()).toBe(2);
    expect(ids((await channelPageByTag(db, { page: 2, size: 1 })).items)).toEqual([west]);
  });

  test.each([
    ['an id', { keyword: '4' }, [west]],
    ['part of the name, taken literally', { keyword: 'w%s' }, [west]],
    ['the whole key', { keyword: 'zzz', keyHash: 'hash of upstream 3' }, [east]],
    ['part of the list of models', { model: 'pt-4o-m' }, [north, south]],
    ['a group, whole', { group: 'vip' }, [north, east, south]],
    ['a status', { status: 'disabled' }, [south]],
    ['a provider', { type: 14 }, [north]],
    ['a tag', { tag: 'eu' }, [north, east]],
    ['all of it together', { keyword: 'east', model: 'gpt', group: 'vip', tag: 'eu', type: 1 }, [east]],
  ] as const)('is searched by %s', async (_, filter, found) => {
    const db = await projected.given(...all);
    expect(ids(await searchChannels(db, filter))).toEqual(found);
  });
});
