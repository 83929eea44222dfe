import { afterAll, beforeAll, expect, test } from 'vitest';
import { taskChannelCast } from '../../src/demo/cast.js';
import type { SeededPerson } from '../../src/demo/seed.js';
import { simulatedFilm } from '../../src/demo/simulated-film.js';
import { type SimulatedTaskServer, startSimulatedTasks } from '../../src/demo/simulated-tasks.js';
import { startTaskTraffic } from '../../src/demo/task-traffic.js';
import { blankChannel } from '../../src/domain/channel/channel-settings.js';
import { type Data, GraphqlClient } from '../graphql/graphql-server.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { until } from '../support/until.js';

/* The tasks of a demo, from their orders to their ends. */

let gateway: TestGateway;
let server: SimulatedTaskServer;
let user: TestUser;
let key: string;

beforeAll(async () => {
  [gateway, server] = await Promise.all([
    startTestGateway({ TASK_POLL_SECONDS: '1' }),
    startSimulatedTasks({ lastMs: 200 }),
  ]);
  for (const { mapping: _, ...cast } of taskChannelCast)
    await gateway.addChannel({ ...blankChannel, ...cast, baseUrl: server.url });
  user = await gateway.addUser(50_000_000);
  key = await gateway.addApiKey(user);
});
afterAll(async () => {
  await gateway?.stop();
  await server?.stop();
});

test('the tasks of a demo come to their ends on every platform, and a video can be downloaded', async () => {
  const warnings: string[] = [];
  const people = [{ id: user.actor.id, cast: { topUp: 5 }, keys: [{ key: key.replace(/^sk-/, '') }] }];
  const end = startTaskTraffic({
    ...{ url: gateway.url, people: people as unknown as readonly SeededPerson[] },
    log: { warn: (facts, message) => void warnings.push(`${message} ${JSON.stringify(facts)}`) },
  });
  const viewer = await new GraphqlClient(gateway.url).signIn(user.username, user.password);
  const tasks = await until(async (): Promise<Data[] | null> => {
    const { tasks: list } = await viewer.ask(
      '{ tasks(first: 20) { edges { node { platform action status refunded publicId finishedAt } } } }',
    );
    const found = list.edges.map(({ node }: Data) => node);
    // A refund follows its failure.
    const isOver = ({ finishedAt, status, refunded }: Data) => finishedAt !== null && (status !== 'FAILED' || refunded);
    return found.length === 10 && found.every(isOver) ? found : null;
  });
  await end();
  expect(warnings).toEqual([]);
  expect(new Set(tasks.map(({ platform, action }) => `${platform} ${action}`))).toEqual(
    new Set(['MIDJOURNEY IMAGINE', 'SUNO MUSIC', 'SUNO LYRICS', 'VIDEO GENERATE']),
  );
  expect(tasks.filter(({ status }) => status === 'FAILED')).toHaveLength(1);
  const film = tasks.find(({ platform, status }) => platform === 'VIDEO' && status === 'SUCCEEDED');
  const file = await fetch(`${gateway.url}/v1/videos/${film?.publicId}/content`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect([file.headers.get('content-type'), Buffer.from(await file.arrayBuffer())]).toEqual([
    'video/webm',
    simulatedFilm,
  ]);
});
