import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Gateway, startGateway } from '../../../src/bootstrap/gateway.js';
import { quarantine as quarantineByHand } from '../../../src/cli/quarantine.js';
import { GraphqlClient } from '../../graphql/graphql-server.js';
import { signIn } from '../../support/gateway/sign-in.js';
import { configFor } from '../../support/gateway/test-gateway.js';
import { apiKeyTerms } from '../../support/given/api-key-terms.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/* A log that holds an event which a read model cannot fold, as an earlier release may have accepted it. */

const password = 'root-password-1';

let database: TestDatabase;
let gateway: Gateway | null = null;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await stop();
  await database.drop();
});

async function start(): Promise<Gateway> {
  gateway = await startGateway(configFor(database), quietLog);
  return gateway;
}

async function stop(): Promise<void> {
  await gateway?.stop();
  gateway = null;
}

async function startSetUp(): Promise<GraphqlClient> {
  const { application, url } = await start();
  const names = { username: 'root', password, confirmPassword: password };
  await application.visible(await application.setup.complete({ ...names, mode: 'self' }));
  return new GraphqlClient(url).signIn('root', password);
}

/** Resolves with its position. */
async function accepted(stream: string, type: string, payload: object): Promise<number> {
  const { rows } = await database.pool.query<{ position: number }>(
    `insert into events (position, event_id, stream, revision, type, version, data, at)
     select max(position) + 1, gen_random_uuid(), $1,
       (select coalesce(max(revision), -1) + 1 from events where stream = $1), $2, 1, $3, 0
     from events returning position`,
    [stream, type, JSON.stringify(payload)],
  );
  return rows[0]?.position ?? Number.NaN;
}

const channelOfImpossibleType = () =>
  accepted('channel-900', 'ChannelAdded', {
    settings: channelSettings({ type: 2 ** 31 }),
    secrets: { key: null, proxy: null },
  });

const stateQuery = '{ readModels { name version position head status quarantined failure { position type error } } }';
const quarantine = 'mutation ($input: QuarantineInput!) { quarantineEvent(input: $input) { name status quarantined } }';

interface State {
  readonly name: string;
  readonly position: number;
  readonly head: number;
  readonly status: string;
  readonly quarantined: number;
  readonly failure: { readonly position: number; readonly type: string; readonly error: string } | null;
}

async function stateOf(client: GraphqlClient, name: string): Promise<State> {
  const { readModels } = (await client.ask(stateQuery)) as { readModels: State[] };
  const state = readModels.find((model) => model.name === name);
  if (state === undefined) throw new Error(`there is no state of ${name}`);
  return state;
}

const stoppedModel = (client: GraphqlClient, name: string) =>
  until(async () => {
    const state = await stateOf(client, name);
    return state.failure === null ? null : state;
  });

test('a gateway starts with a stopped read model, shows it, and serves; quarantining the event lets it continue', async () => {
  const first = await startSetUp();
  const position = await channelOfImpossibleType();
  await stoppedModel(first, 'channels');
  await stop();

  const { url, application } = await start();
  const client = await new GraphqlClient(url).signIn('root', password);
  const stopped = await stateOf(client, 'channels');
  expect(stopped).toMatchObject({ status: 'STOPPED', failure: { position, type: 'ChannelAdded' }, quarantined: 0 });
  expect(stopped.failure?.error).toMatch(/out of range/);
  expect(stopped.position).toBe(position - 1);
  expect(await stateOf(client, 'users')).toMatchObject({ status: 'RUNNING', failure: null });

  const { user: root } = await signIn(application.identity, 'root', password);
  await application.channels.add(root, {
    settings: channelSettings({ name: 'later', baseUrl: 'http://127.0.0.1:1' }),
    key: 'sk-upstream-key',
    proxy: '',
    enabled: true,
  });
  const names = async () => (await client.ask('{ channels { items { name } } }')).channels.items;
  expect(await names()).toEqual([]);
  expect((await stateOf(client, 'channels')).position).toBe(position - 1);

  const input = { model: 'channels', position, reason: 'accepted by an earlier release' };
  expect(await client.refusal(quarantine, { input: { ...input, position: position + 1 } })).toMatchObject({
    code: 'read-model-not-stopped-there',
  });
  const { quarantineEvent } = await client.ask(quarantine, { input });
  expect(quarantineEvent).toContainEqual({ name: 'channels', status: 'RUNNING', quarantined: 1 });
  expect(await names()).toEqual([{ name: 'later' }]);
  // Again, as somebody whose browser lost the answer: nothing more happens.
  await client.ask(quarantine, { input });
  expect(await stateOf(client, 'channels')).toMatchObject({ status: 'RUNNING', quarantined: 1 });
  await stop();

  const next = await start();
  expect(await stateOf(await new GraphqlClient(next.url).signIn('root', password), 'channels')).toMatchObject({
    status: 'RUNNING',
    quarantined: 1,
  });
});

test('an API key issued while its read model is stopped is accepted after a restart', async () => {
  const client = await startSetUp();
  await accepted('apikey-900', 'ApiKeyIssued', { owner: 'nobody' });
  await stoppedModel(client, 'api_keys');
  const { application } = gateway ?? (await start());
  const { user } = await signIn(application.identity, 'root', password);
  const { key } = await application.apiKeys.issue(user, {
    quota: 0,
    terms: apiKeyTerms({ name: 'late', unlimited: true }),
  });
  await stop();
  const { url } = await start();
  const listed = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer sk-${key}` } });
  expect(listed.status).toBe(200);
});

test('the owner of an API key issued while its read model is stopped sees it, may repeat the command, and can change it', async () => {
  const client = await startSetUp();
  await accepted('apikey-900', 'ApiKeyIssued', { owner: 'nobody' });
  await stoppedModel(client, 'api_keys');
  const fields = 'id key name status unlimited remainingQuota usedQuota group';
  const issue = `mutation { issueApiKey(input: { name: "late", quota: 700 }, idempotencyKey: "k1") { ${fields} } }`;
  const { issueApiKey: issued } = await client.ask(issue);
  expect(issued).toMatchObject({ name: 'late', status: 'ENABLED', remainingQuota: 700, usedQuota: 0, group: '' });
  expect((await client.ask(issue)).issueApiKey).toEqual(issued);
  const headers = { authorization: `Bearer ${issued.key}` };
  const models = async () => (await fetch(`${gateway?.url}/v1/models`, { headers })).status;
  expect(await models()).toBe(200);

  const edit = `mutation { editApiKey(id: "${issued.id}", input: { name: "later", quota: 900 }) { ${fields} } }`;
  expect((await client.ask(edit)).editApiKey).toMatchObject({ ...issued, name: 'later', remainingQuota: 900 });
  const disable = `mutation { setApiKeyEnabled(id: "${issued.id}", enabled: false) { status } }`;
  expect((await client.ask(disable)).setApiKeyEnabled).toEqual({ status: 'DISABLED' });
  expect(await models()).toBe(401);
  await client.ask(`mutation { deleteApiKey(id: "${issued.id}") }`);
  expect(await client.refusal(`{ apiKey(id: "${issued.id}") { id } }`)).toMatchObject({ code: 'api-key-not-found' });
});

test('a stopped ledger does not prevent a start, which warns that calls may still be open, and can quarantine nothing', async () => {
  const first = await startSetUp();
  const position = await accepted('user-1', 'QuotaGranted', { quota: 'much', reason: 'signup' });
  await stoppedModel(first, 'ledger');
  await stop();
  const logged: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
  gateway = await startGateway(configFor(database), log);
  const { url } = gateway;
  expect(logged.filter((line) => line.includes('calls yet that an earlier process left open'))).toHaveLength(1);
  const client = await new GraphqlClient(url).signIn('root', password);
  expect(await stateOf(client, 'ledger')).toMatchObject({ status: 'STOPPED', failure: { position } });
  const input = { model: 'ledger', position, reason: 'in the way' };
  expect(await client.refusal(quarantine, { input })).toMatchObject({ code: 'books-stay-whole' });
});

describe('quarantining from the command line', () => {
  const commanded = (...args: string[]) => quarantineByHand({ config: configFor(database), log: quietLog, args });
  const leaveOut = (model: string, position: number) =>
    commanded('--model', model, '--position', String(position), '--reason', 'accepted by an earlier release');
  let printed: string[];
  beforeEach(() => {
    printed = [];
    vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
  });
  afterEach(() => vi.restoreAllMocks());

  test('works beside a gateway that serves, and lets the read model continue', async () => {
    const client = await startSetUp();
    const position = await channelOfImpossibleType();
    await stoppedModel(client, 'channels');
    await commanded();
    expect(printed).toEqual([
      expect.stringMatching(`^channels: stopped at event ${position}, ChannelAdded: .*out of range`),
    ]);
    await expect(leaveOut('channels', position - 1)).rejects.toMatchObject({ code: 'read-model-not-stopped-there' });
    await expect(leaveOut('canals', position)).rejects.toMatchObject({
      details: { reason: expect.stringContaining('Known are: users, api-keys, channels') },
    });
    await leaveOut('channels', position);
    await until(async () => ((await stateOf(client, 'channels')).status === 'RUNNING' ? true : null));
    expect(await stateOf(client, 'channels')).toMatchObject({ quarantined: 1, failure: null });
    const { rows } = await database.pool.query(
      `select version, data->>'by' as by from events where stream = 'quarantine'`,
    );
    expect(rows).toEqual([{ version: 2, by: 'cli' }]);
    await commanded();
    expect(printed.at(-1)).toBe('No read model is stopped.');
  });

  test('works while no gateway serves; the next one skips the event', async () => {
    const client = await startSetUp();
    const position = await channelOfImpossibleType();
    await stoppedModel(client, 'channels');
    await stop();
    await leaveOut('channels', position);
    expect(printed).toEqual([expect.stringContaining('at the next start')]);
    const { url } = await start();
    const next = await new GraphqlClient(url).signIn('root', password);
    expect(await stateOf(next, 'channels')).toMatchObject({ status: 'RUNNING', quarantined: 1, failure: null });
  });
});
