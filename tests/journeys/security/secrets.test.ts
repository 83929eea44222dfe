import { readdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import type { Actor } from '../../../src/domain/user/user.js';
import { schemaOf } from '../../../src/projections/engine/projection.js';
import { channels } from '../../../src/projections/models/channels.js';
import { redemptions } from '../../../src/projections/models/redemptions.js';
import { users } from '../../../src/projections/models/users.js';
import { type Answer, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { signIn } from '../../support/gateway/sign-in.js';
import { servedModels, startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/gateway/webhook-receiver.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { type Finding, findAll, spellingsOf } from '../../support/inputs/spellings.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/*
 * Secrets, prompts and personal data are sent through every door, right and wrong ways, and then looked for everywhere
 * the gateway keeps or says something.
 */

/** Given by people and providers. Each holds characters that look different in other spellings. */
const planted = {
  'channel key': 'sk-planted/channel+key-7f3a9c1e5b7d',
  'second channel key': 'sk-planted/second+key-2b4d6f8a0c2e',
  'proxy password': 'planted-proxy-pa55~word',
  'password of a user': 'planted-pass-one',
  'new password of a user': 'planted-pass-two',
  'wrong password': 'planted-pass-bad',
  'secret option': 'planted/smtp+token 42',
  'secret of an option nobody knows': 'planted/vendor+secret 43',
  'webhook secret': 'planted/webhook+secret 44',
  'unknown redemption code': '7a11c0de7a11c0de7a11c0de7a11c0de',
  'unknown API key': 'PlantedUnknownKey0123456789abcdefghijklmnopqrstu',
  'key with a wrong length': 'sk-PlantedShortKey0123456789abcdef',
  prompt: 'Planted prompt: the "grey" heron stands at the weir – all day.',
  'system prompt': 'Planted instructions: answer as the lock keeper would.',
  'completion prompt': 'Planted opening: it was a dark & stormy night at the quay',
  'embedding input': 'Planted document: minutes of the harbour board, 4th of May.',
  'tool description': 'Planted tool: looks up the tide at a given pier.',
  answer: 'Planted answer: the heron left at noon, over the meadow.',
  reasoning: 'Planted thought: herons fish alone, so it must be early.',
} as const;

const personal = { 'display name': 'Planted Björk', 'e-mail address': 'planted.björk@example.org' } as const;
/** May be read anywhere: with it the search proves that it finds what is there. */
const harmless = 'harmless-marker-0815';

const model = 'gpt-4o-mini';

let gateway: TestGateway;
let callers: Callers;
/** Made by the gateway itself while it works. */
let issued: Record<string, string>;
const errorBodies: string[] = [];
/** Answered to a caller whose own words the upstream repeats; of no interest but for keys. */
const echoes: string[] = [];
let searched: Record<string, string[]>;

const refused = (answer: Answer): Answer => {
  errorBodies.push(answer.text, JSON.stringify(answer.headers));
  return answer;
};

/** What a Failure gives a face. */
const refusedCommand = async (command: Promise<unknown>): Promise<void> => {
  const thrown: unknown = await command.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof Error)) throw new Error('the command was not refused');
  errorBodies.push(String(thrown), JSON.stringify(thrown), String(thrown.stack));
};

const conversation = (content: string) => ({
  model,
  messages: [
    { role: 'system', content: planted['system prompt'] },
    { role: 'user', content },
  ],
  tools: [{ type: 'function', function: { name: 'tide', description: planted['tool description'] } }],
  tool_choice: 'none',
});

async function commands(): Promise<{ apiKey: string; actor: Actor }> {
  const { application, root } = gateway;
  const settings = channelSettings({ name: harmless, models: servedModels, baseUrl: gateway.provider.url });
  const proxy = `http://keeper:${planted['proxy password']}@127.0.0.1:9`;
  const { ids } = await application.channels.add(root, {
    settings,
    key: planted['channel key'],
    proxy: '',
    enabled: true,
  });
  const [channel] = ids;
  if (channel === undefined) throw new Error('no channel was added');
  await application.channels.edit(root, channel, { settings: {}, key: planted['second channel key'] });
  await application.channels.add(root, {
    settings: { ...settings, name: 'proxied', models: ['proxied'] },
    key: planted['channel key'],
    proxy,
    enabled: true,
  });
  await refusedCommand(
    application.channels.add(root, {
      settings,
      key: planted['channel key'],
      proxy: `ftp://${planted['proxy password']}`,
      enabled: true,
    }),
  );
  await refusedCommand(
    application.channels.edit(root, channel, {
      settings: { baseUrl: `https://keeper:${planted['proxy password']}@example.org` },
    }),
  );

  await application.options.change(root, 'SMTPToken', planted['secret option']);
  await application.options.change(root, 'VendorSecret', planted['secret of an option nobody knows']);
  // Taken for an ordinary value by whoever mistook the field.
  await refusedCommand(application.options.change(root, 'SMTPPort', planted['secret option']));

  const created = await application.users.create(root, {
    username: 'heron',
    password: planted['password of a user'],
    displayName: personal['display name'],
  });
  const actor: Actor = { id: created.id, role: 'ordinary' };
  await application.visible(await application.users.adjustQuota(root, actor.id, { delta: 10_000_000 }));
  await application.users.changeOwnProfile(
    actor,
    {
      username: null,
      password: planted['new password of a user'],
      displayName: personal['display name'],
    },
    await gateway.proven({ actor, password: planted['password of a user'] }, 'password'),
  );
  const personalSettings = {
    quotaWarningThreshold: 1_000,
    acceptUnpricedModels: true,
    webhookSecret: '',
    webhookUrl: '',
  };
  await application.users.changeSettings(actor, {
    ...personalSettings,
    notifyType: 'webhook',
    webhookUrl: `${hooks.url}/heron`,
    webhookSecret: planted['webhook secret'],
    notificationEmail: '',
  });
  await application.visible(
    await application.users.changeSettings(actor, {
      ...personalSettings,
      notifyType: 'email',
      notificationEmail: personal['e-mail address'],
    }),
  );
  await refusedCommand(application.identity.login('heron', planted['wrong password']));
  const { token: session } = await signIn(application.identity, 'heron', planted['new password of a user']);
  const { token: accessToken } = await application.users.issueAccessToken(
    actor,
    await gateway.proven({ actor, password: planted['new password of a user'] }, 'access-token'),
  );
  const apiKey = await gateway.addApiKey({ actor });
  const { codes } = await application.redemptions.issue(root, { name: harmless, quota: 5 }, 2);
  const [used = { code: '' }, unused = { code: '' }] = codes;
  await application.redemptions.redeem(actor, used.code, '192.0.2.1');
  await refusedCommand(application.redemptions.redeem(actor, used.code, '192.0.2.1'));
  await refusedCommand(application.redemptions.redeem(actor, planted['unknown redemption code'], '192.0.2.1'));
  issued = {
    'API key': apiKey.slice(3),
    'redeemed code': used.code,
    'unused code': unused.code,
    'session token': session,
    'access token': accessToken,
    'password of the root user': gateway.rootPassword,
  };
  return { apiKey, actor };
}

async function calls(apiKey: string): Promise<void> {
  const { provider } = gateway;
  const caller = callers.with(apiKey);
  const json = (path: string, body: Record<string, string>) => caller.send(path, { method: 'POST', body });
  provider.script(model, { text: planted.answer, reasoning: planted.reasoning });
  expect((await caller.chat(conversation(planted.prompt))).text).toContain('heron left at noon');
  expect((await caller.chat({ ...conversation(planted.prompt), stream: true })).status).toBe(200);
  expect((await json('/v1/completions', { model, prompt: planted['completion prompt'] })).status).toBe(200);
  expect(
    (await json('/v1/embeddings', { model: 'text-embedding-3-small', input: planted['embedding input'] })).status,
  ).toBe(200);
  await caller.chat({ ...conversation(planted.prompt), stream: true }, { enough: () => true });

  // Refused by the gateway.
  refused(await callers.with(`sk-${planted['unknown API key']}`).chat(conversation(planted.prompt)));
  refused(await callers.with(planted['key with a wrong length']).chat(conversation(planted.prompt)));
  refused(await callers.with(`${apiKey}-1`).chat(conversation(planted.prompt)));
  refused(await callers.with(null).send(`/v1/models?key=${planted['unknown API key']}`));
  refused(await callers.with(null).send(`/v1/models/%zz?key=${apiKey}`));
  refused(await caller.send('/v1/nope?key=x', { method: 'POST', body: { prompt: planted.prompt } }));
  refused(await caller.chat({ ...conversation(planted.prompt), max_tokens: -1 }));
  refused(await caller.chat({ ...conversation(planted.prompt), model: 'nobody-has-it' }));
  refused(await caller.chat({}, { body: `{"model":"${model}","messages":[{"content":"${planted.prompt}` }));
  refused(await caller.chat(conversation(planted.prompt), { headers: { 'content-encoding': 'gzip' } }));
  await gateway.setOption('SensitiveWords', 'heron');
  expect(errorIn(refused(await caller.chat(conversation(planted.prompt)))).code).toBe('sensitive_words_detected');
  await gateway.setOption('SensitiveWords', '');

  // Refused or broken by the upstream.
  provider.script(model, { kind: 'refuse', status: 500 });
  refused(await caller.chat(conversation(planted.prompt)));
  provider.script(model, {
    kind: 'refuse',
    status: 502,
    body: `<html>${planted.prompt} ${planted['second channel key']}</html>`,
  });
  refused(await caller.chat(conversation(planted.prompt)));
  provider.script(model, { kind: 'reset' });
  refused(await caller.chat(conversation(planted.prompt)));
  provider.script(model, { text: planted.answer, after: { frames: 3, then: 'reset' } });
  await caller.chat({ ...conversation(planted.prompt), stream: true });
  refused(await caller.chat({ ...conversation(planted.prompt), model: 'proxied' }));

  // An upstream that repeats what it was sent, and is switched off for it.
  await gateway.setOption('AutomaticDisableChannelEnabled', 'true');
  const sent = `${planted['second channel key']}. You said: ${planted.prompt}`;
  const type = 'invalid_request_error';
  const odd = { message: `Odd header: Bearer ${sent}`, type, code: 'invalid_value' };
  provider.script(model, { kind: 'refuse', status: 400, body: { error: odd } });
  echoes.push((await caller.chat(conversation(planted.prompt))).text);
  const error = { message: `Incorrect API key provided: ${sent}`, type, code: 'invalid_api_key' };
  provider.script(model, { kind: 'refuse', status: 401, body: { error } });
  echoes.push((await caller.chat(conversation(planted.prompt))).text);
  await until(async () =>
    gateway.application.directory.channels().some(({ status }) => status === 'auto-disabled') ? true : null,
  );
}

/** The other faces, at their most talkative: when something is wrong. */
async function otherFaces(): Promise<void> {
  const anonymous = callers.with(null);
  const post = (path: string, body: Record<string, unknown> | string, headers: Record<string, string> = {}) =>
    anonymous.send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const wrong = planted['wrong password'];
  refused(await post('/api/user/login', { username: 'heron', password: wrong }));
  refused(await post('/api/user/login', `{"username":"heron","password":"${wrong}`));
  refused(await post('/api/channel/', { key: planted['channel key'], name: 'x' }));
  refused(await post('/api/user/topup', { key: planted['unknown redemption code'] }));
  refused(await post('/api/option/', { key: 'SMTPToken', value: planted['secret option'] }));
  const login = 'mutation ($password: String!) { login(username: "heron", password: $password) { user { id } } }';
  refused(await post('/graphql', { query: login, variables: { password: wrong } }));
  refused(await post('/graphql', { query: `mutation { login(username: "heron", password: "${wrong}" ` }));
  const change = 'mutation ($value: String!) { changeOption(key: "SMTPToken", value: $value) { key } }';
  refused(await post('/graphql', { query: change, variables: { value: planted['secret option'] } }));
}

/** Files come and go while Postgres runs: what is gone by then has nothing to find in it. */
async function filesUnder(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => null);
  if (entries === null) return [];
  const found = entries.map((entry) => {
    const inside = join(path, entry.name);
    return entry.isDirectory() ? filesUnder(inside) : [inside];
  });
  return (await Promise.all(found)).flat();
}

/**
 * Which of the texts stand, as they are, in a file of the gateway's database or in one that all databases share, the
 * write-ahead log included.
 */
async function inFiles(texts: Readonly<Record<string, string>>): Promise<string[]> {
  const { directory, own } = await withDatabase(gateway.config, quietLog, async ({ pool }) => {
    await pool.query('checkpoint');
    const { rows } = await pool.query<{ pid: number; directory: string; own: number }>(
      `select pg_backend_pid() as pid, current_setting('data_directory') as directory, oid::int as own
       from pg_database where datname = current_database()`,
    );
    const [{ pid, directory, own } = { pid: 0, directory: '', own: 0 }] = rows;
    // Where its path is closed to the account Postgres runs under, it only knows a descriptor; it works in it, though.
    return { own, directory: await realpath(process.platform === 'linux' ? `/proc/${pid}/cwd` : directory) };
  });
  const others = (await readdir(join(directory, 'base'))).filter((name) => name !== String(own));
  const ofOthers = others.map((name) => `${join(directory, 'base', name)}/`);
  const found = new Set<string>();
  for (const file of await filesUnder(directory)) {
    if (ofOthers.some((where) => file.startsWith(where))) continue;
    const bytes = await readFile(file).catch(() => Buffer.alloc(0));
    for (const [name, text] of Object.entries(texts)) if (bytes.includes(text)) found.add(name);
  }
  return [...found];
}

/** Every table outside the catalogue, row by row; bytes are written in hex. */
async function dump(): Promise<Record<string, string[]>> {
  return withDatabase(gateway.config, quietLog, async (database) => {
    await ledgerAtRest(database);
    const { pool } = database;
    const { rows: tables } = await pool.query<{ name: string; sql: string }>(`
      select schemaname || '.' || tablename as name, format('%I.%I', schemaname, tablename) as sql
      from pg_catalog.pg_tables where schemaname not in ('pg_catalog', 'information_schema')
    `);
    const found: Record<string, string[]> = {};
    for (const { name, sql } of tables) {
      const { rows } = await pool.query<{ row: string }>(`select t::text || row_to_json(t)::text as row from ${sql} t`);
      found[name] = rows.map(({ row }) => row);
    }
    return found;
  });
}

/** Big numbers as text. */
async function lines(pages: AsyncIterable<readonly object[]>): Promise<string[]> {
  const found: string[] = [];
  for await (const page of pages)
    for (const line of page)
      found.push(JSON.stringify(line, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
  return found;
}

let hooks: WebhookReceiver;

beforeAll(async () => {
  hooks = await startWebhookReceiver();
  gateway = await startTestGateway({ RELAY_TIMEOUT: '5' });
  callers = openCallers(gateway.url);
  const { apiKey } = await commands();
  await calls(apiKey);
  await otherFaces();
  searched = { ...(await dump()), log: [...gateway.logged], 'error bodies': errorBodies };
}, 120_000);
afterAll(async () => {
  await hooks?.stop();
  await callers?.close();
  await gateway?.stop();
});

const findings = (secrets: Readonly<Record<string, string>>, except: readonly string[] = []): Finding[] =>
  findAll(secrets, searched).filter(({ where }) => !except.includes(where));

test('no secret, prompt or answer is readable in any event, log line, error or table', () => {
  expect(findings({ ...planted, ...issued })).toEqual([]);
});

test('the encryption key of the secrets is stored nowhere', () => {
  const { secretKey } = gateway.config.vault;
  if (secretKey === null) throw new Error('a test gateway is given its key');
  expect(findings({ 'master key': secretKey })).toEqual([]);
});

test('personal data is readable neither in a table nor in a log line nor in an error', () => {
  expect(findings(personal)).toEqual([]);
});

test('personal data is in no file of the database, while the user lives and afterwards', async () => {
  const { application, root } = gateway;
  const { items } = await application.queries.users(root, { page: 1, size: 10 }, { keyword: 'planted' });
  // It is shown and found all the same.
  expect(items.map(({ display_name }) => display_name)).toEqual([personal['display name']]);
  const [heron] = items;
  if (heron === undefined) throw new Error('there is no such user');
  const self = await application.queries.self({ id: heron.id, role: heron.role });
  expect(self.settings).toContain(personal['e-mail address']);
  expect(heron.settings).toBe('');
  expect(await inFiles(personal)).toEqual([]);
  await application.visible(await application.users.manage(root, heron.id, 'delete'));
  const [gone] = await application.queries.usersById(root, [heron.id]);
  expect(gone).toMatchObject({ username: 'heron', display_name: '', email: '', settings: '' });
  const found = await application.queries.users(root, { page: 1, size: 10 }, { keyword: 'planted' });
  expect(found.items).toEqual([]);
  const tables = await dump();
  expect(tables[`${schemaOf(users)}.user_personal`]?.filter((row) => row.includes(`"user_id":${heron.id},`))).toEqual(
    [],
  );
  expect(await inFiles(personal)).toEqual([]);
  // The search would find what is there.
  expect(await inFiles({ marker: harmless })).not.toEqual([]);
}, 120_000);

test('the name of an erased user is in no table but the events, in no log line and in no export of what is shown', async () => {
  const { application, root } = gateway;
  const [name, renamed, password] = ['wrybill-4711', 'dotterel-471', 'planted-pass-one'];
  const words = { name, renamed, 'display name': 'Planted Wrybill', 'e-mail address': 'planted.wrybill@example.org' };
  const { id } = await application.users.create(root, { username: name, password, displayName: words['display name'] });
  const actor: Actor = { id, role: 'ordinary' };
  const admin = { ...root, askedFrom: { face: 'graphql', credential: 'session', address: '192.0.2.4' } } as const;
  await application.visible(await application.users.adjustQuota(admin, id, { delta: 10_000_000 }));
  await application.users.changeSettings(actor, {
    ...{ notifyType: 'email', notificationEmail: words['e-mail address'], webhookUrl: '', webhookSecret: '' },
    ...{ quotaWarningThreshold: 9_999_999, acceptUnpricedModels: true },
  });
  expect(await signIn(application.identity, name, password)).toMatchObject({ token: expect.any(String) });
  await refusedCommand(application.identity.login(name, planted['wrong password']));
  const { codes } = await application.redemptions.issue(root, { name: harmless, quota: 5 }, 1);
  await application.redemptions.redeem(actor, codes[0]?.code ?? '', '192.0.2.1');
  const caller = callers.with(await gateway.addApiKey({ actor }));
  await caller.chat({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] });
  await caller.chat({ model: 'nobody-has-it' });
  const unchanged = { password: null, displayName: null, group: null, role: null, quota: null };
  await application.visible(await application.users.edit(admin, id, { ...unchanged, username: renamed }));
  const shown = async (): Promise<Record<string, string[]>> => {
    const everything = { by: null, kinds: null, subject: null, subjectId: null, from: null, to: null };
    const { queries } = application;
    return {
      'usage log': await lines(await queries.exportedLog(root, {}, false)),
      history: await lines(
        await queries.exportedHistory(root, { kind: 'user', id: String(id) }, { causes: null, from: null, to: null }),
      ),
      'administrators log': await lines(await queries.exportedActs(root, everything)),
    };
  };
  await dump();
  const before = await shown();
  expect(findAll(words, before).map(({ secret, where }) => `${secret} in ${where}`)).toEqual(['renamed in usage log']);

  await application.visible(await application.users.erase(admin, id));
  const { 'public.events': events = [], ...tables } = await dump();
  expect(findAll(words, { ...tables, ...(await shown()), log: gateway.logged })).toEqual([]);
  // Names alone: what is personal was never readable there. And the search would find what is there.
  expect(new Set(findAll(words, { events }).map(({ secret }) => secret))).toEqual(new Set(['name', 'renamed']));
  const { history, 'administrators log': acts } = await shown();
  expect(history).toEqual(before.history);
  expect(acts?.length).toBeGreaterThan(before['administrators log']?.length ?? 0);
}, 120_000);

test('a key that an upstream repeats to the caller is removed', () => {
  const [repeated, refused] = echoes;
  expect(findAll({ key: planted['second channel key'] }, { echoes })).toEqual([]);
  // A key that upstream refuses is the operator's business: of that the caller gets nothing of what upstream said.
  expect(refused).toContain('upstream_account_unavailable');
  expect(refused).not.toContain('Incorrect API key provided');
  expect(repeated).toContain('Odd header: Bearer');
});

describe('the search for secrets', () => {
  test('covered every table, many lines, and the known content of each place', () => {
    for (const table of [
      'public.events',
      'public.vault_secrets',
      'public.user_keys',
      'public.sessions',
      `${schemaOf(users)}.users`,
      `${schemaOf(redemptions)}.redemptions`,
    ])
      expect([table, searched[table]?.length ?? 0]).not.toEqual([table, 0]);
    expect(errorBodies.length).toBeGreaterThan(40);
    expect(findAll({ marker: harmless }, searched).map(({ where }) => where)).toEqual(
      expect.arrayContaining(['public.events', `${schemaOf(channels)}.channels`]),
    );
    expect(findAll({ ready: 'projecting' }, searched).map(({ where }) => where)).toContain('log');
    expect(findAll({ code: 'invalid_api_key' }, searched).map(({ where }) => where)).toContain('error bodies');
  });

  test('finds a text in every encoding, also inside another text', () => {
    const secret = planted['secret option'];
    const inside = `before ${secret} after`;
    const dumps = {
      plain: [inside],
      'JSON inside JSON': [JSON.stringify({ text: JSON.stringify({ text: inside }) })],
      'a query': [`?text=${encodeURIComponent(inside)}`],
      'a form': [new URLSearchParams({ inside }).toString()],
      hex: [Buffer.from(inside).toString('hex')],
      'hex in capitals': [Buffer.from(inside).toString('hex').toUpperCase()],
      'base64, first alignment': [Buffer.from(inside).toString('base64')],
      'base64, second alignment': [Buffer.from(`.${inside}`).toString('base64')],
      'base64, third alignment': [Buffer.from(`..${inside}`).toString('base64')],
      base64url: [Buffer.from(inside).toString('base64url')],
    };
    for (const [name, dump] of Object.entries(dumps))
      expect([name, findAll({ secret }, { [name]: dump }).length > 0]).toEqual([name, true]);
    expect(findAll({ secret }, { nothing: [`${secret.slice(1)} ${secret.slice(0, -1)}`] })).toEqual([]);
    expect(spellingsOf('a').size).toBeGreaterThan(1);
  });
});
