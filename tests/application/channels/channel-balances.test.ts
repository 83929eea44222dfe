import { beforeEach, describe, expect, test } from 'vitest';
import type { ChannelSettings } from '../../../src/domain/channel/channel-settings.js';
import { beginning, streams } from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { admin, type MemoryNode, openMemoryNode, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;
beforeEach(async () => {
  node = await openMemoryNode();
});

/** `balance` null: its provider does not report it. */
async function added(
  balance: string | null,
  changed: Partial<ChannelSettings> = {},
  enabled = true,
): Promise<ChannelId> {
  const { ids } = await node.channels.add(admin, {
    settings: channelSettings(changed),
    key: 'sk-up',
    proxy: '',
    enabled,
  });
  await node.caughtUp();
  const [id] = ids;
  if (id === undefined) throw new Error('no channel was added');
  if (balance !== null) node.balances.results.set(id, async () => balance);
  return id;
}

const events = async (id: ChannelId) => (await node.eventsOf(streams.channel(id))).slice(1);
const observed = (balance: string, becameLow = false) => ({
  type: 'ChannelBalanceObserved',
  balance,
  currency: 'CNY',
  becameLow,
});
const usedUp = { type: 'ChannelDisabled', automatic: true, reason: '余额不足' };

describe('the balance of one channel', () => {
  test('is requested and recorded, and switches nothing', async () => {
    const id = await added('0', {}, false);
    expect(await node.channels.updateBalance(admin, id)).toStrictEqual({
      balance: '0',
      position: await node.store.head(),
    });
    expect(await events(id)).toContainEqual(observed('0', true));
  });

  test('is low according to the option', async () => {
    await node.options.change(root, 'general_setting.low_channel_balance', '20.5');
    await node.caughtUp();
    const id = await added('20.4');
    await node.channels.updateBalance(admin, id);
    expect(await events(id)).toStrictEqual([observed('20.4', true)]);
  });

  test('that the provider does not report is a failure, and nothing is recorded', async () => {
    const id = await added(null);
    await expect(node.channels.updateBalance(admin, id)).rejects.toThrow(
      refusal('balance-not-told', { reason: 'status code: 401' }),
    );
    expect(await events(id)).toStrictEqual([]);
  });

  test('of an unknown channel is not requested', async () => {
    await expect(node.channels.updateBalance(admin, ChannelId(99))).rejects.toThrow(refusal('channel-not-found'));
    expect(node.balances.requests).toStrictEqual([]);
  });
});

describe('the balances of all channels', () => {
  test('are requested for enabled channels whose provider reports one; others are skipped', async () => {
    const [rich, silent] = [await added('12.5'), await added(null)];
    await added('1', { type: 14 });
    await added('1', {}, false);
    expect(await node.channels.updateBalances(admin)).toStrictEqual({
      ...{ updated: 1, failed: 1, disabled: 0 },
      position: await node.store.head(),
    });
    expect(node.balances.requests).toStrictEqual([rich, silent]);
    expect(await events(rich)).toStrictEqual([observed('12.5')]);
    expect(await events(silent)).toStrictEqual([]);
  });

  test('are not used for a key that has been replaced meanwhile', async () => {
    const id = await added('0');
    node.balances.results.set(id, async () => {
      await node.channels.edit(admin, id, { settings: {}, key: 'sk-new' });
      return '0';
    });
    expect(await node.channels.updateBalances(admin)).toMatchObject({ updated: 1, disabled: 0 });
    expect(node.directory.channel(id)?.status).toBe('enabled');
  });

  test('that are zero disable channels, unless these may not be disabled automatically', async () => {
    const [empty, owing, kept] = [await added('0'), await added('-0.01'), await added('-1', { autoBan: false })];
    const little = await added('0.01');
    expect(await node.channels.updateBalances(admin)).toMatchObject({ updated: 4, disabled: 2 });
    expect(await events(empty)).toStrictEqual([observed('0', true), usedUp]);
    expect(await events(owing)).toStrictEqual([observed('-0.01', true), usedUp]);
    expect(await events(kept)).toStrictEqual([observed('-1', true)]);
    expect(await events(little)).toStrictEqual([observed('0.01', true)]);
  });

  test('are requested once at a time: concurrent requests get the same result', async () => {
    await added('3');
    const [first, second] = [node.channels.updateBalances(admin), node.channels.updateBalances(admin)];
    expect(await first).toBe(await second);
    expect(node.balances.requests).toHaveLength(1);
    await node.channels.updateBalances(admin);
    expect(node.balances.requests).toHaveLength(2);
  });

  test('by the clock are shared with concurrent requests as well', async () => {
    await added('3');
    const [byTheClock, ordered] = [node.channels.updateBalancesByTheClock(), node.channels.updateBalances(admin)];
    expect(await byTheClock).toBe(await ordered);
    expect(await byTheClock).toMatchObject({ updated: 1 });
  });

  test('continue when the log does not answer', async () => {
    const [lost, fine] = [await added('1'), await added('2')];
    node.store.beforeAppend = async (stream) => {
      if (stream === streams.channel(lost)) throw new Failure('store-unavailable');
    };
    expect(await node.channels.updateBalances(admin)).toMatchObject({ updated: 1, failed: 1 });
    expect(await events(fine)).toHaveLength(1);
  });

  test('are not requested where no channel has one, or the node stops', async () => {
    const nothing = { updated: 0, failed: 0, disabled: 0, position: beginning };
    expect(await node.channels.updateBalances(admin)).toStrictEqual(nothing);
    await added('1');
    node.channels.stopAskingBalances();
    expect(await node.channels.updateBalances(admin)).toStrictEqual({ ...nothing, failed: 1 });
    expect(node.balances.requests).toStrictEqual([]);
  });
});
