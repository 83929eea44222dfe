import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import { GraphqlClient } from '../../graphql/graphql-server.js';
import { type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { channelAcceptedEarlier } from '../../support/gateway/accepted-earlier.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';

/* Channels of a type the gateway cannot speak with, as another release took them. */

/** No provider has this number; a later release may. */
const unknown = 28;

let gateway: TestGateway;
let callers: Callers;
let admin: GraphqlClient;
let user: TestUser;
let apiKey: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  admin = await new GraphqlClient(gateway.url).signIn('root', gateway.rootPassword);
  await gateway.setOption('SelfUseModeEnabled', 'true');
  await gateway.addChannel({ models: ['served'] });
  user = await gateway.addUser(1_000_000);
  apiKey = await gateway.addApiKey(user);
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});

async function acceptedEarlier(number: number, model: string): Promise<ChannelId> {
  const id = ChannelId(number);
  await channelAcceptedEarlier(gateway, id, { type: unknown, name: model, models: [model, 'served'] });
  return id;
}

const show = (id: ChannelId) =>
  admin.ask('query ($id: ID!) { channel(id: $id) { name type status models provider { name served modes } } }', { id });

describe('a channel of an unsupported type', () => {
  let id: ChannelId;
  const model = 'not-yet';
  beforeAll(async () => {
    id = await acceptedEarlier(900, model);
  });

  test('is listed for administrators, without a provider', async () => {
    const { channel } = await show(id);
    expect(channel).toMatchObject({
      type: unknown,
      status: 'ENABLED',
      models: [model, 'served'],
      provider: null,
    });
  });

  test('is in no list of models', async () => {
    const caller = callers.with(apiKey);
    const me = await new GraphqlClient(gateway.url).signIn(user.username, user.password);
    const lists = {
      relay: (await caller.send('/v1/models')).text,
      pricing: (await callers.with(null).send('/api/pricing')).text,
      own: JSON.stringify(await me.ask('{ ownModels }')),
      enabled: JSON.stringify(await admin.ask('{ enabledModels }')),
    };
    for (const [list, text] of Object.entries(lists)) {
      expect([list, text.includes('"served"')]).toEqual([list, true]);
      expect([list, text.includes(model)]).toEqual([list, false]);
    }
    expect((await caller.send(`/v1/models/${model}`)).status).toBe(404);
  });

  test('gets no call, nor for models that others serve', async () => {
    const caller = callers.with(apiKey);
    const answer = await caller.chat({ model });
    expect(answer.status).toBe(404);
    expect(errorIn(answer)).toMatchObject({ code: 'model_not_found' });
    for (let call = 0; call < 20; call++) expect((await caller.chat({ model: 'served' })).status).toBe(200);
  });

  test('cannot be tested', async () => {
    const { testChannel } = await admin.ask('mutation ($id: ID!) { testChannel(id: $id) { ok message } }', { id });
    expect(testChannel).toEqual({ ok: false, message: 'channel type 28 is not supported by the test' });
  });

  test('can be edited; with another type, it serves', async () => {
    const edit =
      'mutation ($id: ID!, $patch: ChannelPatchInput!) { editChannel(id: $id, patch: $patch) { name type } }';
    const renamed = await admin.ask(edit, { id, patch: { name: 'renamed' } });
    expect(renamed.editChannel).toEqual({ name: 'renamed', type: unknown });
    const patch = { type: 1, baseUrl: gateway.provider.url, key: 'sk-upstream-key' };
    expect((await admin.ask(edit, { id, patch })).editChannel).toMatchObject({ type: 1 });
    expect((await callers.with(apiKey).chat({ model })).status).toBe(200);
    expect(await admin.refusal(edit, { id, patch: { type: unknown, key: 'sk' } })).toEqual({
      code: 'channel-type-unknown',
      kind: 'invalid',
      details: { field: 'type', type: unknown },
    });
  });
});

test('a channel of an unsupported type can be deleted', async () => {
  const id = await acceptedEarlier(901, 'to-be-deleted');
  await admin.ask('mutation ($ids: [ID!]!) { deleteChannels(ids: $ids) }', { ids: [id] });
  expect(gateway.application.directory.channel(id)).toBeNull();
});
