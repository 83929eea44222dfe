import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Notify } from '../../src/application/notifications/notifier.js';
import type { ReactionCheckpoints } from '../../src/application/ports/storage-ports.js';
import { dropSecrets } from '../../src/application/reactions/drop-secrets.js';
import { forgetDeletedUsers } from '../../src/application/reactions/forget-deleted-users.js';
import { remindOfQuota } from '../../src/application/reactions/remind-of-quota.js';
import { reportChannels } from '../../src/application/reactions/report-channels.js';
import { reportLowBalances } from '../../src/application/reactions/report-low-balances.js';
import { reportTestRuns } from '../../src/application/reactions/report-test-runs.js';
import { type Reaction, runReactions } from '../../src/application/reactions/run-reactions.js';
import { type ChannelCommand, channelDecider } from '../../src/domain/channel/channel.js';
import { beginning, type Position, type Recorded, type StreamName, streams } from '../../src/domain/events/events.js';
import { Failure } from '../../src/domain/kernel/failure.js';
import { CallId, type ChannelId, type UserId } from '../../src/domain/kernel/ids.js';
import {
  channelRunningOut,
  channelSwitched,
  type Notification,
  testRunFinished,
} from '../../src/domain/user/notification.js';
import type { Actor } from '../../src/domain/user/user.js';
import { signIn } from '../support/gateway/sign-in.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import { reserved, settled } from '../support/given/calls.js';
import { channelSettings } from '../support/given/channel-settings.js';
import { eventId, someInstant } from '../support/given/events.js';
import { newUser, ownProfile } from '../support/given/user-inputs.js';
import { admin, type MemoryNode, openMemoryNode, root } from '../support/memory/memory-node.js';
import { MemoryTaskStore } from '../support/memory/memory-task-store.js';
import { until } from '../support/until.js';

class MemoryCheckpoints implements ReactionCheckpoints {
  readonly kept = new Map<string, Position>();
  async of(reaction: string): Promise<Position> {
    return this.kept.get(reaction) ?? beginning;
  }
  async keep(reaction: string, position: Position): Promise<void> {
    this.kept.set(reaction, position);
  }
}

let node: MemoryNode;
let checkpoints: MemoryCheckpoints;
let failures: unknown[];
const stops: (() => Promise<void>)[] = [];

beforeEach(async () => {
  node = await openMemoryNode();
  checkpoints = new MemoryCheckpoints();
  failures = [];
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A process that reacts, until it is stopped; `places` outlive it. */
async function start(...reactions: Reaction[]): Promise<() => Promise<void>> {
  const options = { everyMs: 5, failed: (error: unknown) => failures.push(error) };
  const stop = await runReactions({ ...node, checkpoints }, reactions, options);
  stops.push(stop);
  return stop;
}

const dropping = (): Reaction => dropSecrets(node);

/** All that has happened has been reacted to, and that is written down. */
async function done(reaction: string): Promise<void> {
  await node.caughtUp();
  const head = await node.store.head();
  await until(async () => ((checkpoints.kept.get(reaction) ?? beginning) >= head ? true : null));
}

const kept = (): string[] => [...node.vault.secrets.values()].sort();

async function addChannel(key: string, proxy = ''): Promise<ChannelId> {
  const { ids } = await node.channels.add(admin, { settings: channelSettings(), key, proxy, enabled: true });
  await node.caughtUp();
  return ids[0] as ChannelId;
}

async function registered(username: string): Promise<Actor> {
  const { id } = await node.users.create(root, newUser({ username, password: `first of ${username}` }));
  await node.caughtUp();
  return { id, role: 'ordinary' };
}

const webhook = (webhookSecret: string) => ({
  ...({ notifyType: 'webhook', quotaWarningThreshold: 5, acceptUnpricedModels: false, notificationEmail: '' } as const),
  ...{ webhookUrl: 'https://hooks.example/', webhookSecret },
});

describe('a secret without a reference is removed from the vault:', () => {
  test('a channel’s replaced key and proxy, and both when it is removed', async () => {
    await start(dropping());
    const [east, west] = [await addChannel('east 1', 'http://p1.example'), await addChannel('west 1')];
    await node.channels.edit(admin, east, { settings: {}, key: 'east 2' });
    await node.channels.test(admin, west, '');
    await done('drop-secrets');
    expect(kept()).toEqual(['east 2', 'http://p1.example', 'west 1']);
    await node.channels.edit(admin, east, { settings: { baseUrl: 'https://o.example' }, key: 'east 3', proxy: '' });
    await done('drop-secrets');
    expect(kept()).toEqual(['east 3', 'west 1']);
    await node.channels.remove(admin, [east]);
    await done('drop-secrets');
    expect(kept()).toEqual(['west 1']);
    expect(failures).toEqual([]);
  });

  test('replaced passwords and webhook secrets, deleted API keys, changed options, and all of a deleted user', async () => {
    await start(dropping());
    const [alice, bob] = [await registered('alice'), await registered('bob')];
    const before = kept();
    await node.users.changeOwnProfile(alice, ownProfile({ password: 'second of alice' }));
    await node.users.changeSettings(alice, webhook('hook 1'));
    await node.users.changeSettings(alice, webhook('hook 2'));
    const issued = await node.apiKeys.issue(alice, { terms: apiKeyTerms(), quota: 1 });
    const deleted = await node.apiKeys.issue(alice, { terms: apiKeyTerms(), quota: 1 });
    await node.apiKeys.edit(alice, issued.id, { terms: apiKeyTerms({ name: 'edited' }), quota: 2 });
    await node.apiKeys.remove(alice, deleted.id);
    await node.options.change(root, 'SMTPToken', 'smtp 1');
    await node.options.change(root, 'SMTPToken', 'smtp 2');
    await done('drop-secrets');
    const [ofBob] = before.filter((text) => kept().includes(text));
    expect(kept()).toHaveLength(5);
    expect(kept()).toEqual(expect.arrayContaining(['hook 2', issued.key, 'smtp 2', ofBob]));

    await node.options.change(root, 'SMTPToken', '');
    await node.users.manage(root, alice.id, 'delete');
    await done('drop-secrets');
    expect(kept()).toEqual([ofBob, issued.key].sort());
    expect((await signIn(node.identity, 'bob', 'first of bob')).user.id).toBe(bob.id);
  });

  test('also one that was replaced before the process died, and none twice', async () => {
    const east = await addChannel('east 1');
    await node.channels.edit(admin, east, { settings: {}, key: 'east 2' });
    expect(kept()).toEqual(['east 1', 'east 2']);
    const dropped: string[] = [];
    const drop = node.vault.drop.bind(node.vault);
    let dying = true;
    node.vault.drop = async (ids) => {
      if (dying) throw new Failure('store-unavailable');
      dropped.push(...ids);
      await drop(ids);
    };
    const stop = await start(dropping());
    await until(async () => (failures.length > 0 ? true : null));
    await stop();
    expect((checkpoints.kept.get('drop-secrets') ?? beginning) < (await node.store.head())).toBe(true);
    expect(kept()).toEqual(['east 1', 'east 2']);

    dying = false;
    const again = await start(dropping());
    await done('drop-secrets');
    await again();
    expect(kept()).toEqual(['east 2']);
    await start(dropping());
    await done('drop-secrets');
    expect(dropped).toHaveLength(1);
  });

  test('never one that the stream references now, however often an old event is repeated', async () => {
    const east = await addChannel('east 1');
    await node.channels.edit(admin, east, { settings: {}, key: 'east 2' });
    await node.channels.edit(admin, east, { settings: {}, key: 'east 3' });
    for (let notified = 0; notified < 3; notified++) await dropping().react(streams.channel(east));
    const once = dropping();
    for (let notified = 0; notified < 3; notified++) await once.react(streams.channel(east));
    expect(kept()).toEqual(['east 3']);
  });
});

describe('a deletion that was interrupted by a crash', () => {
  test('is completed at the next start, and affects no other user', async () => {
    const [alice, bob] = [await registered('alice'), await registered('bob')];
    const nameOf = async ({ id }: Actor) => {
      const [event] = await node.eventsOf(streams.user(id));
      return event?.type === 'UserRegistered' ? node.personal.open(id, event.displayName) : null;
    };
    const forget = node.personal.forget.bind(node.personal);
    node.personal.forget = async () => {
      throw new Error('the process died here');
    };
    await expect(node.users.manage(root, alice.id, 'delete')).rejects.toThrow('died here');
    node.personal.forget = forget;
    expect(await nameOf(alice)).toBe('alice');
    const taskContents = new MemoryTaskStore();
    const cleared = vi.spyOn(taskContents, 'clearOf');
    const emptied: UserId[] = [];
    const storedResponses = { removeAll: async (user: UserId) => emptied.push(user) };
    await start(forgetDeletedUsers({ ...node, taskContents, storedResponses }));
    await done('forget-deleted-users');
    expect(await nameOf(alice)).toBeNull();
    expect(await nameOf(bob)).toBe('bob');
    expect([cleared.mock.calls, emptied]).toEqual([[[[alice.id]]], [alice.id]]);
  });
});

describe('a user is notified', () => {
  let notified: { readonly user: UserId; readonly notification: Notification; readonly cause: string }[];
  const notify: Notify = async (user, notification, { id }) => void notified.push({ user, notification, cause: id });
  beforeEach(() => {
    notified = [];
  });

  const reminding = (): Reaction => remindOfQuota({ ...node, notify, newEventId: () => `event ${notified.length}` });
  let calls = 0;

  /** A call of the user's under way, and its end when it is charged. */
  async function call(user: Actor, quota: number, charged: number | null): Promise<void> {
    const id = CallId(`20261121070000123request${String(++calls).padStart(3, '0')}`);
    const parties = { userId: user.id, apiKeyId: null, quota };
    const events = [reserved(parties), ...(charged === null ? [] : [settled({ ...parties, charged })])];
    const appended = events.map((event, index) => ({ id: eventId(calls, index), at: someInstant, event }));
    await node.store.append(streams.call(id), appended, 'no-stream');
    await node.caughtUp();
  }

  async function withQuota(username: string, quota: number, threshold: number | null): Promise<Actor> {
    const user = await registered(username);
    await node.users.adjustQuota(root, user.id, { delta: quota });
    if (threshold !== null)
      await node.users.changeSettings(user, { ...webhook(''), notifyType: 'email', quotaWarningThreshold: threshold });
    await node.caughtUp();
    return user;
  }

  test('of a charge that leaves less than the user’s threshold, and of no other', async () => {
    await start(reminding());
    const alice = await withQuota('alice', 1_000, 900);
    const bob = await withQuota('bob', 1_000, 899);
    for (const user of [alice, bob]) await call(user, 100, 100);
    await done('remind-of-quota');
    expect(notified.map(({ user }) => user)).toEqual([]);
    await call(alice, 100, 1);
    await done('remind-of-quota');
    expect(notified.map(({ user, notification }) => [user, notification.kind, notification.values[1]])).toEqual([
      [alice.id, 'quota_exceed', '＄0.001798 额度'],
    ]);
  });

  test('by the option where the user has set no threshold', async () => {
    await start(reminding());
    const alice = await withQuota('alice', 1_050, null);
    await call(alice, 100, 50);
    await done('remind-of-quota');
    expect(notified).toEqual([]);
    await node.options.change(root, 'QuotaRemindThreshold', '1001');
    await node.caughtUp();
    await call(alice, 100, 1);
    await done('remind-of-quota');
    expect(notified).toHaveLength(1);
  });

  test('of what is spent, not of reservations', async () => {
    await start(reminding());
    const alice = await withQuota('alice', 1_000, 500);
    await call(alice, 900, null);
    await call(alice, 50, 50);
    await done('remind-of-quota');
    expect(notified).toEqual([]);
  });

  test('of no event from before the notifications began', async () => {
    const alice = await withQuota('alice', 1_000, 2_000);
    await call(alice, 100, 100);
    const stop = await start(reminding());
    await done('remind-of-quota');
    expect(notified).toEqual([]);
    await stop();
    // What happens while nobody is there is reported by the next.
    await call(alice, 100, 100);
    await start(reminding());
    await done('remind-of-quota');
    expect(notified).toHaveLength(1);
  });

  describe('as root of channels', () => {
    const reporting = (): Reaction => reportChannels({ ...node, root: async () => root.id, notify });
    const switched = (id: ChannelId, order: ChannelCommand): Promise<unknown> =>
      node.handle(channelDecider, streams.channel(id), order);

    test('that were disabled or enabled automatically', async () => {
      await start(reporting());
      const id = await addChannel('key');
      const { key } = node.directory.channel(id)?.secrets ?? {};
      if (key === undefined) throw new Error('there is no such channel');
      await switched(id, { type: 'DisableChannel', automatic: true, key, reason: 'no credit' });
      await done('report-channels');
      await switched(id, { type: 'EnableChannel', automatic: true, key });
      await done('report-channels');
      const { name } = channelSettings();
      expect(notified).toEqual([
        { user: root.id, notification: channelSwitched(id, name, { reason: 'no credit' }), cause: expect.any(String) },
        { user: root.id, notification: channelSwitched(id, name, null), cause: expect.any(String) },
      ]);
    });

    test('except those that a user switched', async () => {
      await start(reporting());
      const id = await addChannel('key');
      await switched(id, { type: 'DisableChannel', automatic: false, reason: '', by: root.id });
      await switched(id, { type: 'EnableChannel', automatic: false, by: root.id });
      await done('report-channels');
      expect(notified).toEqual([]);
    });

    test('whose accounts are nearly spent, once until they are topped up', async () => {
      await start(reportLowBalances({ ...node, root: async () => root.id, notify }));
      const id = await addChannel('key');
      for (const balance of ['2', '0.9', '0.8', '5', '0.7']) {
        await switched(id, { type: 'RecordChannelBalance', balance, currency: null, low: 1 });
        await done('report-low-balances');
      }
      const { name } = channelSettings();
      expect(notified).toEqual([
        { user: root.id, notification: channelRunningOut(id, name, '0.9'), cause: expect.any(String) },
        { user: root.id, notification: channelRunningOut(id, name, '0.7'), cause: expect.any(String) },
      ]);
    });

    test('when all of them have been tested', async () => {
      await start(reportTestRuns({ ...node, root: async () => root.id, notify }));
      await addChannel('key');
      node.channels.testAll(admin);
      await until(async () => (node.channels.testRun(admin).running ? null : true));
      await done('report-test-runs');
      expect(notified).toEqual([{ user: root.id, notification: testRunFinished, cause: expect.any(String) }]);
    });
  });
});

describe('a reaction to events', () => {
  /** Notes which streams it was notified of; fails for those in `failing`. */
  class Noting implements Reaction {
    readonly notified: StreamName[] = [];
    readonly failing = new Set<StreamName>();
    constructor(readonly name: string) {}
    asks({ stream, event }: Recorded): StreamName | null {
      return event.type === 'OptionChanged' || event.type === 'ChannelAdded' ? stream : null;
    }
    async react(stream: StreamName): Promise<void> {
      if (this.failing.has(stream)) throw new Error('not now');
      this.notified.push(stream);
    }
  }

  test('that fails for one stream continues with the others, and saves no checkpoint beyond the failure', async () => {
    const noting = new Noting('noting');
    const channel = await addChannel('key');
    noting.failing.add(streams.channel(channel));
    await start(noting);
    await node.options.change(root, 'Notice', 'news');
    await until(async () => (noting.notified.includes(streams.options) && failures.length > 1 ? true : null));
    const [first] = (await node.store.readStream(streams.channel(channel))) as [Recorded];
    expect((checkpoints.kept.get('noting') ?? beginning) < first.position).toBe(true);
    noting.failing.clear();
    await done('noting');
    expect(noting.notified).toContain(streams.channel(channel));
  });

  test('that is added to an existing log begins at its beginning', async () => {
    await addChannel('key');
    const former = new Noting('former');
    const stop = await start(former);
    await done('former');
    await stop();
    const [again, added] = [new Noting('former'), new Noting('added')];
    await start(again, added);
    await done('added');
    expect(former.notified).toHaveLength(1);
    expect(added.notified).toEqual(former.notified);
    expect(again.notified).toEqual([]);
  });

  test('without events for it still saves its checkpoint, so that a start reads little again', async () => {
    const noting = new Noting('noting');
    await start(noting);
    await registered('alice');
    await done('noting');
    expect(noting.notified).toEqual([]);
  });
});
