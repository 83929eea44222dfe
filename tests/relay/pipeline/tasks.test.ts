import { describe, expect, test } from 'vitest';
import { initialOptions } from '../../../src/application/options/initial-options.js';
import { settingsFrom } from '../../../src/application/options/settings.js';
import type { ChannelView, Directory } from '../../../src/application/ports/storage-ports.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { ChannelId, TaskId } from '../../../src/domain/kernel/ids.js';
import type { RelayPorts } from '../../../src/relay/contracts/ports.js';
import type { Generated } from '../../../src/relay/contracts/protocol.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import type { LimitedCall } from '../../../src/relay/pipeline/call-context.js';
import { channelParser } from '../../../src/relay/pipeline/channels/channel-settings.js';
import { concludeCall } from '../../../src/relay/pipeline/conclude.js';
import { ComparedMessages } from '../../../src/relay/pipeline/kept/compared-messages.js';
import type { Resolution } from '../../../src/relay/pipeline/resolution.js';
import { nameCall, resolveCall } from '../../../src/relay/pipeline/resolve.js';
import { submitTask } from '../../../src/relay/pipeline/tasks/submit-task.js';
import { providerOf } from '../../../src/relay/providers/registry.js';
import { LargeWork } from '../../../src/relay/text/large-work.js';
import { generatedText, givenAnswered, wholeAnswer } from '../../support/given/call-contexts.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { noPrices } from '../../support/given/no-prices.js';
import { taskFacts } from '../../support/given/tasks.js';
import { endpoints } from '../../support/upstreams/endpoints.js';

/* Calls that ask for a task: which channel they go to, what they cost, and when the task is written down. */

const music = endpoints.task;

const channel = (id: number, type: number, status = 'enabled', models = ['suno_music']): ChannelView =>
  ({
    ...{ id, status, secrets: { key: 'k', proxy: null } },
    settings: { type, models, priority: 0, weight: 0, modelMapping: '', groups: ['default'] },
  }) as unknown as ChannelView;

const ofSuno = [channel(4, 36), channel(5, 36), channel(6, 36, 'manual'), channel(7, 36, 'enabled', ['suno_lyrics'])];
/** It has no songs, whatever its operator says. */
const openAi = channel(1, 1);
const channels = [openAi, ...ofSuno];

function directoryWith(options: readonly (readonly [string, string])[]): Directory {
  const settings = settingsFrom(new Map(options), noPrices, initialOptions(noPrices));
  return {
    settings: () => settings,
    channel: (id: number) => channels.find((one) => one.id === id) ?? null,
    candidates: (_group: string, model: string) =>
      channels.filter((one) => one.status === 'enabled' && one.settings.models.includes(model)),
    hasModel: () => true,
  } as unknown as Directory;
}

interface Asked {
  readonly body?: JsonObject;
  readonly prices?: readonly (readonly [string, string])[];
  /** The channel of the task that is gone on from. Left out: there is no such task. */
  readonly parentAt?: number;
  readonly models?: readonly string[];
  /** Whether its user may have another open task. */
  readonly isRoomFor?: boolean;
}
const priced = [['ModelPrice', '{"suno_music":0.1}']] as const;

async function resolved({
  body = { prompt: 'la' },
  prices = priced,
  parentAt,
  models,
  isRoomFor = true,
}: Asked): Promise<Resolution> {
  const tasks = {
    ofUser: async (_user: unknown, ids: readonly string[]) =>
      parentAt === undefined || ids[0] !== 't1'
        ? []
        : [{ facts: taskFacts({ channelId: ChannelId(parentAt) }), content: { result: '[{"id":"c1"}]', urls: [] } }],
    takeSlot: async () => isRoomFor,
  } as unknown as RelayPorts['tasks'];
  const parsed = { providerOf, parsedChannel: channelParser(), directory: directoryWith(prices) };
  const ports = { ...parsed, largeWork: new LargeWork(), kept: {}, background: {}, tasks } as never;
  const held = { value: body, bytes: 100, upload: null };
  const terms = { group: '', modelLimitsEnabled: models !== undefined, modelLimits: models ?? [] };
  const call = {
    incoming: { endpoint: music, model: null, requestId: 'r1' },
    ...{ user: { id: 7, group: 'default' }, apiKey: { terms }, pinnedChannel: null },
  } as unknown as LimitedCall;
  return (await resolveCall(ports, nameCall(ports, call, held), held)).resolution;
}
const refusedWith = (status: number, code: string) => expect.objectContaining({ status, code });
const goingOn = { prompt: 'la', continue_clip_id: 'c1', task_id: 't1' };

describe('a call of mode task', () => {
  test('goes to channels of its platform, and to no other that has the model', async () => {
    expect((await resolved({})).channels.map(({ id }) => Number(id))).toEqual([4, 5]);
  });

  test('reserves exactly its price, has no tokens, and may be tried at several channels', async () => {
    const { estimate, pinned, requestedModel } = await resolved({});
    expect([estimate.max, estimate.min, estimate.minOfKey]).toEqual([50_000, 50_000, 50_000]);
    expect([estimate.bound.input, estimate.bound.output, pinned, requestedModel]).toEqual([0, 0, false, 'suno_music']);
  });

  test.each([
    ['a model without a price', []],
    ['a model that has a price by tokens alone, by which a task would be free', [['ModelRatio', '{"suno_music":5}']]],
  ] as const)('is refused for %s', async (_what, prices) => {
    await expect(resolved({ prices })).rejects.toThrow(refusedWith(400, 'model_price_error'));
  });

  test('is refused when its user has as many open tasks as the limit allows', async () => {
    await expect(resolved({ isRoomFor: false })).rejects.toThrow(refusedWith(429, 'too_many_open_tasks'));
  });

  test('that continues a task goes to its channel, and to no other', async () => {
    const { channels: chosen, pinned, parent } = await resolved({ body: goingOn, parentAt: 5 });
    expect([chosen.map(({ id }) => Number(id)), pinned, parent?.facts.taskId]).toEqual([[5], true, TaskId(41)]);
  });

  test.each([
    ['a task that is not its caller’s', undefined, 'task_not_exist'],
    ['a task whose channel is gone', 99, 'channel_not_found'],
    ['a task whose channel is switched off', 6, 'task_channel_disable'],
    ['a task whose channel has no such model any more', 7, 'channel_not_found'],
  ] as const)('that continues %s is refused', async (_what, parentAt, code) => {
    await expect(resolved({ body: goingOn, ...(parentAt && { parentAt }) })).rejects.toThrow(refusedWith(400, code));
  });

  test('that continues a task is refused where the key may not use the model', async () => {
    const asked = resolved({ body: goingOn, parentAt: 5, models: ['gpt-4o'] });
    await expect(asked).rejects.toThrow(refusedWith(403, 'model_not_allowed'));
  });
});

const task = {
  ...{ upstreamId: 'u1', action: 'MUSIC', status: 'not-started', progress: 0 },
  content: { prompt: 'la', urls: [] },
} as const satisfies Generated['task'];

const comparedMessages = new ComparedMessages();

/** Upstream has taken it. */
function taken() {
  const answer = { ...wholeAnswer(Buffer.from('{}')), usage: null, generated: { ...generatedText(''), task } };
  const call = givenAnswered(answer);
  return { call: { ...call, resolution: { ...call.resolution, endpoint: music, parent: null } }, answer };
}

describe('a task that upstream has taken', () => {
  test('is submitted with what is known of its call', async () => {
    const submitted: unknown[] = [];
    const tasks = {
      async submitted(one: unknown) {
        submitted.push(one);
        return TaskId(41);
      },
    } as unknown as RelayPorts['tasks'];
    expect(await submitTask({ tasks }, taken().call)).toMatchObject({
      task: { id: 41, platform: 'suno', action: 'MUSIC', publicId: 'u1' },
    });
    expect(submitted).toEqual([
      {
        ...task,
        ...{ userId: 7, group: 'default', model: 'm', callId: 'r1', channelId: 1, platform: 'suno', parent: null },
        ...{ apiKeyId: expect.anything(), apiKeyName: expect.anything() },
      },
    ]);
  });

  test('is answered with 503 where it cannot be written down, and its call is left to recovery', async () => {
    const tasks = {
      submitted: () => Promise.reject(new Failure('store-unavailable')),
    } as unknown as RelayPorts['tasks'];
    const submitting = submitTask({ tasks }, taken().call);
    await expect(submitting).rejects.toThrow(expect.objectContaining({ status: 503, code: 'store_unavailable' }));
  });

  test('is charged by the call, and its settlement is not withdrawn where the log does not answer', async () => {
    const { call, answer } = taken();
    call.reservation.away = true;
    call.reservation.settleOrWithdraw = async () => {
      throw new Error('nothing is withdrawn');
    };
    const ports = { clock: settableClock(someInstant), log: { info() {}, warn() {}, error() {} }, comparedMessages };
    const delivery = { kind: 'answer', answer, outcome: 'completed', firstTokenMs: null } as const;
    const settled = { id: TaskId(41), platform: 'suno', action: 'MUSIC', publicId: 'u1' } as const;
    const concluded = await concludeCall(ports, { ...call, delivery, task: settled });
    expect(concluded).toMatchObject({ charged: null, finalUsage: { usage: {}, usageSource: 'none' } });
    expect(call.reservation.concluded).toMatchObject([{ task: settled }]);
  });
});
