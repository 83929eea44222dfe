import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ReactionPlaces } from '../../src/application/ports.js';
import { dropSecrets } from '../../src/application/reactions/drop-secrets.js';
import { forgetDeletedUsers } from '../../src/application/reactions/forget-deleted-users.js';
import { keepReacting, type Reaction } from '../../src/application/reactions/keep-reacting.js';
import { beginning, type Position, type Recorded, type StreamName, streams } from '../../src/domain/events.js';
import { Failure } from '../../src/domain/failure.js';
import type { ChannelId } from '../../src/domain/ids.js';
import type { Actor } from '../../src/domain/user.js';
import { apiKeyTerms } from '../support/api-key-terms.js';
import { channelSettings } from '../support/channel-settings.js';
import { admin, type MemoryNode, openMemoryNode, root } from '../support/memory-node.js';
import { until } from '../support/until.js';
import { newUser, ownProfile } from '../support/user-inputs.js';

class MemoryPlaces implements ReactionPlaces {
  readonly kept = new Map<string, Position>();
  async of(reaction: string): Promise<Position> {
    return this.kept.get(reaction) ?? beginning;
  }
  async keep(reaction: string, position: Position): Promise<void> {
    this.kept.set(reaction, position);
  }
}

let node: MemoryNode;
let places: MemoryPlaces;
let failures: unknown[];
const stops: (() => Promise<void>)[] = [];

beforeEach(async () => {
  node = await openMemoryNode();
  places = new MemoryPlaces();
  failures = [];
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A process that reacts, until it is stopped; `places` outlive it. */
async function start(...reactions: Reaction[]): Promise<() => Promise<void>> {
  const options = { everyMs: 5, failed: (error: unknown) => failures.push(error) };
  const stop = await keepReacting({ ...node, places }, reactions, options);
  stops.push(stop);
  return stop;
}

const dropping = (): Reaction => dropSecrets(node);

/** All that has happened has been reacted to, and that is written down. */
async function done(reaction: string): Promise<void> {
  await node.caughtUp();
  const head = await node.store.head();
  await until(async () => ((places.kept.get(reaction) ?? beginning) >= head ? true : null));
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

describe('secrets that nothing names any more leave the vault', () => {
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
    expect((await node.identity.login('bob', 'first of bob')).user.id).toBe(bob.id);
  });

  test('also those that a process replaced before it died, and nothing twice', async () => {
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
    expect(places.kept.get('drop-secrets') ?? beginning).toBeLessThan(await node.store.head());
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

  test('never what the stream names as it is now, however often an old event is told', async () => {
    const east = await addChannel('east 1');
    await node.channels.edit(admin, east, { settings: {}, key: 'east 2' });
    await node.channels.edit(admin, east, { settings: {}, key: 'east 3' });
    for (let told = 0; told < 3; told++) await dropping().react(streams.channel(east));
    const once = dropping();
    for (let told = 0; told < 3; told++) await once.react(streams.channel(east));
    expect(kept()).toEqual(['east 3']);
  });
});

describe('a deletion that a crash cut short', () => {
  test('is finished at the next start, and touches nobody else', async () => {
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
    await start(forgetDeletedUsers(node));
    await done('forget-deleted-users');
    expect(await nameOf(alice)).toBeNull();
    expect(await nameOf(bob)).toBe('bob');
  });
});

describe('a reaction', () => {
  /** Notes which streams it was told of; fails for those in `failing`. */
  class Noting implements Reaction {
    readonly told: StreamName[] = [];
    readonly failing = new Set<StreamName>();
    constructor(readonly name: string) {}
    concerns({ event }: Recorded): boolean {
      return event.type === 'OptionChanged' || event.type === 'ChannelAdded';
    }
    async react(stream: StreamName): Promise<void> {
      if (this.failing.has(stream)) throw new Error('not now');
      this.told.push(stream);
    }
  }

  test('that fails for one stream goes on with the others, and is not written down as done before it is', async () => {
    const noting = new Noting('noting');
    const channel = await addChannel('key');
    noting.failing.add(streams.channel(channel));
    await start(noting);
    await node.options.change(root, 'Notice', 'news');
    await until(async () => (noting.told.includes(streams.options) && failures.length > 1 ? true : null));
    const [first] = (await node.store.readStream(streams.channel(channel))) as [Recorded];
    expect(places.kept.get('noting') ?? beginning).toBeLessThan(first.position);
    noting.failing.clear();
    await done('noting');
    expect(noting.told).toContain(streams.channel(channel));
  });

  test('added to a log that others have reacted to begins at its beginning', async () => {
    await addChannel('key');
    const former = new Noting('former');
    const stop = await start(former);
    await done('former');
    await stop();
    const [again, added] = [new Noting('former'), new Noting('added')];
    await start(again, added);
    await done('added');
    expect(former.told).toHaveLength(1);
    expect(added.told).toEqual(former.told);
    expect(again.told).toEqual([]);
  });

  test('of which nothing is asked still comes along, so that a start reads little again', async () => {
    const noting = new Noting('noting');
    await start(noting);
    await registered('alice');
    await done('noting');
    expect(noting.told).toEqual([]);
  });
});
