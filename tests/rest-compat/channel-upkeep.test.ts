import { beforeEach, describe, expect, test } from 'vitest';
import { until } from '../support/until.js';
import { startUpstream, type Upstream, type UpstreamCall } from '../support/upstreams/upstream.js';
import { add, type LegacyChannel, record, refusal, stage, stageWithoutChannels } from './channel-setting.js';
import { dataOf } from './rest-server.js';

stageWithoutChannels();

describe('GET /channel/test', () => {
  test('answers at once and tests all channels, once at a time', async () => {
    const waiting: (() => void)[] = [];
    const slow = await startUpstream((_, response) => {
      waiting.push(() => response.writeHead(500).end('{}'));
    });
    const { id } = await add({ base_url: slow.url, models: 'gpt-4o-mini' });
    expect((await stage.admin.get('/api/channel/test')).json).toEqual({ success: true, message: '' });
    expect((await stage.admin.get('/api/channel/test')).json).toEqual(refusal('测试已在运行中'));
    await until(async () => {
      waiting.shift()?.();
      return stage.gateway.application.channels.testRun(stage.gateway.root).running ? null : true;
    });
    expect((await record(id)).test_time).toBeGreaterThan(1_700_000_000);
    await slow.stop();
  });
  test('is for administrators', async () => {
    expect((await stage.alice.get('/api/channel/test')).json).toEqual(refusal('无权进行此操作，权限不足'));
  });
});

describe('the endpoint fetch_models', () => {
  let provider: Upstream;
  let asked: UpstreamCall[];
  let answer: string;
  const listed = (data: readonly string[]) => ({ success: true, message: '', data });
  beforeEach(async () => {
    asked = [];
    answer = '{"data":[{"id":"one"},{"id":"two"}]}';
    provider = await startUpstream((call, response) => {
      asked.push(call);
      if (answer === '') response.writeHead(401).end();
      else response.end(answer);
    });
    return () => provider.stop();
  });

  test('lists the upstream models of a channel for GET /{id}', async () => {
    const { id } = await add({ base_url: provider.url, key: 'sk-east' });
    expect((await stage.admin.get(`/api/channel/fetch_models/${id}/`)).json).toEqual(listed(['one', 'two']));
    expect(asked.at(-1)).toMatchObject({ url: '/v1/models', headers: { authorization: 'Bearer sk-east' } });
    answer = '{"data":null}';
    expect((await stage.admin.get(`/api/channel/fetch_models/${id}`)).json).toEqual(listed([]));
  });
  test('returns the reason of a failure in the texts of the contract for GET /{id}', async () => {
    const { id } = await add({ base_url: provider.url });
    const modelsOf = async (of: unknown) => (await stage.admin.get(`/api/channel/fetch_models/${of}`)).json;
    answer = '';
    expect(await modelsOf(id)).toEqual(refusal('status code: 401'));
    answer = 'no';
    expect(await modelsOf(id)).toEqual(refusal('解析响应失败: the answer is no JSON object'));
    expect(await modelsOf((await add({ type: 18, key: 'a|b|c' })).id)).toEqual(refusal('该类型的渠道没有模型列表'));
    expect(await modelsOf(4711)).toEqual(refusal('record not found'));
    expect(await modelsOf(0)).toEqual(refusal('record not found'));
  });
  test('lists the upstream models of a new channel for POST, requested with the first of its keys', async () => {
    const body = { type: 1, base_url: provider.url, key: 'sk-a\nsk-b' };
    const modelsOf = await stage.admin.post('/api/channel/fetch_models', body);
    expect(modelsOf.json).toEqual(listed(['one', 'two']));
    expect(asked.at(-1)?.headers.authorization).toBe('Bearer sk-a');
    answer = '';
    const refused = await stage.admin.post('/api/channel/fetch_models', body);
    expect([refused.status, refused.json]).toEqual([500, refusal('status code: 401')]);
  });
  test.each([
    'no object',
    { type: 'one', key: 'k' },
    { type: 1 },
    { type: 1, key: 'k', base_url: 'ftp://x' },
    { type: 999, key: 'k' },
  ])('refuses %j for POST', async (body) => {
    const refused = await stage.admin.post('/api/channel/fetch_models', body);
    expect([refused.status, refused.json.message]).toEqual([400, 'Invalid request']);
    expect(asked).toEqual([]);
  });
  test.each([
    ['a type that requires a base URL and has none', { type: 8, key: 'k' }, 'this channel has no base URL'],
    ['a type that requires an account id and has none', { type: 39, key: 'k' }, 'this channel has no account id'],
    ['a type without a list of models', { type: 18, key: 'a|b|c' }, '该类型的渠道没有模型列表'],
  ])('returns what is missing for %s as a client error for POST', async (_title, body, message) => {
    const refused = await stage.admin.post('/api/channel/fetch_models', body);
    expect([refused.status, refused.json]).toEqual([200, refusal(message)]);
    expect(asked).toEqual([]);
  });
  test('is for administrators', async () => {
    const denied = refusal('无权进行此操作，权限不足');
    expect((await stage.alice.get('/api/channel/fetch_models/1')).json).toEqual(denied);
    expect((await stage.alice.post('/api/channel/fetch_models', { type: 1, key: 'k' })).json).toEqual(denied);
  });
});

describe('GET /channel/update_balance', () => {
  let provider: Upstream;
  let left: string;
  beforeEach(async () => {
    left = '12.50';
    provider = await startUpstream((_, response) => {
      if (left === '') response.writeHead(401).end();
      else response.end(JSON.stringify({ balance_infos: [{ currency: 'CNY', total_balance: left }] }));
    });
    return () => provider.stop();
  });
  const addReporting = () => add({ type: 43, base_url: provider.url });

  test('for /{id} returns the balance, and stores it', async () => {
    const { id } = await addReporting();
    expect(await record(id)).toMatchObject({ balance: 0, balance_updated_time: 0 });
    const answer = await stage.admin.get(`/api/channel/update_balance/${id}/`);
    expect(answer.json).toEqual({ success: true, message: '', balance: 12.5 });
    const kept = await record(id);
    expect(kept.balance).toBe(12.5);
    expect(kept.balance_updated_time).toBeGreaterThan(1_700_000_000);
    left = '0';
    await stage.admin.get(`/api/channel/update_balance/${id}`);
    // Only the order for all switches.
    expect(await record(id)).toMatchObject({ balance: 0, status: 1 });
  });
  test('for /{id} returns the reason of a failure in the texts of the contract', async () => {
    const { id } = await addReporting();
    left = '';
    expect((await stage.admin.get(`/api/channel/update_balance/${id}`)).json).toEqual(refusal('status code: 401'));
    const other = await add({ type: 14 });
    expect((await stage.admin.get(`/api/channel/update_balance/${other.id}`)).json).toEqual(refusal('尚未实现'));
    expect((await stage.admin.get('/api/channel/update_balance/4711')).json).toEqual(refusal('record not found'));
    expect((await stage.admin.get('/api/channel/update_balance/0')).json).toEqual(refusal('record not found'));
  });
  test('for all channels skips those without a balance query, and disables those with an empty account', async () => {
    const { id } = await addReporting();
    await add({ type: 14 });
    left = '-0.5';
    expect((await stage.admin.get('/api/channel/update_balance')).json).toEqual({ success: true, message: '' });
    const { status, other_info, balance } = await record(id);
    expect([status, balance]).toEqual([3, -0.5]);
    expect(JSON.parse(String(other_info))).toMatchObject({ status_reason: '余额不足' });
  });
  test.each(['', '/1'])('for %s is for administrators', async (path) => {
    expect((await stage.alice.get(`/api/channel/update_balance${path}`)).json).toEqual(
      refusal('无权进行此操作，权限不足'),
    );
  });
});

describe('GET /channel/test/{id}', () => {
  test('returns the duration, and stores it', async () => {
    const { id } = await add({ base_url: stage.gateway.provider.url, models: 'gpt-4o-mini' });
    const answer = await stage.admin.get(`/api/channel/test/${id}`);
    expect(answer.json).toEqual({ success: true, message: '', time: expect.any(Number) });
    const { test_time, response_time } = (await record(id)) as LegacyChannel & {
      test_time: number;
      response_time: number;
    };
    expect(test_time).toBeGreaterThan(1_700_000_000);
    expect(response_time / 1000).toBe(answer.json.time);
  });
  test('is logged for root, free of charge', async () => {
    const { id } = await add({ base_url: stage.gateway.provider.url, models: 'gpt-4o-mini' });
    await stage.admin.get(`/api/channel/test/${id}?model=gpt-4o-mini`);
    const { items } = dataOf<{ items: object[] }>(await stage.root.get(`/api/log/?channel=${id}`));
    expect(items).toEqual([
      expect.objectContaining({ type: 2, user_id: 1, token_name: '模型测试', content: '模型测试', token_id: 0 }),
    ]);
    expect(dataOf<{ used_quota: number }>(await stage.root.get('/api/user/self')).used_quota).toBe(0);
  });
  test.each([
    ['admin', '请联系管理员设置', 'please contact administrator to set'],
    ['root', '请设置或开始自用模式', 'please set it or start self-use mode'],
  ] as const)('reports %s of a model without a price, in the known form', async (who, hint, inEnglish) => {
    const { id } = await add({ base_url: stage.gateway.provider.url, models: 'no-such-price' });
    const asked = stage.gateway.provider.tally().calls;
    expect((await stage[who].get(`/api/channel/test/${id}`)).json).toEqual({
      success: false,
      message: `模型 no-such-price 倍率或价格未配置, ${hint}；Model no-such-price ratio or price not set, ${inEnglish}`,
      time: 0,
    });
    expect(stage.gateway.provider.tally().calls).toBe(asked);
    // Nothing was tested.
    expect(await record(id)).toMatchObject({ test_time: 0, response_time: 0 });
  });
  test('requires no price once root accepts models without one', async () => {
    const { id } = await add({ base_url: stage.gateway.provider.url, models: 'accepted-without-price' });
    const accept = (accepted: boolean) =>
      stage.root.put('/api/user/setting', {
        notify_type: 'email',
        quota_warning_threshold: 1,
        accept_unset_model_ratio_model: accepted,
      });
    expect((await accept(true)).json.success).toBe(true);
    expect((await stage.admin.get(`/api/channel/test/${id}`)).json).toMatchObject({ success: true });
    await accept(false);
    expect((await stage.admin.get(`/api/channel/test/${id}`)).json).toMatchObject({ success: false });
  });
  test('fails where the upstream reports no usage', async () => {
    const model = 'gpt-4o-mini';
    const { id } = await add({ base_url: stage.gateway.provider.url, models: model });
    stage.gateway.provider.script(model, { usage: 'never' });
    expect((await stage.admin.get(`/api/channel/test/${id}`)).json).toEqual({
      success: false,
      message: 'the upstream reported no usage',
      time: expect.any(Number),
    });
    stage.gateway.provider.script(model, {});
    expect((await stage.admin.get(`/api/channel/test/${id}`)).json).toMatchObject({ success: true });
  });
  test('refuses an unknown channel', async () => {
    expect((await stage.admin.get('/api/channel/test/4711')).json).toEqual({
      success: false,
      message: 'record not found',
      time: 0,
    });
  });
  test('is for administrators', async () => {
    expect((await stage.alice.get('/api/channel/test/1')).json).toEqual(refusal('无权进行此操作，权限不足'));
  });
});
