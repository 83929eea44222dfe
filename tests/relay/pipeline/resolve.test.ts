import { describe, expect, test } from 'vitest';
import { initialOptions } from '../../../src/application/options/initial-options.js';
import { settingsFrom } from '../../../src/application/options/settings.js';
import type { ChannelView, Directory } from '../../../src/application/ports/storage-ports.js';
import type { ModelAlias } from '../../../src/domain/api-key/model-aliases.js';
import type { KeptOwner } from '../../../src/domain/call/kept-object.js';
import type { RelayPorts } from '../../../src/relay/contracts/ports.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import type { LimitedCall } from '../../../src/relay/pipeline/call-context.js';
import { channelParser } from '../../../src/relay/pipeline/channels/channel-settings.js';
import type { Resolution } from '../../../src/relay/pipeline/resolution.js';
import { nameCall, resolveCall } from '../../../src/relay/pipeline/resolve.js';
import { providerOf } from '../../../src/relay/providers/registry.js';
import { LargeWork } from '../../../src/relay/text/large-work.js';
import { noPrices } from '../../support/given/no-prices.js';
import { endpoints } from '../../support/upstreams/endpoints.js';

const settings = settingsFrom(
  new Map([
    [
      'ModelRatio',
      '{"gpt-4o":1.25,"sold-out":1,"app-37":1,"app-22":1,"app-21":1,"bot-1":1,"doubao-1":1,"gpt-4-gizmo-*":15,"chat-only":1}',
    ],
    ['GroupRatio', '{"default":1,"vip":0.5,"secret":1}'],
    ['UserUsableGroups', '{"default":"all","vip":"some","retired":"none any more"}'],
    ['CheckSensitiveEnabled', 'true'],
    ['CheckSensitiveOnPromptEnabled', 'true'],
    ['SensitiveWords', 'forbidden'],
  ]),
  noPrices,
  initialOptions(noPrices),
);

const channel = (id: number, type: number, models: readonly string[], status = 'enabled'): ChannelView =>
  ({
    ...{ id, status, secrets: { key: 'k', proxy: null } },
    settings: { type, models, priority: 0, weight: 0, modelMapping: '', groups: ['default'] },
  }) as unknown as ChannelView;

const openAi = channel(1, 1, ['gpt-4o', 'gpt-4-gizmo-*', 'unpriced']);
/** Of a provider that has conversations only. */
const talker = channel(2, 27, ['chat-only', 'gpt-4o']);
const disabled = channel(3, 1, ['sold-out'], 'manual');
/** Of apps and knowledge bases, whose prompt is not what was sent. */
const apps = [37, 22, 21].map((type, at) => channel(10 + at, type, [`app-${type}`]));
const bots = channel(20, 45, ['bot-1', 'doubao-1']);
const channels = [openAi, talker, disabled, ...apps, bots];

const directory = {
  settings: () => settings,
  channel: (id: number) => channels.find((one) => one.id === id) ?? null,
  candidates: (group: string, model: string) =>
    channels.filter((one) => one.status === 'enabled' && group !== 'secret' && one.settings.models.includes(model)),
  hasModel: (model: string) => channels.some((one) => one.settings.models.includes(model)),
} as unknown as Directory;

interface CallInput {
  readonly endpoint?: keyof typeof endpoints;
  readonly body?: JsonObject;
  readonly group?: string;
  readonly usersGroup?: string;
  readonly pin?: string;
  readonly models?: readonly string[];
  readonly aliases?: readonly ModelAlias[];
  readonly acceptUnpriced?: boolean;
  readonly inPerson?: boolean;
  /** The model that the address names. */
  readonly addressModel?: string;
}

const background = { takeSlot: async () => true } as unknown as RelayPorts['background'];
const noTasks = { ofUser: async () => [] } as unknown as RelayPorts['tasks'];
const kept = { ownedBy: async () => new Map<string, KeptOwner>() };
const messages = [{ role: 'user', content: 'hi' }];

function admitted({ endpoint = 'chat', group = '', usersGroup = 'default', ...input }: CallInput): LimitedCall {
  const { pin = null, models, aliases, acceptUnpriced = false, inPerson = false, addressModel = null } = input;
  const terms = { group, modelLimitsEnabled: models !== undefined, modelLimits: models ?? [], modelAliases: aliases };
  return {
    incoming: { endpoint: endpoints[endpoint], model: addressModel },
    user: { group: usersGroup, acceptUnpricedModels: acceptUnpriced },
    apiKey: inPerson ? null : { terms },
    pinnedChannel: pin,
  } as unknown as LimitedCall;
}

async function resolved(input: CallInput): Promise<Resolution> {
  const parsed = { providerOf, parsedChannel: channelParser() };
  const ports = { directory, ...parsed, largeWork: new LargeWork(), kept, background, tasks: noTasks };
  const body = { value: { model: 'gpt-4o', messages, ...input.body }, bytes: 100, upload: null };
  const call = nameCall(ports, admitted(input), body);
  return (await resolveCall(ports, call, body)).resolution;
}

describe('a call is refused by the resolve stage', () => {
  test.each([
    ['without a model', { body: { model: '' } }, 400, 'invalid_request'],
    ['for a name that is none', { body: { model: 'a\u0000b' } }, 400, 'invalid_request'],
    ['in a group that is not its caller’s', { group: 'secret' }, 403, 'group_not_allowed'],
    ['in a group that is no more', { group: 'retired' }, 403, 'group_retired'],
    ['for a channel that is no number', { pin: 'x' }, 400, 'invalid_channel_id'],
    ['for a channel that does not exist', { pin: '77' }, 400, 'invalid_channel_id'],
    ['for a channel that is switched off', { pin: '3' }, 403, 'channel_disabled'],
    ['for a model its key may not use', { models: ['other'] }, 403, 'model_not_allowed'],
    [
      'for a model its key may not use, on a named channel too',
      { models: ['other'], pin: '1' },
      403,
      'model_not_allowed',
    ],
    ['for any model where the key may use none', { models: [] }, 403, 'model_not_allowed'],
    ['for a model nobody has', { body: { model: 'nobodys' } }, 404, 'model_not_found'],
    ['for a model that is switched off', { body: { model: 'sold-out' } }, 503, 'model_not_found'],
    ['for a model that another group has', { usersGroup: 'secret' }, 503, 'model_not_found'],
    ['without content', { body: { messages: [] } }, 400, 'invalid_text_request'],
    [
      'with a word the operator forbids',
      { body: { messages: [{ role: 'user', content: 'a FORBIDDEN one' }] } },
      400,
      'sensitive_words_detected',
    ],
    [
      'where no channel serves the endpoint',
      { endpoint: 'embeddings', body: { model: 'chat-only', input: 'x' } },
      400,
      'convert_request_failed',
    ],
    ['without a price', { body: { model: 'unpriced' } }, 400, 'model_price_error'],
    // In the order callers know: what comes first is reported.
    ['for its group before its channel', { group: 'retired', pin: 'x' }, 403, 'group_retired'],
    ['for its channel before its model', { pin: 'x', models: [] }, 400, 'invalid_channel_id'],
    ['for its model before its content', { models: [], body: { messages: [] } }, 403, 'model_not_allowed'],
    ['for its content before its price', { body: { model: 'unpriced', messages: [] } }, 400, 'invalid_text_request'],
  ] satisfies [string, CallInput, number, string][])('%s', async (_why, input, status, code) => {
    await expect(resolved(input)).rejects.toThrow(expect.objectContaining({ status, code }));
  });
});

describe('a resolved call', () => {
  const ids = async (input: CallInput): Promise<number[]> =>
    (await resolved(input)).channels.map(({ id }) => Number(id));

  test.each([
    ['may go to every channel that has the model', {}, [1, 2]],
    ['goes only where its endpoint is served', { endpoint: 'embeddings', body: { input: 'x' } }, [1]],
    ['goes to the channel it names, whatever its models', { pin: '2', body: { model: 'gpt-4-gizmo-g-1' } }, [2]],
    ['for a custom assistant goes where its family is', { body: { model: 'gpt-4-gizmo-g-1' } }, [1]],
  ] satisfies [string, CallInput, number[]][])('%s', async (_rule, input, channelIds) => {
    expect(await ids(input)).toEqual(channelIds);
  });

  test.each([
    [
      'is priced by the group of its caller',
      { usersGroup: 'vip' },
      { group: 'vip', estimate: { price: { group: '0.5' } } },
    ],
    ['is priced by the group of its key', { group: 'vip' }, { group: 'vip', estimate: { price: { group: '0.5' } } }],
    [
      'is billed under the name of the family',
      { body: { model: 'gpt-4-gizmo-g-1' } },
      { requestedModel: 'gpt-4-gizmo-g-1', model: 'gpt-4-gizmo-*' },
    ],
    [
      'may be for a model without a price where its caller accepts that',
      { body: { model: 'unpriced' }, acceptUnpriced: true },
      { model: 'unpriced' },
    ],
    ['is a stream where that is asked for', { body: { stream: true } }, { stream: true, wantsUsage: false }],
    [
      'tells usage where that is asked for',
      { body: { stream: true, stream_options: { include_usage: true } } },
      { stream: true, wantsUsage: true },
    ],
    [
      'for vectors is never a stream',
      { endpoint: 'embeddings', body: { input: 'x', stream: true } },
      { stream: false },
    ],
  ] satisfies [string, CallInput, object][])('%s', async (_rule, input, expected) => {
    expect(await resolved(input)).toMatchObject(expected);
  });
});

describe('a call of an app with instructions and knowledge', () => {
  const estimateFor = async (model: string) => (await resolved({ body: { model } })).estimate;

  test.each(['app-37', 'app-22', 'app-21', 'bot-1'])(
    'may use far more input than was sent, and reserves some of it: %s',
    async (model) => {
      const { bound, conservative, promptTokens } = await estimateFor(model);
      expect(bound.input).toBeGreaterThan(1_000_000);
      expect(conservative.input).toBeGreaterThan(16_000);
      expect(promptTokens).toBeLessThan(100);
    },
  );

  test('differs from a call of a plain model at the same provider', async () => {
    const { bound, conservative } = await estimateFor('doubao-1');
    expect(bound.input).toBeLessThan(10_000);
    expect(conservative.input).toBeLessThan(1_000);
  });
});

describe('the routing data of a body', () => {
  const ports = { directory };
  const nameIn = (input: CallInput, value: JsonObject) => nameCall(ports, admitted(input), { value }).named;

  test('is its model, or the model of the address, whatever its name', () => {
    expect(nameIn({}, { model: 'gpt-4o' }).model).toBe('gpt-4o');
    expect(nameIn({}, { model: 7 }).model).toBe(7);
    expect(nameIn({ addressModel: 'of-address' }, { model: 'gpt-4o' }).model).toBe('of-address');
    expect(nameIn({}, {}).model).toBe(null);
  });

  test('is an existing group, and only for a signed-in user', () => {
    expect(nameIn({ inPerson: true }, { group: 'vip' }).group).toBe('vip');
    expect(nameIn({ inPerson: true }, { group: 'invented' }).group).toBe('');
    expect(nameIn({}, { group: 'vip' }).group).toBe('');
  });

  test('leaves the given context unchanged', () => {
    const call = admitted({});
    const before = { ...call };
    expect(nameCall(ports, call, { value: { model: 'm' } })).toMatchObject({ ...before, named: { model: 'm' } });
    expect(call).toEqual(before);
  });
});

describe('a model named by an alias of the key', () => {
  const aliases = [{ name: 'claude-*', model: 'gpt-4o' }];
  const asked = (model: string, more: CallInput = {}) => resolved({ aliases, body: { model }, ...more });

  test('is the target of the alias, with its channels, its price and its limits; the alias is kept beside it', async () => {
    const [aliased, plain] = await Promise.all([asked('claude-opus-5'), asked('gpt-4o')]);
    expect(aliased).toEqual({ ...plain, alias: 'claude-opus-5' });
    expect([plain.alias, plain.requestedModel, plain.model]).toEqual([null, 'gpt-4o', 'gpt-4o']);
  });

  test('is permitted and refused as that model, whatever the alias is called', async () => {
    await expect(asked('claude-opus-5', { models: ['gpt-4o'] })).resolves.toMatchObject({ model: 'gpt-4o' });
    await expect(asked('claude-opus-5', { models: ['claude-opus-5'] })).rejects.toMatchObject({
      status: 403,
      code: 'model_not_allowed',
    });
  });

  test('is not found by another key, nor in person', async () => {
    for (const more of [{ aliases: [] }, { inPerson: true }])
      await expect(asked('claude-opus-5', more)).rejects.toMatchObject({ code: 'model_not_found' });
  });

  test('is not found where the target is another alias: aliases are not followed twice', async () => {
    const chain = [
      { name: 'one', model: 'two' },
      { name: 'two', model: 'gpt-4o' },
    ];
    await expect(resolved({ aliases: chain, body: { model: 'one' } })).rejects.toMatchObject({
      code: 'model_not_found',
    });
  });
});
