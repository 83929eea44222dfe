import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { beginning, Position } from '../../src/domain/events/events.js';
import type { News } from '../../src/projections/engine/news.js';
import { RemoteRunner } from '../../src/projections/engine/remote-runner.js';
import type { ReadModelState } from '../../src/projections/engine/runner.js';
import type { FromRunner, RunnerChannel, ToRunner } from '../../src/projections/engine/runner-messages.js';

/* What is said to a runner in another thread, and when nothing need be said. */

class SpokenTo implements RunnerChannel<ToRunner, FromRunner> {
  readonly heard: ToRunner[] = [];
  say: (message: FromRunner) => void = () => {};

  postMessage(message: ToRunner): void {
    this.heard.push(message);
  }

  on(_: 'message', listener: (message: FromRunner) => void): void {
    this.say = listener;
  }

  waits(): readonly ToRunner[] {
    return this.heard.filter(({ kind }) => kind === 'wait');
  }
}

const at = (position: number): FromRunner => {
  const progress = { position: Position(position), head: Position(position) };
  const state: ReadModelState = {
    ...progress,
    name: 'users',
    version: 1,
    leading: true,
    status: 'running',
    failure: null,
    unreadable: false,
    quarantined: 0,
  };
  return { kind: 'states', states: [state] };
};

async function connected(news: (signal: AbortSignal) => AsyncIterable<News> = async function* () {}) {
  const remote = new RemoteRunner(news);
  const channel = new SpokenTo();
  const started = remote.connect(channel);
  channel.say(at(10));
  await started;
  return { remote, channel };
}

test('waiting for a position known to be reached sends no message', async () => {
  const { remote, channel } = await connected();
  expect(await remote.reached(Position(10), 60_000)).toBe(true);
  expect(await remote.passed('users', Position(3), 60_000)).toBe(true);
  expect(channel.waits()).toEqual([]);
  const waiting = remote.reached(Position(11), 60_000);
  expect(channel.waits()).toMatchObject([{ position: 11, names: null, hopeful: false }]);
  channel.say({ kind: 'answer', id: 1, reached: true });
  expect(await waiting).toBe(true);
  await remote.stop();
});

test('a projection runner that never answers delays no caller beyond its timeout', async () => {
  const { remote, channel } = await connected();
  expect(await remote.reached(Position(11), 1)).toBe(false);
  // Too late is no harm.
  channel.say({ kind: 'answer', id: 1, reached: true });
  await remote.stop();
});

test('a remote runner is notified of new events before it is asked to wait for them', async () => {
  let grow = () => {};
  const grown = new Promise<void>((resolve) => {
    grow = resolve;
  });
  const { remote, channel } = await connected(async function* (signal) {
    yield { head: Position(10), quarantined: false };
    await grown;
    yield { head: Position(12), quarantined: true };
    while (!signal.aborted) await sleep(1);
  });
  channel.heard.splice(0);
  grow();
  await sleep(0);
  const waiting = remote.reached(Position(12), 60_000);
  expect(channel.heard).toMatchObject([
    { kind: 'news', head: 12, quarantined: true },
    { kind: 'wait', position: 12 },
  ]);
  await remote.stop();
  expect(await waiting).toBe(false);
});

test('a call that waits when a runner dies waits for the next one; late messages of the first are ignored', async () => {
  const { remote, channel: first } = await connected();
  const waiting = remote.reached(Position(20), 60_000);
  remote.disconnect();
  expect(remote.status()).toMatchObject([{ position: 10, leading: false }]);
  const second = new SpokenTo();
  const started = remote.connect(second);
  first.say(at(99));
  expect(remote.status()).toMatchObject([{ position: 10 }]);
  expect(second.heard).toEqual([]);
  second.say(at(15));
  await started;
  expect(second.waits()).toMatchObject([{ position: 20 }]);
  second.say({ kind: 'answer', id: 1, reached: true });
  expect(await waiting).toBe(true);
  await remote.stop();
});

test('an error keeps its type on its way between threads', async () => {
  const remote = new RemoteRunner(async function* () {});
  const channel = new SpokenTo();
  const started = remote.connect(channel);
  const unreadable = { type: 'unreadable', event: 'CreditLent', reason: 'unknown', position: beginning } as const;
  channel.say({ kind: 'failed', error: unreadable });
  await expect(started).rejects.toMatchObject({ name: 'UnreadableEvent', type: 'CreditLent', position: beginning });
  // Nothing more is wanted of it.
  expect(channel.heard).toEqual([{ kind: 'stop' }]);
  await remote.stop();
});
