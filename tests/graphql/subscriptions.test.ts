import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Position } from '../../src/domain/events/events.js';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { until } from '../support/until.js';
import {
  type Data,
  Feed,
  type GraphqlClient,
  type GraphqlServer,
  serveGraphql,
  startGraphql,
} from './graphql-server.js';

let server: GraphqlServer;
let user: TestUser;
let client: GraphqlClient;
let apiKey: string;
let channelId: string;

beforeAll(async () => {
  // So seldom that what must happen at once does not happen by the way.
  server = await startGraphql({}, { recheckMs: 3_600_000 });
  channelId = String(await server.gateway.addChannel());
  user = await server.gateway.addUser(100_000_000, 'olga');
  client = await server.as(user);
  apiKey = await server.gateway.addApiKey(user);
});
afterAll(() => server?.stop());

const subscribe = (
  by: GraphqlClient,
  selection: string,
  variables: Record<string, unknown> = {},
  declared = '',
): Feed => new Feed(server.connect(by), `subscription ${declared} { ${selection} }`, variables);

const line = `id createdAt type requestId quota promptTokens completionTokens model apiKeyName group useTimeMs isStream
  path usageSource outcome price { ... on TokenPrice { model completion group } }`;

const log = async (by: GraphqlClient, fields = 'id', args = ''): Promise<Data[]> =>
  (await by.ask(`{ usageLog(first: 100${args}) { edges { node { ${fields} } } } }`)).usageLog.edges.map(
    ({ node }: { node: Data }) => node,
  );

describe('the usage subscription', () => {
  test('continues from the newest line of the list, and delivers each call as the list will contain it', async () => {
    const { usageLog } = await client.ask('{ usageLog(first: 1) { pageInfo { startCursor } } }');
    const feed = subscribe(
      client,
      `usageFeed(after: $after) { ${line} }`,
      { after: usageLog.pageInfo.startCursor },
      '($after: ID)',
    );
    await server.call(apiKey, 'gpt-4o-mini');
    const [delivered] = await feed.take(1);
    const [listed] = await log(client, line);
    expect(delivered?.usageFeed).toEqual(listed);
    expect(listed).toMatchObject({ type: 'CONSUME', model: 'gpt-4o-mini', outcome: 'COMPLETED' });
    feed.stop();
  });
  test('begins with new lines, without a position to continue from', async () => {
    const before = new Set((await log(client)).map(({ id }) => id));
    const feed = subscribe(client, 'usageFeed { id }');
    await until(async () => {
      await server.call(apiKey);
      return feed.results.length > 0 ? true : null;
    });
    expect(feed.results.filter(({ usageFeed }) => before.has(usageFeed.id))).toEqual([]);
    feed.stop();
  });
  test('resumes at its last position, without gap and without repetition, during calls', async () => {
    const reader = await server.gateway.addUser(100_000_000, 'resumer');
    const readerClient = await server.as(reader);
    const key = await server.gateway.addApiKey(reader);
    const calls = (async () => {
      for (let round = 0; round < 6; round++) await Promise.all([server.call(key), server.call(key), server.call(key)]);
    })();

    const seen: string[] = [];
    const follow = async (count: number) => {
      const after = seen.at(-1) ?? '-1';
      const feed = subscribe(readerClient, 'usageFeed(after: $after) { id }', { after }, '($after: ID)');
      const lines = await feed.take(count);
      feed.stop();
      seen.push(...lines.map(({ usageFeed }) => usageFeed.id));
    };
    for (const count of [1, 5, 4]) await follow(count);
    await calls;
    await follow(9);
    const written = (await log(readerClient)).map(({ id }) => id).reverse();
    expect(written).toHaveLength(1 + 18);
    expect(seen).toEqual(written);
  });
  test('replays more than one page', async () => {
    const { application, root } = server.gateway;
    const reader = await server.gateway.addUser(0, 'longreader');
    for (let count = 0; count < 205; count++) await application.users.adjustQuota(root, reader.actor.id, { delta: 1 });
    const feed = subscribe(
      await server.as(reader),
      'usageFeed(after: -1) { id detail { ... on AdjustmentDetail { observed } } }',
    );
    const lines = await feed.take(205);
    expect(lines.map(({ usageFeed }) => usageFeed.detail.observed)).toEqual(Array.from({ length: 205 }, (_, n) => n));
    feed.stop();
  });
  test('delivers to a user only own lines, and to an administrator every line that matches', async () => {
    const other = await server.gateway.addUser(100_000_000, 'vera');
    const otherKey = await server.gateway.addApiKey(other);
    const own = subscribe(await server.as(other), 'usageFeed(after: -1) { id model }');
    const all = subscribe(
      server.root,
      'usageFeed(after: -1, everyone: true, filter: { username: "vera", type: CONSUME }) { username channelId model }',
    );
    await server.call(apiKey);
    await server.call(otherKey, 'gpt-4o-mini');
    await server.call(apiKey);
    await server.call(otherKey, 'gpt-4o');
    expect((await all.take(2)).map(({ usageFeed }) => usageFeed)).toEqual([
      { username: 'vera', channelId, model: 'gpt-4o-mini' },
      { username: 'vera', channelId, model: 'gpt-4o' },
    ]);
    // The grant, and the own calls.
    expect((await own.take(3)).map(({ usageFeed }) => usageFeed.model)).toEqual(['', 'gpt-4o-mini', 'gpt-4o']);
    own.stop();
    all.stop();
  });
  test('of all users, or of a channel, is refused to ordinary users', async () => {
    for (const args of ['everyone: true', `filter: { channelId: "${channelId}" }`])
      expect(await subscribe(client, `usageFeed(${args}) { id }`).refusal()).toEqual({
        code: 'role-too-low',
        kind: 'forbidden',
        details: { needed: 'admin' },
      });
  });
  test('delivers no channels to an ordinary user', async () => {
    const feed = subscribe(client, 'usageFeed(after: -1) { id channelName }');
    expect(await feed.refusal()).toMatchObject({ code: 'role-too-low' });
    feed.stop();
  });
});

describe('the live traffic subscription', () => {
  test('is delivered every second, in total and by channel and model', async () => {
    const feed = subscribe(
      server.root,
      'liveTraffic { at total { requestsPerMinute errorRate } channels { channelId channelName requestsPerMinute } models { model requestsPerMinute } }',
    );
    await feed.take(1);
    await server.call(apiKey);
    await feed.until(
      ({ results }) => results.length >= 3 && (results.at(-1)?.liveTraffic.total.requestsPerMinute ?? 0) > 0,
    );
    const { at, channels, models } = feed.results.at(-1)?.liveTraffic ?? {};
    expect(channels).toContainEqual({ channelId, channelName: 'upstream', requestsPerMinute: expect.any(Number) });
    expect(models.map(({ model }: Data) => model)).toContain('gpt-4o');
    expect(at - feed.results[0]?.liveTraffic.at).toBeGreaterThanOrEqual(1);
    feed.stop();
  });
});

describe('the channel health subscription', () => {
  const selection =
    'channelHealth { kind at channelId automatic reason ok responseTimeMs channel { id status statusReason } }';

  test('delivers a channel that live traffic disabled, as it happens', async () => {
    await server.gateway.setOption('AutomaticDisableChannelEnabled', 'true');
    const id = String(await server.gateway.addChannel({ name: 'failing', models: ['failing-model'] }));
    await server.gateway.setOption('ModelRatio', JSON.stringify({ 'failing-model': 1, 'gpt-4o': 1, 'gpt-4o-mini': 1 }));
    server.gateway.provider.script('failing-model', {
      kind: 'refuse',
      status: 401,
      body: { error: { message: 'bad key' } },
    });
    const feed = subscribe(server.root, selection);
    const switched = ({ channelHealth }: Data) => channelHealth.channelId === id && channelHealth.kind === 'DISABLED';
    await until(async () => {
      await server.call(apiKey, 'failing-model').catch(() => {});
      await server.gateway.application.visible(
        await server.gateway.application.channels.setEnabled(server.gateway.root, Number(id) as never, true),
      );
      return feed.results.some(switched) ? true : null;
    });
    expect(feed.results.find(switched)?.channelHealth).toMatchObject({
      automatic: true,
      reason: expect.stringMatching(/./),
      channel: { id },
    });
    feed.stop();
  });
  test('delivers tests, switches, edits and the removal of a channel, in order', async () => {
    const feed = subscribe(server.root, selection);
    // Any change will do to know that the feed is there.
    await until(async () => {
      await server.root.ask('mutation ($id: ID!) { testChannel(id: $id) { ok } }', { id: channelId });
      return feed.results.length > 0 ? true : null;
    });
    const ofNew = () =>
      feed.results.map(({ channelHealth }) => channelHealth).filter(({ channelId: of }) => of !== channelId);
    const step = async (kind: string): Promise<Data | undefined> => {
      await feed.until(() => ofNew().at(-1)?.kind === kind);
      return ofNew().at(-1);
    };

    const id = String(await server.gateway.addChannel({ name: 'short-lived' }));
    expect(await step('ADDED')).toMatchObject({ channelId: id, channel: { id, status: 'ENABLED' } });
    const run = (mutation: string) => server.root.ask(`mutation { ${mutation} }`);
    await run(`testChannel(id: ${id}) { ok }`);
    expect(await step('TESTED')).toMatchObject({ ok: true, reason: null, responseTimeMs: expect.any(Number) });
    await run(`editChannel(id: ${id}, patch: { name: "renamed" }) { id }`);
    expect(await step('EDITED')).toMatchObject({ automatic: null });
    await run(`setChannelEnabled(id: ${id}, enabled: false) { id }`);
    expect(await step('DISABLED')).toMatchObject({ automatic: false, channel: { status: 'DISABLED' } });
    await run(`setChannelEnabled(id: ${id}, enabled: true) { id }`);
    expect(await step('ENABLED')).toMatchObject({ automatic: false, channel: { status: 'ENABLED' } });
    await run(`deleteChannels(ids: [${id}])`);
    expect(await step('REMOVED')).toMatchObject({ channelId: id, channel: null });
    feed.stop();
  });
});

describe('the balance subscription', () => {
  test('delivers the balance at once, then each change; many movements are joined', async () => {
    const { application, root } = server.gateway;
    const mover = await server.gateway.addUser(1_000, 'mover');
    const feed = subscribe(await server.as(mover), 'balance { userId available usedQuota requestCount }');
    expect((await feed.take(1))[0]?.balance).toEqual({
      userId: String(mover.actor.id),
      available: 1_000,
      usedQuota: 0,
      requestCount: 0,
    });
    const start = performance.now();
    for (let count = 0; count < 60; count++) await application.users.adjustQuota(root, mover.actor.id, { delta: 1 });
    await feed.until(({ results }) => results.at(-1)?.balance.available === 1_060);
    expect(feed.results.length).toBeLessThanOrEqual(2 + (performance.now() - start) / 250);
    feed.stop();
  });
  test('delivers a balance again when its read model was behind, though nothing moves afterwards', async () => {
    const { application, root } = server.gateway;
    const { visible } = application;
    const mover = await server.gateway.addUser(1_000, 'latemover');
    const feed = subscribe(await server.as(mover), 'balance { available }');
    await feed.take(1);
    let behind = true;
    Object.assign(application, {
      async visible(position: Position) {
        const whole = !behind && (await visible(position));
        behind = false;
        return whole;
      },
    });
    await application.users.adjustQuota(root, mover.actor.id, { delta: 1 });
    const results = await feed.take(3);
    Object.assign(application, { visible });
    expect(results.map(({ balance }) => balance.available)).toEqual([1_000, 1_001, 1_001]);
    feed.stop();
  });
  test('delivers the rewards for inviting as they are earned', async () => {
    await server.gateway.setOption('QuotaForInviter', '700');
    const { application } = server.gateway;
    const inviter = await server.gateway.addUser(0, 'inviter');
    const { code, position } = await application.users.invites.ownCode(inviter.actor);
    if (position !== null) await application.visible(position);
    const feed = subscribe(await server.as(inviter), 'balance { available invitedCount inviteQuota inviteQuotaEver }');
    expect((await feed.take(1))[0]?.balance).toMatchObject({ invitedCount: 0, inviteQuota: 0 });
    const newcomer = { username: 'invitee', password: 'correct-horse', email: '', emailCode: '', inviteCode: code };
    await application.registering.register(newcomer);
    const earned = { available: 0, invitedCount: 1, inviteQuota: 700, inviteQuotaEver: 700 };
    await feed.until(({ results }) => results.at(-1)?.balance.inviteQuota === 700);
    expect(feed.results.at(-1)?.balance).toEqual(earned);
    feed.stop();
    await server.gateway.setOption('QuotaForInviter', '0');
  });
  test('includes the cost of calls', async () => {
    const caller = await server.gateway.addUser(1_000_000, 'caller');
    const key = await server.gateway.addApiKey(caller);
    const feed = subscribe(await server.as(caller), 'balance { available usedQuota requestCount }');
    await feed.take(1);
    await server.call(key);
    // What the call had reserved may come back a moment after it is counted.
    await feed.until(({ results }) => {
      const { requestCount, available, usedQuota } = results.at(-1)?.balance ?? {};
      return requestCount === 1 && usedQuota > 0 && available + usedQuota === 1_000_000;
    });
    feed.stop();
  });
});

describe('a WebSocket connection', () => {
  const closing = (by: GraphqlClient, options: { authorization?: string } = {}) => {
    const event: { closed?: Promise<unknown>; feed?: Feed } = {};
    event.closed = new Promise((resolve) => {
      const connection = server.connect(by, { ...options, onClosed: resolve });
      event.feed = new Feed(connection, 'subscription { balance { available } }');
    });
    return event as { closed: Promise<unknown>; feed: Feed };
  };

  test('is refused without a session', async () => {
    expect(await closing(server.anonymous()).closed).toMatchObject({ code: 4401, reason: 'not-signed-in' });
  });
  test('is accepted with a personal access token too', async () => {
    const token = await client.accessToken();
    const { feed } = closing(server.anonymous(), { authorization: `Bearer ${token}` });
    expect(await feed.take(1)).toHaveLength(1);
  });
  test('is refused to a page of another site, with or without a cookie', async () => {
    const refused = (origin: string) =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
          headers: { origin, cookie: client.cookie },
        });
        socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode));
        socket.on('open', () => resolve('open'));
        socket.on('error', () => {});
      });
    expect(await refused('https://evil.example')).toBe(403);
    expect(await refused('null')).toBe(403);
    expect(await refused(server.url)).toBe('open');
    await server.gateway.setOption('ServerAddress', 'https://gate.example');
    expect(await refused('https://gate.example'), 'behind a proxy that renames the host').toBe('open');
  });
  test('of a user that is disabled is closed at once', async () => {
    const doomed = await server.gateway.addUser(0, 'doomed');
    const { closed, feed } = closing(await server.as(doomed));
    await feed.take(1);
    await server.root.ask('mutation ($id: ID!) { manageUser(id: $id, action: DISABLE) { id } }', {
      id: doomed.actor.id,
    });
    expect(await closed).toMatchObject({ code: 4401 });
    const delivered = feed.results.length;
    await server.gateway.application.visible(
      await server.gateway.application.users.adjustQuota(server.gateway.root, doomed.actor.id, { delta: 1 }),
    );
    expect(feed.results.length).toBe(delivered);
  });
  test('of a user whose role changed is reopened with the new role', async () => {
    const climber = await server.addAdmin('climber');
    const climberClient = await server.as(climber);
    const closed = new Promise((resolve) => {
      const connection = server.connect(climberClient, { onClosed: resolve });
      const feed = new Feed(connection, 'subscription { liveTraffic { at } }');
      void feed.take(1).then(() =>
        server.root.ask('mutation ($id: ID!) { manageUser(id: $id, action: DEMOTE) { id } }', {
          id: climber.actor.id,
        }),
      );
    });
    expect(await closed).toMatchObject({ code: 4403, reason: 'role-changed' });
    expect(await subscribe(climberClient, 'liveTraffic { at }').refusal()).toMatchObject({ code: 'role-too-low' });
  });
  test('ends soon after its session, without a notification', async () => {
    const { identity } = server.gateway.application;
    const { bySession } = identity;
    const attentive = await serveGraphql(server.gateway.application, {}, { recheckMs: 20 });
    const leaver = await server.as(await server.gateway.addUser(0, 'leaver'));
    const closed = new Promise((resolve) => {
      const connection = server.connect(leaver, { url: attentive.url, onClosed: resolve });
      const feed = new Feed(connection, 'subscription { balance { available } }');
      void feed.take(1).then(() => Object.assign(identity, { bySession: async () => null }));
    });
    expect(await closed).toMatchObject({ code: 4401, reason: 'not-signed-in' });
    Object.assign(identity, { bySession });
    await attentive.stop();
  });
  test('serves subscriptions only, within the same limits', async () => {
    const connection = server.connect(server.root);
    const refusal = (query: string) => new Feed(connection, query).refusal();
    expect(await refusal('{ me { id } }')).toMatchObject({ code: 'only-subscriptions-here', kind: 'invalid' });
    expect(await refusal('mutation { logout }')).toMatchObject({ code: 'only-subscriptions-here' });
    expect(await refusal('subscription { nothing }')).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
    expect(await refusal('subscription {')).toMatchObject({ code: 'GRAPHQL_PARSE_FAILED' });
    expect(await refusal('subscription ($after: ID!) { usageFeed(after: $after) { id } }')).toMatchObject({
      code: 'BAD_USER_INPUT',
    });
    const long = Array.from({ length: 600 }, (_, n) => `a${n}: available`).join(' ');
    expect(await refusal(`subscription { balance { ${long} } }`)).toMatchObject({ code: 'document-too-long' });
    const strict = await serveGraphql(server.gateway.application, { limits: { depth: 10, cost: 60 } });
    const tight = server.connect(server.root, { url: strict.url });
    const expensive = Array.from({ length: 11 }, (_, n) => `a${n}: available`).join(' ');
    expect(await new Feed(tight, `subscription { balance { ${expensive} } }`).refusal()).toMatchObject({
      code: 'too-costly',
    });
    await strict.stop();
  });
  test('has a limited number of subscriptions, and so have all connections of a user together', async () => {
    const own = await server.as(await server.gateway.addUser(0));
    const subscribe = (count: number): Feed[] => {
      const connection = server.connect(own);
      return Array.from({ length: count }, () => new Feed(connection, 'subscription { balance { available } }'));
    };
    const first = subscribe(21);
    expect(await first.pop()?.refusal()).toMatchObject({
      code: 'too-many-subscriptions',
      kind: 'exhausted',
      details: { allowed: 20 },
    });
    const feeds = [...first, ...subscribe(20)];
    await Promise.all(feeds.map((feed) => feed.take(1)));
    const [last] = subscribe(1);
    expect(await last?.refusal()).toMatchObject({ code: 'too-many-subscriptions', details: { allowed: 40 } });
    // Other users are not concerned.
    await new Feed(server.connect(client), 'subscription { balance { available } }').take(1);
    feeds[0]?.stop();
    await until(async () => {
      const [next] = subscribe(1);
      await next?.until(({ results, errors }) => results.length + errors.length > 0);
      return next?.errors.length === 0 ? true : null;
    });
  });
  test('that is closed leaves no listeners', async () => {
    const { tail } = server.gateway.application;
    const original = tail.add;
    let listening = 0;
    Object.assign(tail, {
      add(consumer: Parameters<typeof original>[0]) {
        listening++;
        const remove = original(consumer);
        return () => {
          listening--;
          remove();
        };
      },
    });
    const connection = server.connect(server.root);
    const feed = new Feed(connection, 'subscription { channelHealth { kind } }');
    await until(async () => (listening === 1 ? true : null));
    await connection.dispose();
    await until(async () => (listening === 0 ? true : null));
    Object.assign(tail, { add: original });
    expect(feed.errors).toEqual([]);
  });
});

describe('stopping the server', () => {
  test('closes every connection as going away', async () => {
    const other = await startGraphql();
    const closed = new Promise((resolve) => {
      const connection = other.connect(other.root, { onClosed: resolve });
      const feed = new Feed(connection, 'subscription { balance { available } }');
      void feed.take(1).then(() => other.stop());
    });
    expect(await closed).toMatchObject({ code: 1001, reason: 'Going away' });
  });
});
