import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { until } from '../support/until.js';
import { type Data, type GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

let server: GraphqlServer;
let user: TestUser;
let client: GraphqlClient;
let apiKey: string;
let channelId: string;

beforeAll(async () => {
  server = await startGraphql();
  channelId = String(
    await server.gateway.addChannel({
      modelMapping: '{"gpt-4o-mini":"gpt-4o-mini-2024-07-18"}',
      setting: '{"purchase_prices":{"gpt-4o-mini":{"input":"0.125","output":0.5}}}',
    }),
  );
  user = await server.gateway.addUser(10_000_000, 'olga');
  client = await server.as(user);
  apiKey = await server.gateway.addApiKey(user);
});
afterAll(() => server?.stop());

const nodes = (connection: Data): Data[] => connection.edges.map(({ node }: { node: Data }) => node);
const ids = (connection: Data): string[] => connection.edges.map(({ cursor }: { cursor: string }) => cursor);

/** Lines of calls, once there are as many. */
const callLines = (by: GraphqlClient, count: number, fields: string, args = '') =>
  until(async () => {
    const found = nodes(
      (await by.ask(`{ usageLog(first: 100${args}) { edges { cursor node { type ${fields} } } } }`)).usageLog,
    );
    const calls = found.filter(({ type }) => type === 'CONSUME');
    return calls.length >= count ? calls : null;
  });

describe('a line of the usage log', () => {
  test('contains all details of a call: tokens, times, and every factor of the charge', async () => {
    await server.call(apiKey, 'gpt-4o-mini');
    const [line] = await callLines(
      client,
      1,
      `id requestId quota promptTokens completionTokens cachedTokens reasoningTokens model upstreamModel apiKeyName group
      useTimeMs firstTokenMs isStream path usageSource outcome createdAt detail { __typename }
      price { ... on TokenPrice { model completion cache cacheWrite image reasoning group } ... on CallPrice { price } }`,
    );
    const { model, completion } = line?.price ?? {};
    const charge = (line?.promptTokens + line?.completionTokens * Number(completion)) * Number(model);
    expect(line).toMatchObject({
      type: 'CONSUME',
      requestId: expect.stringMatching(/^\d{14}/),
      quota: Math.max(1, Math.round(charge)),
      model: 'gpt-4o-mini',
      upstreamModel: 'gpt-4o-mini-2024-07-18',
      apiKeyName: 'test key',
      group: 'default',
      isStream: false,
      path: '/v1/chat/completions',
      usageSource: 'UPSTREAM',
      outcome: 'COMPLETED',
      detail: null,
    });
    expect(line?.promptTokens).toBeGreaterThan(0);
    expect(line?.completionTokens).toBeGreaterThan(0);
  });
  test('contains the calculation of its charge, by quantity, and the result', async () => {
    await callLines(client, 1, 'quota');
    const { usageLog } = await client.ask(
      `{ usageLog(first: 1, filter: { type: CONSUME }) { edges { cursor node {
        quota promptTokens completionTokens price { ... on TokenPrice { model completion } }
        billing { lines { quantity count ratio unitPrice amount } exact total }
      } } } }`,
    );
    const [line] = nodes(usageLog);
    const { model, completion } = line?.price ?? {};
    const rate = (ratio: number) => String(Number((Number(model) * ratio).toFixed(9)));
    const of = (quantity: string, count: number, ratio: string) => {
      const unitPrice = rate(Number(ratio));
      return { quantity, count, ratio, unitPrice, amount: String(Number((count * Number(unitPrice)).toFixed(9))) };
    };
    expect(line?.billing.lines).toEqual([
      of('input', line?.promptTokens, '1'),
      of('output', line?.completionTokens, completion),
    ]);
    expect(line?.billing.total).toBe(line?.quota);
    expect(Math.max(1, Math.round(Number(line?.billing.exact)))).toBe(line?.quota);
  });
  test('contains the user and the channels tried, for administrators', async () => {
    const [line] = await callLines(
      server.root,
      1,
      'userId username channelId channelName attempts failedAttempts { channelId } apiKeyId',
      ', everyone: true, filter: { username: "olga" }',
    );
    expect(line).toEqual({
      type: 'CONSUME',
      userId: String(user.actor.id),
      username: 'olga',
      channelId,
      channelName: 'upstream',
      attempts: [channelId],
      failedAttempts: [],
      apiKeyId: expect.any(String),
    });
  });
  test('contains what the call has cost, and what was earned by it, for administrators', async () => {
    const [line] = await callLines(
      server.root,
      1,
      'quota promptTokens completionTokens cost { cost margin }',
      ', everyone: true, filter: { username: "olga" }',
    );
    const cost = (line?.promptTokens * 0.125 + line?.completionTokens * 0.5) / 1_000_000;
    expect(Number(line?.cost.cost)).toBeCloseTo(cost, 12);
    expect(Number(line?.cost.margin)).toBeCloseTo(line?.quota / 500_000 - cost, 12);
  });
  test('describes a call that could not be served', async () => {
    server.gateway.provider.script('gpt-4o', { kind: 'refuse', status: 500 });
    await expect(server.call(apiKey, 'gpt-4o')).rejects.toThrow('the call failed');
    server.gateway.provider.reset();
    const [line] = await until(async () => {
      const { usageLog } = await client.ask(
        '{ usageLog(filter: { type: ERROR }) { edges { cursor node { quota billing { total } detail { ... on ReleaseDetail { reason status code } } } } } }',
      );
      return usageLog.edges.length > 0 ? nodes(usageLog) : null;
    });
    expect(line).toEqual({
      quota: 0,
      billing: null,
      detail: { reason: 'UPSTREAM_FAILED', status: 500, code: expect.any(String) },
    });
  });
  test('describes a refused call: its error and its number; the address is for administrators', async () => {
    await expect(server.call(apiKey, 'a-model-nobody-has')).rejects.toThrow('the call failed');
    const asked = (everyone: boolean, network = '') =>
      `{ usageLog(everyone: ${everyone}, filter: { code: "model_not_found" }) { edges { cursor node {
        type model detail { ... on RefusalDetail { status code count since ${network} } }
      } } } }`;
    const shown = { status: 404, code: 'model_not_found', count: 1, since: null };
    const [line] = await until(async () => {
      const { usageLog } = await client.ask(asked(false));
      return usageLog.edges.length > 0 ? nodes(usageLog) : null;
    });
    expect(line).toEqual({ type: 'ERROR', model: 'a-model-nobody-has', detail: shown });
    const { errors } = await client.send(asked(false, 'network'));
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['role-too-low']);
    const { usageLog } = await server.root.ask(asked(true, 'network'));
    expect(nodes(usageLog)[0]).toMatchObject({ detail: { ...shown, network: null } });
  });
  test('describes granted quota', async () => {
    const { usageLog } = await client.ask(
      '{ usageLog(filter: { type: MANAGE }) { edges { cursor node { detail { ... on AdjustmentDetail { delta gift observed } } } } } }',
    );
    expect(nodes(usageLog)).toEqual([{ detail: { delta: 10_000_000, gift: 0, observed: 0 } }]);
  });
});

describe('the usage log over GraphQL', () => {
  test('is filtered by every attribute of a line', async () => {
    const [call] = await callLines(server.root, 1, 'id requestId apiKeyId createdAt', ', everyone: true');
    const found = async (filter: string) =>
      ids(
        (await server.root.ask(`{ usageLog(everyone: true, first: 100, filter: { ${filter} }) { edges { cursor } } }`))
          .usageLog,
      );
    const { createdAt } = call ?? {};
    for (const filter of [
      'type: CONSUME',
      'username: "olga"',
      'apiKeyName: "test key"',
      `apiKeyId: "${call?.apiKeyId}"`,
      'model: "gpt-4o-mini"',
      'model: "gpt-%-mini"',
      `channelId: "${channelId}"`,
      'group: "default"',
      `requestId: "${call?.requestId}"`,
      `from: ${createdAt}, to: ${createdAt}`,
    ])
      expect(await found(filter), filter).toContain(call?.id);
    for (const filter of [
      'type: SYSTEM',
      'username: "nobody"',
      'apiKeyName: "other"',
      'model: "gpt-4"',
      'group: "vip"',
      'requestId: "x"',
      `to: ${createdAt - 1}`,
    ])
      expect(await found(filter), filter).not.toContain(call?.id);
  });
  test('can be summed over calls', async () => {
    const [line] = await callLines(client, 1, 'quota promptTokens completionTokens');
    const { logStatistics } = await client.ask(
      '{ logStatistics(filter: { model: "gpt-4o-mini" }) { quota requests promptTokens completionTokens cachedTokens reasoningTokens rpm tpm } }',
    );
    expect(logStatistics).toEqual({
      quota: line?.quota,
      requests: 1,
      promptTokens: line?.promptTokens,
      completionTokens: line?.completionTokens,
      cachedTokens: 0,
      reasoningTokens: 0,
      rpm: 1,
      tpm: line?.promptTokens + line?.completionTokens,
    });
  });
  test('is summed by every filter, the type too, with channel tests separate from spending', async () => {
    const figures = async (filter: string) =>
      (
        await server.root.ask(
          `{ logStatistics(everyone: true, filter: { ${filter} }) { quota requests rpm testQuota testRequests } }`,
        )
      ).logStatistics;
    const before = await figures('');
    await server.root.ask(`mutation { testChannel(id: ${channelId}) { ok } }`);
    const after = await until(async () => {
      const found = await figures('');
      return found.testRequests > before.testRequests ? found : null;
    });
    expect(after).toMatchObject({
      quota: before.quota,
      requests: before.requests,
      testRequests: before.testRequests + 1,
    });
    expect(after.testQuota).toBeGreaterThan(before.testQuota);
    expect(await figures('type: CONSUME')).toMatchObject({ quota: after.quota, testRequests: after.testRequests });
    for (const type of ['MANAGE', 'ERROR'])
      expect(await figures(`type: ${type}`)).toEqual({ quota: 0, requests: 0, rpm: 0, testQuota: 0, testRequests: 0 });
  });
  test('has pages that neither skip nor repeat a line while others are written', async () => {
    const { application, root } = server.gateway;
    const reader = await server.gateway.addUser(0, 'reader');
    const readerClient = await server.as(reader);
    const write = async (count: number) => {
      for (let written = 0; written < count; written++)
        await application.visible(await application.users.adjustQuota(root, reader.actor.id, { delta: 1 }));
    };
    await write(25);
    const page = async (after: string | null) =>
      (
        await readerClient.ask(
          'query ($after: ID) { usageLog(first: 7, after: $after) { edges { cursor node { id } } pageInfo { hasNextPage startCursor endCursor } } }',
          { after },
        )
      ).usageLog;

    const seen: string[] = [];
    let after: string | null = null;
    let more = true;
    while (more) {
      const writing = write(3);
      const found: Data = await page(after);
      await writing;
      expect(found.pageInfo.startCursor).toBe(found.edges[0].cursor);
      seen.push(...ids(found));
      after = found.pageInfo.endCursor;
      more = found.pageInfo.hasNextPage;
    }
    const all = ids((await readerClient.ask('{ usageLog(first: 100) { edges { cursor } } }')).usageLog);
    expect(all.length).toBeGreaterThanOrEqual(25 + 12);
    // What was there when the first page was read, whole and once.
    expect(seen).toEqual(all.slice(all.indexOf(seen[0] ?? '')));
    expect(seen.length).toBeGreaterThanOrEqual(25);
  });
  test('that is empty has a cursor to continue from', async () => {
    const nobody = await server.as(await server.gateway.addUser(0, 'nobodyyet'));
    expect(
      (await nobody.ask('{ usageLog { edges { cursor } pageInfo { hasNextPage startCursor endCursor } } }')).usageLog,
    ).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, startCursor: '-1', endCursor: null },
    });
  });
  test('refuses a page of more than 100 lines', async () => {
    expect(await client.refusal('{ usageLog(first: 101) { edges { cursor } } }')).toMatchObject({
      code: 'invalid-field',
      details: { field: 'first' },
    });
  });
});

describe('the usage statistics', () => {
  const now = Math.floor(Date.now() / 1000);
  const range = `from: ${now - 86_400}, to: ${now + 86_400}`;
  const rows = (by: GraphqlClient, args: string, fields: string): Promise<Data[]> =>
    until(async () => {
      const found = (await by.ask(`{ usageStatistics(${range}, ${args}) { ${fields} } }`)).usageStatistics;
      return found.length > 0 ? found : null;
    });

  test('count calls by the requested dimensions', async () => {
    const [own] = await rows(
      client,
      'by: [MODEL], model: "gpt-4o-mini"',
      'start model group requests errors quota userId channelId',
    );
    expect(own).toEqual({
      start: null,
      model: 'gpt-4o-mini',
      group: null,
      requests: 1,
      errors: 0,
      quota: expect.any(Number),
      userId: null,
      channelId: null,
    });
    const [all] = await rows(
      server.root,
      'everyone: true, by: [USER, CHANNEL, API_KEY], username: "olga"',
      'userId username channelId channelName apiKeyId requests errors',
    );
    expect(all).toEqual({
      userId: String(user.actor.id),
      username: 'olga',
      channelId,
      channelName: 'upstream',
      apiKeyId: expect.any(String),
      requests: 1,
      errors: 1,
    });
  });
  test('are divided into hours or days of the reader’s time zone', async () => {
    const [hour] = await rows(client, 'interval: HOUR', 'start requests');
    expect(hour?.start % 3600).toBe(0);
    const offset = 330;
    const [day] = await rows(client, `interval: DAY, offsetMinutes: ${offset}`, 'start requests');
    expect((day?.start + offset * 60) % 86_400).toBe(0);
  });
  test('refuse a range that is too long for a chart', async () => {
    expect(await client.refusal('{ usageStatistics(from: 0, to: 99999999, interval: HOUR) { quota } }')).toEqual({
      code: 'invalid-field',
      kind: 'invalid',
      details: { field: 'to', allowed: 'at most 32 days after "from"' },
    });
  });
});

describe('the usage history', () => {
  const now = Math.floor(Date.now() / 1000);
  const range = `from: ${now - 3_600}, to: ${now + 60}, zone: "Europe/Berlin"`;
  const figures = 'requests errors quota latency { p50 p95 p99 } firstToken { p50 }';
  const history = (by: GraphqlClient, args: string): Promise<Data> =>
    until(async () => {
      const { usageHistory } = await by.ask(
        `{ usageHistory(${range}, ${args}) {
          from to requestsPerMinute tokensPerMinute total { ${figures} }
          pieces { start ${figures} } shares { key name total { ${figures} } pieces { requests errors } }
        } }`,
      );
      return usageHistory.total.requests > 0 ? usageHistory : null;
    });

  test.each(['MINUTE', 'FIVE_MINUTES', 'HOUR', 'DAY', 'WEEK'])('is returned in intervals of a %s', async (interval) => {
    const { from, to, total, pieces, shares, requestsPerMinute } = await history(client, `interval: ${interval}`);
    expect(from).toBeLessThanOrEqual(now - 3_600);
    expect(to).toBeGreaterThanOrEqual(now + 60);
    expect(pieces[0].start).toBe(from);
    expect(total).toMatchObject({ latency: { p50: expect.any(Number), p99: expect.any(Number) } });
    expect(pieces.reduce((sum: number, piece: Data) => sum + piece.requests, 0)).toBe(total.requests);
    expect(requestsPerMinute).toBeGreaterThan(0);
    expect(shares).toEqual([]);
  });

  test('names the largest series, and sums all others', async () => {
    const { total, shares } = await history(
      server.root,
      'interval: HOUR, everyone: true, by: MODEL, top: 1, order: REQUESTS',
    );
    expect(shares).toMatchObject([{ key: shares[0].name }, { key: null, name: null }]);
    expect(shares[0].total.requests + shares[1].total.requests).toBe(total.requests);
    expect(shares[0].pieces.length).toBe(shares[1].pieces.length);
  });

  test.each([
    ['USER', 'olga'],
    ['CHANNEL', 'upstream'],
    ['GROUP', 'default'],
  ])('has names by %s', async (by, name) => {
    const { shares } = await history(server.root, `interval: DAY, everyone: true, username: "olga", by: ${by}`);
    expect(shares.map((share: Data) => share.name)).toContain(name);
  });

  test('names the caller’s own API keys', async () => {
    const { shares } = await history(client, 'interval: DAY, by: API_KEY');
    expect(shares).toMatchObject([{ key: expect.stringMatching(/^\d+$/), name: expect.any(String) }]);
  });

  test.each(['USER', 'API_KEY', 'MODEL', 'CHANNEL', 'GROUP'])('has no names by %s without calls', async (by) => {
    const nothing = `{ usageHistory(from: 0, to: 3600, interval: HOUR, everyone: true, by: ${by}) { shares { key name } } }`;
    expect(await server.root.ask(nothing)).toEqual({ usageHistory: { shares: [] } });
  });

  test.each([
    ['interval: HOUR, zone: "Mars"', 'zone'],
    ['interval: MINUTE', 'to'],
    ['interval: DAY, top: 21', 'top'],
  ])('refuses %s with the name of the field', async (args, field) => {
    const asked = args.includes('zone') ? args : `zone: "UTC", ${args}`;
    const refusal = await client.refusal(`{ usageHistory(from: ${now - 86_400}, to: ${now}, ${asked}) { to } }`);
    expect(refusal).toMatchObject({ kind: 'invalid', details: { field } });
  });
});

describe('failures over time', () => {
  const now = Math.floor(Date.now() / 1000);
  const failures = (args: string) =>
    `{ usageFailureHistory(from: ${now - 86_400}, to: ${now + 60}, ${args}) {
      starts to total shares { kind status code failures pieces }
    } }`;

  test.each(['HOUR', 'DAY', 'WEEK'])('are returned in intervals of a %s', async (interval) => {
    const { starts, to, total, shares } = await until(async () => {
      const { usageFailureHistory } = await server.root.ask(failures(`interval: ${interval}, everyone: true`));
      return usageFailureHistory.total > 0 ? usageFailureHistory : null;
    });
    expect(starts[0]).toBeLessThanOrEqual(now - 86_400);
    expect(to).toBeGreaterThanOrEqual(now + 60);
    for (const share of shares) {
      expect(share.pieces).toHaveLength(starts.length);
      expect(share.pieces.reduce((sum: number, piece: number) => sum + piece, 0)).toBe(share.failures);
    }
    expect(shares.reduce((sum: number, share: Data) => sum + share.failures, 0)).toBe(total);
  });

  test.each([
    ['interval: HOUR, zone: "Mars"', 'zone'],
    ['interval: MINUTE', 'interval'],
    ['interval: DAY, top: 0', 'top'],
  ])('refuse %s with the name of the field', async (args, field) => {
    const refusal = await client.refusal(failures(args));
    expect(refusal).toMatchObject({ kind: 'invalid', details: { field } });
  });
});

describe('the traffic of the last minute', () => {
  test('is returned in total, by channel and by model', async () => {
    const { traffic } = await server.root.ask(
      '{ traffic { at total { requestsPerMinute tokensPerMinute quotaPerMinute errorRate latencyP50Ms latencyP95Ms firstTokenP50Ms firstTokenP95Ms } channels { channelId channelName requestsPerMinute } models { model requestsPerMinute } } }',
    );
    expect(traffic.total).toMatchObject({ requestsPerMinute: 2, errorRate: 0.5, latencyP50Ms: expect.any(Number) });
    expect(traffic.channels).toEqual([{ channelId, channelName: 'upstream', requestsPerMinute: 2 }]);
    expect(traffic.models).toContainEqual({ model: 'gpt-4o-mini', requestsPerMinute: 1 });
    expect(Math.abs(traffic.at - Date.now() / 1000)).toBeLessThan(60);
  });
});
