import type { Application } from '../application/application.js';
import { randomText } from '../application/random-text.js';
import { blankChannel, type ChannelSettings } from '../domain/channel-settings.js';
import { Failure } from '../domain/failure.js';
import type { Actor } from '../domain/user.js';

/* Sample users, channels and API keys; safe to run at every start of the demo. */

export interface DemoSeed {
  readonly providerUrl: string;
  readonly rootPassword: string;
}

const plain: ChannelSettings = {
  ...blankChannel,
  type: 1,
  groups: ['default', 'vip'],
  weight: 10,
  tag: 'demo',
  autoBan: false,
};

const channels = (baseUrl: string): ChannelSettings[] => [
  { ...plain, name: 'east', baseUrl, models: ['gpt-4o', 'gpt-4o-mini', 'text-embedding-3-small'], weight: 20 },
  { ...plain, name: 'west', baseUrl, models: ['gpt-4o-mini', 'deepseek-chat', 'deepseek-reasoner'] },
  // First choice for one model, and often down: its calls show retries on the other channels.
  {
    ...plain,
    name: 'flaky',
    baseUrl,
    models: ['gpt-4o-mini'],
    priority: 10,
    modelMapping: JSON.stringify({ 'gpt-4o-mini': 'flaky' }),
  },
];

const people = [
  { username: 'alice', displayName: 'Alice', quota: 5_000_000 },
  { username: 'bob', displayName: 'Bob', quota: 500_000 },
] as const;

async function rootActor(app: Application, password: string): Promise<Actor> {
  if (!(await app.setup.isDone())) {
    const position = await app.setup.complete({
      username: 'root',
      password,
      confirmPassword: password,
      mode: 'demo',
    });
    await app.visible(position);
  }
  const entry = await app.identity.login('root', password);
  if (entry.kind !== 'signed-in') throw new Error('the root user of a demonstration signs in by password alone');
  return { id: entry.user.id, role: entry.user.role };
}

/** Resolves with an API key of each sample user. */
export async function seedDemo(
  app: Application,
  { providerUrl, rootPassword }: DemoSeed,
): Promise<{ apiKeys: string[] }> {
  const root = await rootActor(app, rootPassword);
  await app.visible(await app.options.change(root, 'RetryTimes', '2'));

  const existing = app.directory.channels();
  for (const settings of channels(providerUrl)) {
    const known = existing.find((channel) => channel.settings.name === settings.name);
    // The simulated provider listens on another port at every start.
    const position =
      known === undefined
        ? (await app.channels.add(root, { settings, key: 'sk-simulated', proxy: '', enabled: true })).position
        : await app.channels.edit(root, known.id, { settings: { baseUrl: providerUrl } });
    await app.visible(position);
  }

  const apiKeys: string[] = [];
  for (const { username, displayName, quota } of people) {
    const { items } = await app.queries.users(root, { page: 1, size: 10 }, { keyword: username });
    let person = items.find((user) => user.username === username && user.deleted_at === null);
    if (person === undefined) {
      // Nobody signs in with it: the root user sets one when a demo of the user's own pages is wanted.
      const { id, position } = await app.users.create(root, { username, displayName, password: randomText(16) });
      await app.visible(position);
      await app.visible(await app.users.adjustQuota(root, id, quota, 0));
      person = (await app.queries.users(root, { page: 1, size: 10 }, { keyword: username })).items.find(
        (user) => user.id === id,
      );
    }
    if (person === undefined) throw new Failure('user-not-found');
    const actor: Actor = { id: person.id, role: person.role };
    const [first] = (await app.queries.apiKeys(actor, { page: 1, size: 1 })).items;
    if (first !== undefined) apiKeys.push(first.key);
    else {
      const terms = {
        name: 'demo',
        unlimited: true,
        expiresAt: null,
        modelLimitsEnabled: false,
        modelLimits: [],
        allowIps: [],
        group: '',
      };
      const { key, position } = await app.apiKeys.issue(actor, { terms, quota: 0 });
      await app.visible(position);
      apiKeys.push(key);
    }
  }
  return { apiKeys };
}
