import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChannelId, UserId } from '../../src/domain/kernel/ids.js';
import { recordTask } from '../support/gateway/record-tasks.js';
import { type Cast, type Client, dataOf, openStage, send } from './rest-server.js';

let stage: Cast;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.stop());

interface LegacyTask {
  readonly id: number;
  readonly channel_id: number;
}

const start = 1_744_300_000_000;
const submit = (of: Client, change: Parameters<typeof recordTask>[2] = {}) =>
  recordTask(stage.gateway, UserId(of.id), { at: start, channelId: ChannelId(4711), ...change });
const list = async (by: Client, path: string): Promise<LegacyTask[]> => dataOf(await by.get(`/api/${path}`));
const idsOf = async (by: Client, path: string) => (await list(by, path)).map(({ id }) => id);

describe('GET /mj/', () => {
  test('returns drawings with the members of the contract, and to their user without the channel', async () => {
    const { facts } = await submit(stage.bob);
    const record = {
      id: facts.taskId,
      code: 1,
      user_id: stage.bob.id,
      action: 'IMAGINE',
      mj_id: facts.publicId,
      prompt: '',
      prompt_en: '',
      description: '',
      state: '',
      submit_time: start,
      start_time: 0,
      finish_time: 0,
      image_url: '',
      status: 'SUBMITTED',
      progress: '0%',
      fail_reason: '',
      channel_id: 4711,
      quota: 50,
      buttons: '',
      properties: '',
    };
    expect(await list(stage.admin, `mj/?mj_id=${facts.publicId}`)).toEqual([record]);
    expect(await list(stage.bob, `mj/self?mj_id=${facts.publicId}`)).toEqual([{ ...record, channel_id: 0 }]);
    expect(await list(stage.alice, `mj/self?mj_id=${facts.publicId}`)).toEqual([]);
  });

  test('has pages of ten that count from zero, newest first', async () => {
    const tasks = [];
    for (let n = 0; n < 12; n++) tasks.push((await submit(stage.alice)).facts.taskId);
    tasks.reverse();
    expect(await idsOf(stage.alice, 'mj/self')).toEqual(tasks.slice(0, 10));
    expect(await idsOf(stage.alice, 'mj/self?p=0&page_size=50')).toEqual(tasks.slice(0, 10));
    expect(await idsOf(stage.alice, 'mj/self/?p=1')).toEqual(tasks.slice(10));
    expect(await idsOf(stage.alice, 'mj/self?p=2')).toEqual([]);
  });

  test('is filtered by milliseconds and channel, and ignores invalid times', async () => {
    const early = await submit(stage.bob, { at: start + 50_001, channelId: ChannelId(4712) });
    const late = await submit(stage.bob, { at: start + 50_900, channelId: ChannelId(4712) });
    const found = (query: string) => idsOf(stage.admin, `mj/?channel_id=4712&${query}`);
    expect(await found(`start_timestamp=${start + 50_002}`)).toEqual([late.facts.taskId]);
    expect(await found(`end_timestamp=${start + 50_001}`)).toEqual([early.facts.taskId]);
    expect(await found('start_timestamp=NaN&end_timestamp=undefined')).toHaveLength(2);
    expect(await idsOf(stage.bob, `mj/self?channel_id=4713&start_timestamp=${start + 50_000}`)).toHaveLength(2);
  });

  test('shows why a drawing failed, and names the channel only to administrators', async () => {
    const task = await submit(stage.bob);
    await task.failed({ reason: 'channel-gone', progress: 45 });
    const query = `?mj_id=${task.facts.publicId}`;
    expect(await list(stage.admin, `mj/${query}`)).toMatchObject([
      { status: 'FAILURE', progress: '100%', fail_reason: '获取渠道信息失败，请联系管理员，渠道ID：4711' },
    ]);
    expect(await list(stage.bob, `mj/self${query}`)).toMatchObject([{ fail_reason: '获取渠道信息失败，请联系管理员' }]);
    const late = await submit(stage.bob);
    await late.failed({ reason: 'timed-out' });
    expect(await list(stage.bob, `mj/self?mj_id=${late.facts.publicId}`)).toMatchObject([
      { fail_reason: '上游任务超时（超过1小时）' },
    ]);
  });

  test('has addresses of pictures at the site where the operator forwards them', async () => {
    await stage.gateway.setOption('ServerAddress', 'https://site.example');
    await stage.gateway.setOption('MjForwardUrlEnabled', 'true');
    const { facts } = await submit(stage.bob);
    const [task] = await list(stage.bob, `mj/self?mj_id=${facts.publicId}`);
    expect(task).toMatchObject({
      image_url: expect.stringMatching(new RegExp(`^https://site\\.example/mj/image/${facts.taskId}\\.[\\w-]{22}$`)),
    });
  });

  test('of all users is refused to users, and any list without a session', async () => {
    for (const path of ['mj/', 'task/']) {
      expect(await stage.alice.get(`/api/${path}`)).toMatchObject({ json: { success: false } });
      expect((await send(stage.url, 'GET', `/api/${path}self`)).status).toBe(401);
    }
  });
});

describe('GET /task/', () => {
  const song = { platform: 'suno', action: 'MUSIC', model: 'suno_music' } as const;

  test('returns songs with the members of the contract', async () => {
    const task = await submit(stage.bob, song);
    await task.progressed(30);
    await task.succeeded(start + 60_000);
    const record = {
      id: task.facts.taskId,
      created_at: start / 1000,
      updated_at: start / 1000 + 60,
      task_id: task.facts.publicId,
      platform: 'suno',
      user_id: stage.bob.id,
      channel_id: 4711,
      quota: 50,
      action: 'MUSIC',
      status: 'SUCCESS',
      fail_reason: '',
      submit_time: start / 1000,
      start_time: 0,
      finish_time: start / 1000 + 60,
      progress: '100%',
      properties: { input: '' },
      data: [],
    };
    expect(await list(stage.admin, `task/?task_id=${task.facts.publicId}`)).toEqual([record]);
    expect(await list(stage.bob, `task/self?task_id=${task.facts.publicId}`)).toEqual([{ ...record, channel_id: 0 }]);
  });

  test('is filtered by platform, action, status, channel and seconds', async () => {
    const channelId = ChannelId(4720);
    const music = await submit(stage.bob, { ...song, channelId, at: start + 10_400 });
    const video = await submit(stage.bob, { platform: 'video', action: 'CREATE', channelId, at: start + 20_400 });
    const lyrics = await submit(stage.bob, { ...song, action: 'LYRICS', channelId, at: start + 30_400 });
    await lyrics.failed();
    await submit(stage.bob, { channelId });
    const found = async (query: string) => (await idsOf(stage.admin, `task/?channel_id=4720&${query}`)).reverse();
    const [first, second, third] = [music, video, lyrics].map(({ facts }) => facts.taskId);
    expect(await found('')).toEqual([first, second, third]);
    expect(await found('platform=suno')).toEqual([first, third]);
    expect(await found('platform=midjourney')).toEqual([]);
    expect(await found('action=LYRICS')).toEqual([third]);
    expect(await found('status=FAILURE')).toEqual([third]);
    expect(await found('status=nothing')).toEqual([]);
    expect(await found(`start_timestamp=${start / 1000 + 10}&end_timestamp=${start / 1000 + 20}`)).toEqual([
      first,
      second,
    ]);
  });
});
