import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChannelId } from '../../src/domain/kernel/ids.js';
import { recordTask } from '../support/gateway/record-tasks.js';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { until } from '../support/until.js';
import { type Data, Feed, type GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

let server: GraphqlServer;
let user: TestUser;
let client: GraphqlClient;
let channelId: ChannelId;

beforeAll(async () => {
  server = await startGraphql({}, { recheckMs: 3_600_000 });
  channelId = ChannelId(await server.gateway.addChannel({ name: 'drawing channel' }));
  user = await server.gateway.addUser(1_000, 'olga');
  client = await server.as(user);
});
afterAll(() => server?.stop());

const someone = async (name: string) => {
  const other = await server.gateway.addUser(1_000, name);
  return { id: other.actor.id, client: await server.as(other) };
};
const submit = (of: typeof user.actor.id, change: Parameters<typeof recordTask>[2] = {}) =>
  recordTask(server.gateway, of, change);
const list = async (by: GraphqlClient, args: string, fields = 'id'): Promise<Data[]> =>
  (await by.ask(`{ tasks(${args}) { edges { node { ${fields} } } } }`)).tasks.edges.map(({ node }: Data) => node);
const start = Date.UTC(2026, 10, 28);

describe('the list of tasks', () => {
  test('shows how far a task is, and what it was charged', async () => {
    const task = await submit(user.actor.id, { at: start, channelId });
    await task.progressed(40);
    const fields = `id publicId platform action code status progress reason submittedAt startedAt finishedAt model group
      apiKeyName requestId parentId charged refunded hasContent prompt promptEn description state failReason result
      media { kind url }`;
    expect(await list(client, 'first: 1', fields)).toEqual([
      {
        id: task.id,
        publicId: task.facts.publicId,
        platform: 'MIDJOURNEY',
        action: 'IMAGINE',
        code: 1,
        status: 'IN_PROGRESS',
        progress: 40,
        reason: null,
        submittedAt: start / 1000,
        startedAt: null,
        finishedAt: null,
        model: 'mj_imagine',
        group: 'default',
        apiKeyName: 'ci',
        requestId: task.facts.callId,
        parentId: null,
        charged: 50,
        refunded: false,
        hasContent: false,
        prompt: '',
        promptEn: '',
        description: '',
        state: '',
        failReason: '',
        result: null,
        media: [],
      },
    ]);
  });

  test('has pages whose cursor shifts nothing, newest first', async () => {
    const { id, client: own } = await someone('pager');
    const tasks = [await submit(id), await submit(id), await submit(id)].map((task) => task.id).reverse();
    const page = async (after: string | null) =>
      (
        await own.ask(
          'query ($after: ID) { tasks(first: 2, after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } } }',
          {
            after,
          },
        )
      ).tasks;
    const first = await page(null);
    expect(first.edges.map(({ node }: Data) => node.id)).toEqual(tasks.slice(0, 2));
    expect(first.pageInfo).toEqual({ hasNextPage: true, endCursor: tasks[1] });
    await submit(id);
    const second = await page(first.pageInfo.endCursor);
    expect(second.edges.map(({ node }: Data) => node.id)).toEqual(tasks.slice(2));
    expect(second.pageInfo.hasNextPage).toBe(false);
  });

  test('is filtered by platform, action, status, name and time', async () => {
    const { id, client: own } = await someone('filterer');
    const drawing = await submit(id, { at: start });
    const song = await submit(id, { at: start + 10_400, platform: 'suno', action: 'MUSIC', model: 'suno_music' });
    const video = await submit(id, { at: start + 20_000, platform: 'video', action: 'CREATE' });
    await video.succeeded(start + 80_000);
    const found = async (filter: string) => (await list(own, `filter: { ${filter} }`)).map((task) => task.id);
    expect(await found('platforms: [SUNO, VIDEO]')).toEqual([video.id, song.id]);
    expect(await found('platforms: []')).toEqual([]);
    expect(await found('action: "MUSIC"')).toEqual([song.id]);
    expect(await found('status: SUCCEEDED')).toEqual([video.id]);
    expect(await found(`publicId: "${drawing.facts.publicId}"`)).toEqual([drawing.id]);
    expect(await found(`from: ${start / 1000 + 5}, to: ${start / 1000 + 10}`)).toEqual([song.id]);
    expect(await found('publicId: "%"')).toEqual([]);
  });

  test('contains only own tasks for a user, and all tasks for an administrator', async () => {
    const { id, client: stranger } = await someone('stranger');
    const task = await submit(id, { channelId });
    const theirs = await submit(user.actor.id);
    const ids = (tasks: Data[]) => tasks.map((one) => one.id);
    expect(ids(await list(client, 'first: 100'))).not.toContain(task.id);
    expect(ids(await list(stranger, 'first: 100'))).toEqual([task.id]);
    const fields = 'id userId username channelId channelName';
    const of = (filter: string) => list(server.root, `everyone: true, first: 100, filter: { ${filter} }`, fields);
    expect(await of(`channelId: "${channelId}", userId: "${id}"`)).toEqual([
      {
        id: task.id,
        userId: String(id),
        username: 'stranger',
        channelId: String(channelId),
        channelName: 'drawing channel',
      },
    ]);
    expect(ids(await list(server.root, 'everyone: true, first: 100'))).toEqual(
      expect.arrayContaining([task.id, theirs.id]),
    );
  });

  test.each([
    ['all tasks', '{ tasks(everyone: true) { pageInfo { hasNextPage } } }'],
    ['a channel', '{ tasks(filter: { channelId: "1" }) { pageInfo { hasNextPage } } }'],
    ['a user', '{ tasks(filter: { userId: "1" }) { pageInfo { hasNextPage } } }'],
    ['channels of tasks', '{ tasks { edges { node { channelId } } } }'],
    ['names of users', '{ tasks { edges { node { username } } } }'],
  ])('refuses to an ordinary user a query for %s', async (_name, query) => {
    await submit(user.actor.id);
    const { errors } = await client.send(query);
    expect(errors[0]?.extensions).toMatchObject({ code: 'role-too-low' });
  });

  test('refuses a negative time', async () => {
    const { errors } = await client.send('{ tasks(filter: { from: -1 }) { pageInfo { hasNextPage } } }');
    expect(errors[0]?.extensions).toMatchObject({ code: 'invalid-field', details: { field: 'from' } });
  });

  test('has one task by its id, for its owner and administrators alone', async () => {
    const { id, client: stranger } = await someone('owner');
    const task = await submit(id);
    const ask = async (by: GraphqlClient) => (await by.ask(`{ task(id: ${task.id}) { id } }`)).task;
    expect(await ask(stranger)).toEqual({ id: task.id });
    expect(await ask(server.root)).toEqual({ id: task.id });
    expect(await ask(client)).toBeNull();
  });

  test('shows that a failed task was refunded, once the refund has followed', async () => {
    const { id, client: own } = await someone('refunded');
    const before = await server.gateway.available({ actor: { id } } as TestUser);
    const task = await submit(id);
    await task.failed({ reason: 'rejected' });
    const ask = async () => (await own.ask(`{ task(id: ${task.id}) { status reason charged refunded } }`)).task;
    const refunded = await until(async () => ((await ask()).refunded ? ask() : null));
    expect(refunded).toEqual({ status: 'FAILED', reason: 'REJECTED', charged: 50, refunded: true });
    expect(await server.gateway.available({ actor: { id } } as TestUser)).toBe(before);
  });
});

describe('the subscription to tasks', () => {
  const follow = (by: GraphqlClient, args = '', fields = 'id status progress') =>
    new Feed(server.connect(by), `subscription { taskProgress${args} { ${fields} } }`);

  test('delivers own tasks as they progress, and all tasks to administrators', async () => {
    const { id, client: own } = await someone('watcher');
    const [mine, all] = [follow(own), follow(server.root, '(everyone: true)', 'id username status')];
    const task = await until(async () => {
      await submit(user.actor.id);
      const submitted = await submit(id);
      return mine.results.length > 0 && all.results.length > 0 ? submitted : null;
    });
    await task.succeeded(Date.now());
    const isDone = ({ taskProgress }: Data) => taskProgress.id === task.id && taskProgress.status === 'SUCCEEDED';
    await mine.until(({ results }) => results.some(isDone));
    await all.until(({ results }) => results.some(isDone));
    const ids = new Set((await list(own, 'first: 100')).map((one) => one.id));
    expect(mine.results.every(({ taskProgress }) => ids.has(taskProgress.id))).toBe(true);
    expect(all.results.some(({ taskProgress }) => taskProgress.username === 'olga')).toBe(true);
    mine.stop();
    all.stop();
  });

  test('of all users is refused to ordinary users', async () => {
    expect(await follow(client, '(everyone: true)').refusal()).toMatchObject({ code: 'role-too-low' });
  });
});
