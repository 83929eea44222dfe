import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signIn } from '../support/gateway/sign-in.js';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { type Data, type GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';
import { sampleDocument } from './sample-document.js';
import { samples } from './samples.js';

/*
 * Every mutation, sent about what is somebody else's (CVE-2026-47101, CVE-2026-47102): afterwards nothing of others is
 * other than it was.
 */

type Row = Readonly<Record<string, unknown>>;

let server: GraphqlServer;
let people: Record<'alice' | 'bob' | 'admin' | 'peer', TestUser>;
let clients: Record<'guest' | 'alice' | 'admin', GraphqlClient>;
let rootHeaders: Readonly<Record<string, string>>;
let bobKey: number;

const lists = {
  user: '/api/user/?page_size=100',
  token: '/api/user/all_tokens?size=100',
  channel: '/api/channel/?page_size=100',
  redemption: '/api/redemption/?page_size=100',
  option: '/api/option/',
};

function rowsIn(data: unknown): readonly Row[] {
  if (Array.isArray(data)) return data as Row[];
  const { items, data: inner } = (data ?? {}) as { items?: unknown; data?: unknown };
  return rowsIn(items ?? inner ?? []);
}

async function stored(): Promise<ReadonlyMap<string, Row>> {
  const { application, url } = server.gateway;
  await application.visible(application.tail.position());
  const found = new Map<string, Row>();
  for (const [kind, path] of Object.entries(lists)) {
    const { data } = (await (await fetch(url + path, { headers: rootHeaders })).json()) as { data: unknown };
    for (const row of rowsIn(data))
      found.set(`${kind} ${row.id ?? row.key}${kind === 'token' ? ` of ${row.user_id}` : ''}`, row);
  }
  return found;
}

/** E.g. `user 4 quota`, `token 7 of 2 is new`. */
function changes(before: ReadonlyMap<string, Row>, after: ReadonlyMap<string, Row>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was === undefined) return [`${name} is new`];
    if (is === undefined) return [`${name} is gone`];
    return Object.keys({ ...was, ...is })
      .filter((member) => JSON.stringify(was[member]) !== JSON.stringify(is[member]))
      .map((member) => `${name} ${member}`);
  });
}

beforeAll(async () => {
  server = await startGraphql();
  const { gateway } = server;
  people = {
    alice: await gateway.addUser(500_000, 'alice'),
    bob: await gateway.addUser(500_000, 'bob'),
    admin: await server.addAdmin('adam'),
    peer: await server.addAdmin('petra'),
  };
  clients = {
    guest: server.anonymous(),
    alice: await server.as(people.alice),
    admin: await server.as(people.admin),
  };
  await gateway.addChannel({ tag: 'some' });
  await gateway.addApiKey(people.alice, { quota: 500 });
  await gateway.addApiKey(people.bob, { quota: 500 });
  await server.root.ask('mutation { issueRedemptionCodes(input: { name: "promo", quota: 5 }) { codes } }');
  const { token } = await signIn(gateway.application.identity, 'root', gateway.rootPassword);
  rootHeaders = { cookie: `session=${token}`, 'new-api-user': String(gateway.root.id) };
  const keys = [...(await stored())].filter(([name]) => name.startsWith('token '));
  bobKey = Number(keys.find(([, row]) => row.user_id === people.bob.actor.id)?.[1].id);
  expect(bobKey).toBeGreaterThan(0);
});
afterAll(() => server?.stop());

/** Some end the session that asks. */
const aboutSessions = new Set(['logout', 'login', 'endSession', 'endOtherSessions', 'endSignIns']);
const names = Object.keys(samples).filter((name) => !aboutSessions.has(name));

async function beyond(client: GraphqlClient, ids: readonly number[], allowed: (name: string) => RegExp) {
  const found: string[] = [];
  let before = await stored();
  for (const name of names) {
    const sample = samples[name] as Data;
    for (const id of 'id' in sample || 'userId' in sample ? ids : ids.slice(0, 1)) {
      const aimed = { ...('id' in sample && { id }), ...('userId' in sample && { userId: id }) };
      const { status } = await client.send(sampleDocument('mutation', name), { ...sample, ...aimed });
      expect(status, name).toBeLessThan(500);
    }
    const after = await stored();
    found.push(
      ...changes(before, after)
        .filter((change) => !allowed(name).test(change))
        .map((change) => `${name}: ${change}`),
    );
    before = after;
  }
  return found;
}

const nothing = /^$/;
const joined = /^user \d+ is new$/;

describe('mutations of other users’ data', () => {
  test('change nothing when a guest sends them, except for registering', async () => {
    const ids = [people.bob.actor.id, bobKey, 1];
    expect(await beyond(clients.guest, ids, (name) => (name === 'register' ? joined : nothing))).toEqual([]);
  });

  test('change nothing of other users when a user sends them', async () => {
    const { id } = people.alice.actor;
    const own = new RegExp(`^user ${id} |^token \\d+ of ${id} `);
    const ids = [people.bob.actor.id, people.admin.actor.id, bobKey, 1];
    expect(await beyond(clients.alice, ids, (name) => (name === 'register' ? joined : own))).toEqual([]);
  });

  test('change nothing of root or of a peer when an administrator sends them', async () => {
    const ids = [people.peer.actor.id, server.gateway.root.id];
    const before = await stored();
    await beyond(clients.admin, ids, () => nothing);
    const of = new RegExp(`^user (${ids.join('|')}) |^option `);
    expect(changes(before, await stored()).filter((change) => of.test(change))).toEqual([]);
  });

  test('have their effect when a permitted user sends them, so that the tests above can fail', async () => {
    const before = await stored();
    const variables = { id: people.bob.actor.id, delta: 5, gift: 0 };
    await server.root.ask(sampleDocument('mutation', 'adjustQuota'), variables);
    expect(changes(before, await stored())).toContain(`user ${people.bob.actor.id} quota`);
  });
});
