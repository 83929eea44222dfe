import type { Application } from '../application/application.js';
import { randomText } from '../application/random-text.js';
import { untilVisible } from '../application/until-visible.js';
import { blankChannel, type ChannelSettings } from '../domain/channel/channel-settings.js';
import type { Position } from '../domain/events/events.js';
import { Failure } from '../domain/kernel/failure.js';
import type { ApiKeyId, ChannelId, UserId } from '../domain/kernel/ids.js';
import type { Actor } from '../domain/user/user.js';
import { type CastChannel, type CastKey, type CastPerson, channelCast, people, taskChannelCast } from './cast.js';

/* Sample users, channels and API keys; safe to run at every start of the demo. */

interface DemoSeed {
  readonly providerUrl: string;
  /** Of the server of tasks. */
  readonly tasksUrl: string;
  readonly rootPassword: string;
}

export interface SeededKey {
  readonly id: ApiKeyId;
  /** Without `sk-`. */
  readonly key: string;
  readonly cast: CastKey;
}

export interface SeededPerson {
  readonly id: UserId;
  readonly cast: CastPerson;
  readonly keys: readonly SeededKey[];
}

/** The cast, as the gateway knows it. */
export interface Seeded {
  readonly root: Actor;
  readonly people: readonly SeededPerson[];
  /** By their names. */
  readonly channels: ReadonlyMap<string, ChannelId>;
}

const settingsOf = ({ mapping, ...cast }: CastChannel, baseUrl: string): ChannelSettings => ({
  ...blankChannel,
  ...cast,
  baseUrl,
  groups: ['default', 'vip'],
  tag: 'demo',
  modelMapping: Object.keys(mapping).length === 0 ? null : JSON.stringify(mapping),
});

async function rootActor(app: Application, password: string): Promise<Actor> {
  if (!(await app.setup.isDone())) {
    const position = await app.setup.complete({
      username: 'root',
      password,
      confirmPassword: password,
      mode: 'demo',
    });
    await untilVisible(app, position);
  }
  const entry = await app.identity.login('root', password);
  if (entry.kind !== 'signed-in') throw new Error('the root user of a demonstration signs in by password alone');
  return { id: entry.user.id, role: entry.user.role };
}

/** A channel whose key is refused goes out by itself, and comes back with a test that it passes. */
const options = { RetryTimes: '2', AutomaticDisableChannelEnabled: 'true', AutomaticEnableChannelEnabled: 'true' };

/** Of every channel; the simulated provider takes any. */
const key = 'sk-simulated';

async function seedChannels(
  app: Application,
  root: Actor,
  { providerUrl, tasksUrl }: DemoSeed,
): Promise<Map<string, ChannelId>> {
  const existing = app.directory.channels();
  const seeded = new Map<string, ChannelId>();
  const placed = [
    ...channelCast.map((cast) => ({ cast, baseUrl: providerUrl })),
    ...taskChannelCast.map((cast) => ({ cast, baseUrl: tasksUrl })),
  ];
  for (const { cast, baseUrl } of placed) {
    const known = existing.find(({ settings }) => settings.name === cast.name);
    let position: Position;
    if (known === undefined) {
      const added = { settings: settingsOf(cast, baseUrl), key, proxy: '', enabled: true };
      const { ids, position: at } = await app.channels.add(root, added);
      for (const id of ids) seeded.set(cast.name, id);
      position = at;
    } else {
      // Both listen on another port at every start, and no key goes elsewhere unless it is given again.
      position = await app.channels.edit(root, known.id, { settings: { baseUrl }, key });
      seeded.set(cast.name, known.id);
    }
    await untilVisible(app, position);
  }
  return seeded;
}

async function findPerson(app: Application, root: Actor, username: string) {
  const { items } = await app.queries.users(root, { page: 1, size: 10 }, { keyword: username });
  return items.find((user) => user.username === username && user.deleted_at === null);
}

async function seedUser(app: Application, root: Actor, cast: CastPerson): Promise<Actor> {
  const { username, displayName, quota, group } = cast;
  const known = await findPerson(app, root, username);
  if (known !== undefined) return { id: known.id, role: known.role };
  // Nobody signs in with it: the root user sets one when a demo of the user's own pages is wanted.
  const { id, position } = await app.users.create(root, { username, displayName, password: randomText(16) });
  await untilVisible(app, position);
  await untilVisible(app, await app.users.adjustQuota(root, id, { delta: quota }));
  const unchanged = { username: null, displayName: null, password: null, quota: null, role: null };
  await untilVisible(app, await app.users.edit(root, id, { ...unchanged, group }));
  const created = await findPerson(app, root, username);
  if (created === undefined) throw new Failure('user-not-found');
  return { id: created.id, role: created.role };
}

const keyTerms = (name: string) => ({
  name,
  unlimited: true,
  expiresAt: null,
  modelLimitsEnabled: false,
  modelLimits: [],
  allowIps: [],
  group: '',
});

async function seedPerson(app: Application, root: Actor, cast: CastPerson): Promise<SeededPerson> {
  const actor = await seedUser(app, root, cast);
  const { items } = await app.queries.apiKeys(actor, { page: 1, size: 100 });
  const keys: SeededKey[] = [];
  for (const castKey of cast.keys) {
    const known = items.find(({ name }) => name === castKey.name);
    if (known !== undefined) keys.push({ id: known.id, key: known.key, cast: castKey });
    else {
      const issued = await app.apiKeys.issue(actor, { terms: keyTerms(castKey.name), quota: 0 });
      await untilVisible(app, issued.position);
      keys.push({ id: issued.id, key: issued.key, cast: castKey });
    }
  }
  return { id: actor.id, cast, keys };
}

/** Adds what is missing of the cast. */
export async function seedDemo(app: Application, seed: DemoSeed): Promise<Seeded> {
  const root = await rootActor(app, seed.rootPassword);
  for (const [option, value] of Object.entries(options))
    await untilVisible(app, await app.options.change(root, option, value));
  const channels = await seedChannels(app, root, seed);
  const seeded: SeededPerson[] = [];
  for (const cast of people) seeded.push(await seedPerson(app, root, cast));
  return { root, people: seeded, channels };
}
