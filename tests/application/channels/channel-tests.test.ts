import { beforeEach, describe, expect, test } from 'vitest';
import type { ProbeResult } from '../../../src/application/ports/upstream-ports.js';
import type { ChannelSettings } from '../../../src/domain/channel/channel-settings.js';
import { streams } from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { admin, type MemoryNode, openMemoryNode, passingProbe, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';
import { until } from '../../support/until.js';

let node: MemoryNode;
beforeEach(async () => {
  node = await openMemoryNode();
});

async function added(changed: Partial<ChannelSettings> = {}, answer: Partial<ProbeResult> = {}): Promise<ChannelId> {
  const { ids } = await node.channels.add(admin, {
    settings: channelSettings(changed),
    key: 'sk-up',
    proxy: '',
    enabled: true,
  });
  await node.caughtUp();
  const [id] = ids;
  if (id === undefined) throw new Error('no channel was added');
  node.probe.results.set(id, async () => ({ ...passingProbe, ...answer }));
  return id;
}

const set = async (key: string, value: string): Promise<void> => {
  await node.options.change(root, key, value);
  await node.caughtUp();
};

const over = () =>
  until(async () => {
    const run = node.channels.testRun(admin);
    return run.running ? null : run;
  });

/** Tests all and resolves with what came of it. */
async function tested() {
  expect(node.channels.testAll(admin)).toMatchObject({ running: true, done: 0 });
  const run = await over();
  await node.caughtUp();
  return run;
}

const events = (id: ChannelId) => node.eventsOf(streams.channel(id));
const last = async (id: ChannelId) => (await events(id)).at(-1);
const statusOf = (id: ChannelId) => node.directory.channel(id)?.status;
const broken = {
  ok: false,
  message: 'status code 401: no',
  outOfOrder: 'type t, httpCode 401, code c, message no',
} as const;
const switchOff = async (id: ChannelId): Promise<void> => {
  await set('AutomaticDisableChannelEnabled', 'true');
  node.probe.results.set(id, async () => ({ ...passingProbe, ...broken }));
  await tested();
  expect(statusOf(id)).toBe('auto-disabled');
};

describe('a test of all channels', () => {
  test('tests each like a single test, whatever its status, and is recorded as an event when it ends', async () => {
    const ids = [await added(), await added(), await added()];
    await node.channels.setEnabled(admin, ids[1] as ChannelId, false);
    await node.caughtUp();
    expect(await tested()).toStrictEqual({
      ...{ number: 1, running: false },
      ...{ total: 3, done: 3, tested: 3, failed: 0, disabled: 0, enabled: 0 },
    });
    expect(node.probe.requests.map(([id]) => id).sort()).toStrictEqual(ids);
    for (const id of ids) expect(await last(id)).toMatchObject({ type: 'ChannelTested', ok: true });
    expect(await node.eventsOf(streams.testRuns)).toStrictEqual([
      { type: 'ChannelTestRunFinished', tested: 3, failed: 0, disabled: 0, enabled: 0 },
    ]);
  });

  test('ends at once where there are no channels', async () => {
    expect(await tested()).toMatchObject({ total: 0, tested: 0 });
    expect(await node.eventsOf(streams.testRuns)).toHaveLength(1);
  });

  test('runs once at a time, four channels at a time, and reports its progress', async () => {
    let asked = 0;
    let max = 0;
    const waiting: (() => void)[] = [];
    for (let channel = 0; channel < 6; channel++) {
      const id = await added();
      node.probe.results.set(id, async () => {
        max = Math.max(max, ++asked);
        await new Promise<void>((resolve) => waiting.push(resolve));
        asked--;
        return passingProbe;
      });
    }
    node.channels.testAll(admin);
    await until(async () => (waiting.length === 4 ? true : null));
    expect(() => node.channels.testAll(admin)).toThrow(refusal('test-run-under-way'));
    waiting.shift()?.();
    await until(async () => (node.channels.testRun(admin).done === 1 ? true : null));
    expect(node.channels.testRun(admin)).toMatchObject({ running: true, total: 6, done: 1 });
    const letGo = setInterval(() => waiting.shift()?.(), 1);
    await over();
    clearInterval(letGo);
    expect(max).toBe(4);
  });

  test('disables channels that are out of order, where the option and the channel permit it', async () => {
    const [dead, kept, failing] = [
      await added({}, broken),
      await added({ autoBan: false }, broken),
      await added({}, { ok: false, message: 'status code 500: no' }),
    ];
    expect(await tested()).toMatchObject({ tested: 3, failed: 3, disabled: 0 });
    await set('AutomaticDisableChannelEnabled', 'true');
    expect(await tested()).toMatchObject({ tested: 3, failed: 3, disabled: 1 });
    expect(await last(dead)).toStrictEqual({ type: 'ChannelDisabled', automatic: true, reason: broken.outOfOrder });
    expect([kept, failing].map(statusOf)).toEqual(['enabled', 'enabled']);
    // It is off already.
    expect(await tested()).toMatchObject({ disabled: 0 });
  });

  test('disables channels that are slower than the threshold, whatever the failures', async () => {
    const [slow, kept, inTime] = [
      await added({}, { responseTimeMs: 2_504 }),
      await added({ autoBan: false }, { responseTimeMs: 9_000 }),
      await added({}, { responseTimeMs: 2_500 }),
    ];
    await set('ChannelDisableThreshold', '0');
    expect(await tested()).toMatchObject({ disabled: 0 });
    await set('ChannelDisableThreshold', '2.5');
    expect(await tested()).toMatchObject({ failed: 0, disabled: 1 });
    expect(await last(slow)).toStrictEqual({
      type: 'ChannelDisabled',
      automatic: true,
      reason: '响应时间 2.50s 超过阈值 2.50s',
    });
    expect([kept, inTime].map(statusOf)).toEqual(['enabled', 'enabled']);
  });

  test('changes nothing for a key that a channel has received meanwhile', async () => {
    await set('AutomaticDisableChannelEnabled', 'true');
    await set('AutomaticEnableChannelEnabled', 'true');
    const [mended, worse] = [await added(), await added()];
    await switchOff(worse);
    const rekeyed = (id: ChannelId, result: ProbeResult) => async () => {
      await node.channels.edit(admin, id, { settings: {}, key: 'sk-new' });
      return result;
    };
    node.probe.results.set(mended, rekeyed(mended, { ...passingProbe, ...broken }));
    node.probe.results.set(worse, rekeyed(worse, passingProbe));
    expect(await tested()).toMatchObject({ tested: 2, failed: 1, disabled: 0, enabled: 0 });
    expect([mended, worse].map(statusOf)).toEqual(['enabled', 'auto-disabled']);
  });

  test('enables channels that pass and were disabled automatically, where the option permits it', async () => {
    const id = await added();
    await switchOff(id);
    node.probe.results.delete(id);
    expect(await tested()).toMatchObject({ failed: 0, enabled: 0 });
    await set('AutomaticEnableChannelEnabled', 'true');
    node.probe.results.set(id, async () => ({ ...passingProbe, responseTimeMs: 5_001 }));
    // Too slow to come back.
    expect(await tested()).toMatchObject({ failed: 0, enabled: 0 });
    node.probe.results.delete(id);
    expect(await tested()).toMatchObject({ enabled: 1 });
    expect(await last(id)).toStrictEqual({ type: 'ChannelEnabled', automatic: true });
  });

  test('leaves channels disabled that a user has disabled', async () => {
    const id = await added();
    await node.channels.setEnabled(admin, id, false);
    await set('AutomaticEnableChannelEnabled', 'true');
    expect(await tested()).toMatchObject({ tested: 1, enabled: 0 });
    expect(statusOf(id)).toBe('disabled');
  });

  test('continues past channels that cannot be tested or are removed meanwhile', async () => {
    const [unpriced, removed, lost, fine] = [await added(), await added(), await added(), await added()];
    const failing = async () => {
      throw new Failure('price-missing', { model: 'm' });
    };
    node.probe.results.set(unpriced, failing);
    node.probe.results.set(removed, async () => {
      await node.channels.remove(admin, [removed]);
      return passingProbe;
    });
    node.store.beforeAppend = async (stream) => {
      if (stream === streams.channel(lost)) throw new Failure('store-unavailable');
    };
    expect(await tested()).toMatchObject({ total: 4, done: 4, tested: 3, failed: 2 });
    expect(await last(fine)).toMatchObject({ type: 'ChannelTested', ok: true });
    expect(node.warned).toEqual([
      expect.objectContaining({ channel: unpriced, code: 'price-missing' }),
      expect.objectContaining({ channel: lost, code: 'store-unavailable' }),
    ]);
  });

  test('ends even if its end cannot be recorded', async () => {
    await added();
    node.store.beforeAppend = async (stream) => {
      if (stream === streams.testRuns) throw new Failure('store-unavailable');
    };
    expect(await tested()).toMatchObject({ running: false, tested: 1 });
    expect(node.warned).toHaveLength(1);
  });

  test('by the clock does the same without an event, and is skipped while one is running', async () => {
    const id = await added({}, { ...passingProbe, responseTimeMs: 6_001 });
    await set('ChannelDisableThreshold', '6');
    node.channels.testAllByTheClock();
    node.channels.testAllByTheClock();
    expect(await over()).toMatchObject({ total: 1, tested: 1, disabled: 1 });
    await node.caughtUp();
    expect(node.probe.requests).toHaveLength(1);
    expect(statusOf(id)).toBe('auto-disabled');
    expect(await node.eventsOf(streams.testRuns)).toEqual([]);
    await set('AutomaticEnableChannelEnabled', 'true');
    node.probe.results.set(id, async () => passingProbe);
    node.channels.testAllByTheClock();
    await over();
    await node.caughtUp();
    expect(statusOf(id)).toBe('enabled');
    node.channels.stopTesting();
    node.channels.testAllByTheClock();
    expect(node.channels.testRun(admin).running).toBe(false);
    expect(node.probe.requests).toHaveLength(2);
  });

  test('ends with its node: tests in progress are not recorded, and no more are started', async () => {
    const ids = [];
    for (let channel = 0; channel < 6; channel++) ids.push(await added());
    for (const id of ids)
      node.probe.results.set(id, async () => {
        node.channels.stopTesting();
        return { ...passingProbe, ok: false, message: 'request to upstream failed' };
      });
    node.channels.testAll(admin);
    await over();
    expect(node.probe.requests.length).toBeLessThanOrEqual(4);
    for (const id of ids) expect((await events(id)).map(({ type }) => type)).toEqual(['ChannelAdded']);
    expect(await node.eventsOf(streams.testRuns)).toEqual([]);
  });
});
