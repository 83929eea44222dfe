import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphqlSchema } from '../../../src/graphql/schema.js';
import { sampleDocument } from '../../graphql/sample-document.js';
import { samples as mutationSamples } from '../../graphql/samples.js';
import { samples as restSamples } from '../../rest-compat/samples.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';

/*
 * A gateway of another make fetched any address for guests while its sign-in was off (CVE-2026-86242). Here every route
 * and every GraphQL field is sent an address by a guest, in every mode, and nobody comes to it.
 */

let gateway: TestGateway;
let trap: Server;
let address: string;
let visits = 0;

beforeAll(async () => {
  trap = createServer((socket) => {
    visits++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/x`;
  gateway = await startTestGateway();
  await gateway.addChannel();
});
afterAll(async () => {
  await gateway?.stop();
  trap?.close();
});

/** The same with the address in the place of every text. */
function withAddress(value: unknown): unknown {
  if (typeof value === 'string') return address;
  if (Array.isArray(value)) return value.map(withAddress);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withAddress(member)]));
}

const usualNames = ['url', 'base_url', 'webhook_url', 'wellKnown', 'redirect_uri', 'target', 'proxy', 'code', 'state'];
const usual = () => Object.fromEntries(usualNames.map((name) => [name, address]));

async function post(path: string, method: string, body: unknown): Promise<string> {
  const carries = method !== 'GET' && method !== 'DELETE';
  const answer = await fetch(gateway.url + path, {
    method,
    redirect: 'manual',
    headers: { 'x-tallygate-client': 'test', referer: address, ...(carries && { 'content-type': 'application/json' }) },
    body: carries ? JSON.stringify(body) : undefined,
  });
  return answer.text();
}

async function askRoutes(): Promise<number> {
  const routes = gateway.routes.filter(
    ({ method, url }) => /^(GET|POST|PUT|DELETE|PATCH)$/.test(method) && !url.startsWith('/assets'),
  );
  for (const { method, url } of routes) {
    const path = url.replaceAll(/:[^/]+/g, encodeURIComponent(address)).replaceAll('*', 'x');
    const sample = restSamples[`${method} ${url}`] ?? {};
    await post(`${path}?${new URLSearchParams(usual())}`, method, { ...usual(), ...(withAddress(sample) as object) });
  }
  return routes.length;
}

async function askGraphql(): Promise<number> {
  const queries = Object.entries(graphqlSchema().getQueryType()?.getFields() ?? {});
  for (const [name, { args }] of queries) {
    const variables = Object.fromEntries(
      args.map((arg) => [arg.name, /String|ID/.test(String(arg.type)) ? address : 1]),
    );
    await post('/graphql', 'POST', { query: sampleDocument('query', name), variables });
  }
  for (const [name, sample] of Object.entries(mutationSamples)) {
    const query = sampleDocument('mutation', name);
    // Enumerations keep their values where the whole is refused for them.
    for (const variables of [withAddress(sample), { ...sample, ...usual() }])
      await post('/graphql', 'POST', { query, variables });
  }
  return queries.length;
}

describe('an address that a guest sends', () => {
  test.each([
    ['external', 'false', 'false'],
    ['self', 'true', 'false'],
    ['demo', 'false', 'true'],
  ])('is never requested, in any member of any route: mode %s', async (_mode, self, demo) => {
    await gateway.setOption('SelfUseModeEnabled', self);
    await gateway.setOption('DemoSiteEnabled', demo);
    expect(await askRoutes()).toBeGreaterThan(100);
    expect(await askGraphql()).toBeGreaterThan(30);
    expect(visits).toBe(0);
  });

  test('would be reported if it were requested, so that the tests above can fail', async () => {
    await fetch(address).catch(() => null);
    expect(visits).toBe(1);
  });
});
