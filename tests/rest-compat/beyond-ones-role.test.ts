import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cast, dataOf, openStage, send } from './rest-server.js';
import { samples } from './samples.js';

/*
 * Members that a role may not write, sent along with every order there is (CVE-2026-47101, CVE-2026-47102): afterwards
 * nothing is other than what the role may change.
 */

type Row = Readonly<Record<string, unknown>>;
/** By kind and id. */
type Stored = ReadonlyMap<string, Row>;

let stage: Cast;
let own: { readonly aliceKey: number; readonly bobKey: number };

beforeAll(async () => {
  stage = await openStage();
  const { gateway, users } = stage;
  await gateway.addChannel({ tag: 'some' });
  await gateway.addApiKey(users.alice, { quota: 500 });
  await gateway.addApiKey(users.bob, { quota: 500 });
  await stage.root.post('/api/redemption/', { name: 'promo', quota: 5, count: 1 });
  const keyOf = async (id: number): Promise<number> => {
    const rows = rowsIn((await stage.root.get('/api/user/all_tokens?size=100')).json.data);
    return Number(rows.find((row) => row.user_id === id)?.id);
  };
  own = { aliceKey: await keyOf(stage.alice.id), bobKey: await keyOf(stage.bob.id) };
  expect(own.aliceKey).not.toBe(own.bobKey);
});
afterAll(() => stage.stop());

function rowsIn(data: unknown): readonly Row[] {
  if (Array.isArray(data)) return data as Row[];
  const { items, data: inner } = (data ?? {}) as { items?: unknown; data?: unknown };
  return rowsIn(items ?? inner ?? []);
}

const lists = {
  user: '/api/user/?page_size=100',
  token: '/api/user/all_tokens?size=100',
  channel: '/api/channel/?page_size=100',
  redemption: '/api/redemption/?page_size=100',
  option: '/api/option/',
};

async function stored(): Promise<Stored> {
  // What an answer has reported as done may be visible a moment later.
  await stage.gateway.application.visible(stage.gateway.application.tail.position());
  const found = new Map<string, Row>();
  for (const [kind, path] of Object.entries(lists)) {
    const rows = rowsIn(dataOf(await stage.root.get(path)));
    for (const row of rows) found.set(`${kind} ${row.id ?? row.key}`, row);
  }
  return found;
}

/** E.g. `user 4 quota`, `token 7 is new`. */
function changes(before: Stored, after: Stored): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was === undefined) return [`${name} is new`];
    if (is === undefined) return [`${name} is gone`];
    return Object.keys({ ...was, ...is })
      .filter((member) => JSON.stringify(was[member]) !== JSON.stringify(is[member]))
      .map((member) => `${name} ${member}`);
  });
}

/** Every member that an entity has, as nobody of a lower role may set it. */
const sink = {
  role: 100,
  quota: 900_000_000,
  used_quota: 1,
  request_count: 1,
  gift_quota: 900_000_000,
  aff_quota: 900_000_000,
  aff_count: 9,
  aff_history_quota: 9,
  inviter_id: 1,
  aff_code: 'mine',
  group: 'vip',
  access_token: 'x'.repeat(32),
  github_id: '1',
  oidc_id: '1',
  wechat_id: '1',
  telegram_id: '1',
  linux_do_id: '1',
  email: 'mine@mail.example',
  verification_code: 'a1b2c3',
  status: 2,
  user_id: 1,
  owner: 1,
  created_time: 1,
  created_at: 1,
  accessed_time: 1,
  redeemed_time: 1,
  used_user_id: 1,
  deleted_at: null,
  remain_quota: 900_000_000,
  unlimited_quota: true,
  accept_unset_model_ratio_model: true,
  balance: 9,
  balance_updated_time: 1,
  response_time: 1,
  test_time: 1,
  allow_ips: '',
  setting: '{"role":100}',
  admin: true,
  is_admin: true,
  root: true,
};

type Who = 'guest' | 'alice' | 'admin';

/** A route's sample with everything beside, and what it names set to somebody or something else. */
function bodiesOf(sample: Row, target: number, key: number): Row[] {
  const aimed = {
    ...('id' in sample && { id: target }),
    ...('user_id' in sample && { user_id: target }),
  };
  const atKey = { ...aimed, ...('id' in sample && { id: key }) };
  return [
    { ...sink, ...sample, ...aimed },
    { ...sink, ...sample, ...atKey },
    { ...sample, ...aimed, ...sink },
    { ...sample, ...atKey, ...sink },
  ];
}

async function order(who: Who, route: string, body: Row): Promise<void> {
  const [method = '', path = ''] = route.split(' ');
  const headers = who === 'guest' ? {} : stage[who].headers;
  const { status, text } = await send(stage.url, method, path, { headers, body });
  // That one passes on what an upstream answered, and there is none.
  if (route !== 'POST /api/channel/fetch_models') expect(status, `${route}: ${text}`).toBeLessThan(500);
}

/** What ends the session that asks, or belongs to nobody who is signed in. */
const aboutSessions = new Set(['POST /api/user/login', 'POST /api/user/login/2fa', 'POST /api/user/reset']);
const routes = Object.keys(samples).filter((route) => !aboutSessions.has(route));

/** Runs each route and gives what has changed beyond what is allowed. */
async function beyond(who: Who, target: number, key: number, allowed: (route: string) => RegExp): Promise<string[]> {
  const found: string[] = [];
  for (const route of routes) {
    const before = await stored();
    for (const body of bodiesOf(samples[route] ?? {}, target, key)) await order(who, route, body);
    const unasked = changes(before, await stored()).filter((change) => !allowed(route).test(change));
    found.push(...unasked.map((change) => `${route}: ${change}`));
  }
  return found;
}

const nothing = /^$/;

describe('members beyond the user’s role', () => {
  test('sent by a guest with any request change no data of others, and registering creates an ordinary user', async () => {
    const joined = /^user \d+ is new$/;
    const found = await beyond('guest', stage.bob.id, own.bobKey, (route) =>
      route === 'POST /api/user/register' ? joined : nothing,
    );
    expect(found).toEqual([]);
    for (const [name, row] of await stored())
      if (name.startsWith('user') && row.username === 'newcomer')
        expect(row).toMatchObject({ role: 1, status: 1, group: 'default', used_quota: 0, request_count: 0 });
  });

  test.each(['bob', 'admin', 'root'] as const)(
    'sent by a user with any request about %s change nothing of others',
    async (whom) => {
      const id = stage.alice.id;
      const mine: Readonly<Record<string, RegExp>> = {
        'POST /api/token/': /^token \d+ is new$/,
        'PUT /api/user/self': new RegExp(`^user ${id} (display_name|updated_at)$`),
        // Not in any list but her own.
        'PUT /api/user/setting': new RegExp(`^user ${id} (setting|accept_unset_model_ratio_model)$`),
        'POST /api/user/register': /^user \d+ is new$/,
      };
      const found = await beyond('alice', stage[whom].id, own.bobKey, (route) => mine[route] ?? nothing);
      expect(found).toEqual([]);
      for (const [name, row] of await stored())
        if (name.startsWith('token') && row.id !== own.bobKey) expect([id, row.user_id]).toEqual([id, id]);
    },
  );

  test('sent by a user about an own key change its terms and no counters', async () => {
    const before = await stored();
    for (const body of bodiesOf(samples['PUT /api/token/'] ?? {}, own.aliceKey, own.aliceKey))
      await order('alice', 'PUT /api/token/', body);
    const terms = new RegExp(`^token ${own.aliceKey} (name|status|remain_quota|unlimited_quota|expired_time|group)$`);
    expect(changes(before, await stored()).filter((change) => !terms.test(change))).toEqual([]);
  });

  test.each(['peer', 'root'] as const)(
    'sent by an administrator about %s, of an equal or higher role, change nothing of them',
    async (whom) => {
      const found = await beyond('admin', stage[whom].id, own.bobKey, () => /^(?!user|token|option)|^user \d+ is new$/);
      const { id } = stage.admin;
      // Of the own account an administrator may write what every user may.
      const others = found.filter(
        (change) => !new RegExp(`: (user ${id} display_name|token \\d+ is new)$`).test(change),
      );
      expect(others).toEqual([]);
      for (const [name, row] of await stored())
        if (name.startsWith('user') && ![1, stage.admin.id, stage.peer.id].includes(Number(row.id)))
          expect([row.username, row.role]).toEqual([row.username, 1]);
    },
  );

  test('sent by an administrator about a lower user raise no role, and change no counters', async () => {
    const { id } = stage.bob;
    const before = await stored();
    for (const route of ['PUT /api/user/', 'POST /api/user/manage', 'POST /api/user/adjust_quota'])
      for (const body of bodiesOf(samples[route] ?? {}, id, id)) await order('admin', route, body);
    const may = new RegExp(`^user ${id} (quota|gift_quota|group|status|display_name|username|shown_quota)$`);
    expect(changes(before, await stored()).filter((change) => !may.test(change))).toEqual([]);
  });
});
