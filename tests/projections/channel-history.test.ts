import { describe, expect, test } from 'vitest';
import type { ChannelEvent } from '../../src/domain/channel/channel.js';
import { Position } from '../../src/domain/events/events.js';
import { SecretId, UserId } from '../../src/domain/kernel/ids.js';
import type { ReadModels } from '../../src/projections/database.js';
import { channelChanges, maxObservations, testErrors } from '../../src/projections/models/channel-history.js';
import { searchChannels } from '../../src/projections/models/channel-queries.js';
import { added, at, east, edited, type Fact, ofChannel, settings, west, when } from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'emptied',
  'dense',
);

const admin = UserId(2);
const all = { channelId: null, part: null, before: null, max: 10_000 } as const;

const by = (user: UserId, fact: Fact): Fact => ({
  ...fact,
  event: { ...(fact.event as ChannelEvent), by: user } as never,
});
const tested = (ok: boolean): Fact =>
  ofChannel(east, { type: 'ChannelTested', ok, responseTimeMs: 812.4, error: ok ? null : 'status 500', usage: null });
const balance = (shown: string): Fact =>
  ofChannel(east, { type: 'ChannelBalanceObserved', balance: shown, becameLow: false });

describe('the history of channels', () => {
  test('lists user, change and reason, newest first, under the name of that time', async () => {
    const db = await projected.given(
      by(admin, added(east, { name: 'harbour' })),
      by(admin, edited(east, { name: 'lighthouse', weight: 7 })),
      ofChannel(east, { type: 'ChannelDisabled', automatic: true, reason: 'status 401' }),
      when(at(5), ofChannel(east, { type: 'ChannelEnabled', automatic: false, by: admin })),
      tested(false),
      ofChannel(east, { type: 'ChannelRemoved', by: admin }),
    );
    const shown = await channelChanges(db, all);
    expect(shown).toMatchObject([
      { position: 5, kind: 'removed', name: 'lighthouse', by_user: 2 },
      { position: 4, kind: 'tested', ok: false, reason: 'status 500', response_time_ms: 812, by_user: null },
      { position: 3, kind: 'enabled', automatic: false, by_user: 2, at: at(5) },
      { position: 2, kind: 'disabled', automatic: true, reason: 'status 401', by_user: null, name: 'lighthouse' },
      { position: 1, kind: 'edited', by_user: 2, name: 'lighthouse' },
      { position: 0, kind: 'added', by_user: 2, name: 'harbour', fields: null },
    ]);
    expect(shown[4]?.fields).toEqual([
      { field: 'name', from: 'harbour', to: 'lighthouse', isCut: false },
      { field: 'weight', from: '0', to: '7', isCut: false },
    ]);
  });

  test('compares an edit with the previous state, also from another batch', async () => {
    await projected.given(added(east, { priority: 1 }));
    await projected.given(tested(true), edited(east, { priority: 2 }));
    const db = await projected.given(edited(east, { priority: 3 }));
    const edits = await channelChanges(db, { ...all, part: 'changed' });
    expect(edits.map(({ fields }) => fields?.map(({ from, to }) => [from, to]))).toEqual([
      [['2', '3']],
      [['1', '2']],
      undefined,
    ]);
  });

  test('is filtered by channel or kind, and continues where a page ended', async () => {
    const db = await projected.given(added(east), added(west), tested(true), tested(false), balance('3'));
    const tests = await channelChanges(db, { ...all, channelId: east, part: 'tested', max: 1 });
    expect(tests).toMatchObject([{ position: 3, ok: false }]);
    const rest = await channelChanges(db, { ...all, channelId: east, part: 'tested', before: Position(3) });
    expect(rest).toMatchObject([{ position: 2, ok: true }]);
    expect(await channelChanges(db, { ...all, channelId: west })).toMatchObject([{ position: 1, kind: 'added' }]);
  });

  test('includes a balance only when it changed', async () => {
    await projected.given(added(east), balance('3'), balance('3'), edited(east, { weight: 1 }));
    const db = await projected.given(balance('3'), balance('2.5'));
    const shown = await channelChanges(db, { ...all, part: 'balance' });
    expect(shown.map(({ balance_before, balance }) => [balance_before, balance])).toEqual([
      ['3', '2.5'],
      [null, '3'],
    ]);
  });

  test('has the reason of the last failed test of a channel, until one passes', async () => {
    const failing = async (db: ReadModels) => [
      await testErrors(db, [east, west]),
      (await searchChannels(db, { testFailed: true })).map(({ id }) => id),
      (await searchChannels(db, { testFailed: false })).map(({ id }) => id),
    ];
    expect(await failing(await projected.given(added(east), added(west), tested(false)))).toEqual([
      new Map([[east, 'status 500']]),
      [east],
      [west],
    ]);
    expect(await failing(await projected.given(edited(east, { weight: 1 }), balance('3')))).toMatchObject([
      new Map([[east, 'status 500']]),
      [east],
      [west],
    ]);
    expect(await failing(await projected.given(tested(true)))).toEqual([new Map(), [], [west, east]]);
  });

  test('never contains a secret', async () => {
    const secrets = { key: SecretId('key-name-9'), keyHash: 'hash', proxy: null };
    await projected.given(added(east), {
      ...edited(east, {}),
      event: { type: 'ChannelEdited', settings: settings({ setting: '{"password":"planted"}' }), secrets },
    });
    const { channel_change: rows } = await projected.dump('channel_history_v1');
    expect(rows?.join()).toContain('"setting"');
    expect(rows?.join()).not.toMatch(/planted|key-name-9/);
  });

  test('keeps the newest thousand tests of a channel, and all changes by users', async () => {
    const many = Array.from({ length: maxObservations + 5 }, (_, n) => tested(n % 2 === 0));
    const db = await projected.given(
      added(east),
      added(west),
      ofChannel(west, { type: 'ChannelTested', ok: true, responseTimeMs: 1, error: null, usage: null }),
      ...many,
    );
    const kept = await channelChanges(db, { ...all, channelId: east, part: 'tested' });
    expect(kept).toHaveLength(maxObservations);
    expect(kept.at(-1)?.position).toBe(3 + 5);
    expect(await channelChanges(db, { ...all, channelId: east, part: 'changed' })).toHaveLength(1);
    expect(await channelChanges(db, { ...all, channelId: west })).toHaveLength(2);
  });

  test('has an empty name for a channel that was never added', async () => {
    const db = await projected.given(tested(true), ofChannel(east, { type: 'ChannelRemoved' }));
    expect((await channelChanges(db, all)).map(({ name }) => name)).toEqual(['', '']);
  });
});
