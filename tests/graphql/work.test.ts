import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TokenBuckets } from '../../src/rate-limit/token-bucket.js';
import { Feed, GraphqlClient, type GraphqlServer, serveGraphql, startGraphql } from './graphql-server.js';

/* What callers may make the process do, whoever they are. */

let server: GraphqlServer;
let face: Awaited<ReturnType<typeof serveGraphql>>;
const time = { now: 1_000_000 };

beforeAll(async () => {
  server = await startGraphql();
});
afterAll(() => server?.stop());

/** A face of its own, whose clients have spent nothing yet. */
const withAllowance = async (perMinute: number): Promise<void> => {
  face = await serveGraphql(server.gateway.application, {
    work: new TokenBuckets({ perMinute }, { now: () => time.now }),
  });
};

/** The largest document there may be, never the same twice: 4 × 637 and what it costs to ask for it. */
const heavy = (round: number): string =>
  `{ ${Array.from({ length: 212 }, (_, n) => `r${round}n${n}: __typename`).join(' ')} }`;

describe('new documents in every request', () => {
  test('are parsed for an address until its rate limit is reached; other addresses, and known documents, are served', async () => {
    await withAllowance(6000);
    const attacker = new GraphqlClient(face.url);
    const answers = [];
    for (let round = 0; round < 20; round++) answers.push(await attacker.send(heavy(round)));
    const read = answers.filter(({ status }) => status !== 429);
    expect(read).toHaveLength(2);
    expect(answers.at(-1)?.errors[0]?.extensions).toMatchObject({ code: 'too-much-work', kind: 'exhausted' });
    expect(answers.at(-1)?.errors[0]?.extensions.details?.retryAfterSeconds).toBeGreaterThan(0);

    // A page of the console that has been open all the while.
    const user = await new GraphqlClient(face.url);
    user.cookie = server.root.cookie;
    time.now += 1_000;
    await user.ask('{ me { id } }');
    for (let round = 0; round < 20; round++) await attacker.send(heavy(round));
    for (let asked = 0; asked < 20; asked++) await user.ask('{ me { id } }');
    await face.stop();
  });
});

describe('guests', () => {
  test('have one rate limit for all the addresses of one subscriber', async () => {
    await withAllowance(3000);
    const from = (address: string) =>
      new GraphqlClient(face.url, { 'x-tallygate-client': 'test', 'x-forwarded-for': address });
    const statuses = [];
    for (const [round, host] of [1, 2, 3].entries())
      statuses.push((await from(`2001:db8:0:1::${host}`).send(heavy(100 + round))).status);
    expect(statuses.slice(1)).toEqual([429, 429]);
    expect((await from('2001:db8:0:2::1').send('{ me { id } }')).status).toBe(200);
    await face.stop();
  });
});

describe('the cost of an operation', () => {
  test('is counted for the user, from any address, and for the address of guests', async () => {
    await withAllowance(300);
    const root = new GraphqlClient(face.url);
    root.cookie = server.root.cookie;
    // 24 for the document, paid by the address; 51 each, paid by the user.
    for (let asked = 0; asked < 5; asked++) await root.ask('{ me { id } }');
    expect(await root.refusal('{ me { id } }')).toMatchObject({ code: 'too-much-work' });

    const stranger = new GraphqlClient(face.url);
    for (let asked = 0; asked < 5; asked++) await stranger.ask('{ me { id } }');
    const { status, errors } = await stranger.send('{ me { id } }');
    expect([status, errors[0]?.extensions.code]).toEqual([429, 'too-much-work']);

    time.now += 60_000;
    await root.ask('{ me { id } }');
    await stranger.ask('{ me { id } }');
    await face.stop();
  });

  test('is counted over a WebSocket like any other', async () => {
    await withAllowance(300);
    const connection = server.connect(server.root, { url: face.url });
    const refusals: unknown[] = [];
    for (let asked = 0; asked < 6; asked++) {
      const feed = new Feed(connection, 'subscription { balance { available } }');
      await feed.until(({ results, errors }) => results.length + errors.length > 0);
      refusals.push(...feed.errors);
      feed.stop();
    }
    expect(refusals[0]).toMatchObject({ extensions: { code: 'too-much-work' } });
    await face.stop();
  });
});
