import { describe, expect, test } from 'vitest';
import { Position } from '../../src/domain/events/events.js';
import { ApiKeyId, ChannelId, RedemptionId, UserId } from '../../src/domain/kernel/ids.js';
import { Quota, zero } from '../../src/domain/kernel/quota.js';
import type { Price } from '../../src/domain/pricing/pricing.js';
import type { UsageLogEntry } from '../../src/projections/models/usage-log/usage-log-queries.js';
import { adminLine, userLine } from '../../src/rest-compat/log.js';

/* How a line of the usage log is written for legacy consoles: pure, with every member fixed. */

const byRatio: Price = {
  per: 'token',
  model: '1.25',
  ratios: { output: '4', cachedInput: '0.5', cacheWrite: '1.25', imageInput: '2', reasoning: '8' },
  group: '1',
};
const byCall: Price = { per: 'call', price: '0.04', quotaPerUnit: '500000', group: '0.8' };

const settled: UsageLogEntry = {
  id: Position(5_208),
  created_at: 1_744_300_000,
  type: 2,
  user_id: UserId(7),
  request_id: '20261121070000123abcdEFGH',
  quota: Quota(310),
  uncovered: zero,
  prompt_tokens: 120,
  completion_tokens: 32,
  cached_tokens: 0,
  reasoning_tokens: 0,
  usage: { input: 120, output: 32 },
  model: 'gpt-4o',
  api_key_id: ApiKeyId(12),
  api_key_name: 'ci',
  channel_id: ChannelId(3),
  group: 'default',
  use_time_ms: 2_999,
  first_token_ms: 640,
  is_stream: true,
  upstream_cost: null,
  upstream_model: null,
  attempts: [ChannelId(9), ChannelId(3)],
  failed_attempts: [],
  path: '/v1/chat/completions',
  reasoning_effort: null,
  price: byRatio,
  usage_source: 'upstream',
  outcome: 'completed',
  detail: null,
  username: 'demo7',
  channel_name: 'east',
};

const noCall: Partial<UsageLogEntry> = {
  request_id: null,
  quota: zero,
  prompt_tokens: 0,
  completion_tokens: 0,
  model: '',
  api_key_id: 0,
  api_key_name: '',
  channel_id: 0,
  channel_name: '',
  group: '',
  use_time_ms: 0,
  first_token_ms: null,
  is_stream: false,
  attempts: [],
  path: null,
  price: null,
  usage_source: null,
  outcome: null,
};

const dollars = { inCurrency: true, quotaPerUnit: 500_000 };
const units = { inCurrency: false, quotaPerUnit: 500_000 };
const other = (line: UsageLogEntry): unknown => JSON.parse(adminLine(line, dollars).other);
const content = (line: UsageLogEntry, style = dollars): string => adminLine(line, style).content;

describe('a settled call in the legacy log', () => {
  test('is shown whole to administrators', () => {
    const { other: text, ...record } = adminLine(settled, dollars);
    expect(record).toEqual({
      id: 5_208,
      user_id: 7,
      created_at: 1_744_300_000,
      type: 2,
      content: '模型倍率 1.25，补全倍率 4.00，分组倍率 1.00',
      username: 'demo7',
      token_name: 'ci',
      model_name: 'gpt-4o',
      quota: 310,
      prompt_tokens: 120,
      completion_tokens: 32,
      use_time: 2,
      is_stream: true,
      channel: 3,
      channel_name: 'east',
      token_id: 12,
      group: 'default',
    });
    expect(JSON.parse(text)).toEqual({
      model_ratio: 1.25,
      model_price: -1,
      completion_ratio: 4,
      group_ratio: 1,
      user_group_ratio: -1,
      group: 'default',
      cache_tokens: 0,
      cache_ratio: 0.5,
      frt: 640,
      request_path: '/v1/chat/completions',
      admin_info: { use_channel: ['9', '3'] },
    });
  });
  test('shows users no channels but the last one, and an id that does not disclose a count', () => {
    const line = userLine(settled, dollars);
    expect(line).toMatchObject({ id: 88, channel: 3, channel_name: '' });
    expect(line.other).not.toContain('admin_info');
    expect(JSON.parse(line.other)).toMatchObject({ model_ratio: 1.25, frt: 640 });
  });
  test('at a service tier shows the tier, and its factor', () => {
    const line = { ...settled, price: { ...byRatio, service: { tier: 'priority', factor: '2' } } };
    expect(content(line)).toContain('，服务层级 priority 倍率 2.00');
    expect(other(line)).toMatchObject({ service_tier: 'priority', service_tier_ratio: 2 });
  });
  test('by call has a price instead of ratios', () => {
    const line = { ...settled, price: byCall };
    expect(content(line)).toBe('模型价格 0.04，分组倍率 0.80');
    expect(other(line)).toMatchObject({ model_ratio: 0, model_price: 0.04, completion_ratio: 0, group_ratio: 0.8 });
  });
  test.each([
    ['midjourney', 'IMAGINE', '模型固定价格 0.04，分组倍率 0.80，操作 IMAGINE，ID 17443'],
    ['midjourney', 'SWAP_FACE', '模型固定价格 0.04，分组倍率 0.80，操作 SWAP_FACE'],
    ['suno', 'MUSIC', '模型固定价格 0.04，分组倍率 0.80，操作 MUSIC'],
  ] as const)('of a task on %s shows its price and action %s', (platform, action, text) => {
    const detail = { kind: 'task-submitted', platform, action, publicId: '17443' } as const;
    const line = { ...settled, price: byCall, detail };
    expect(content(line)).toBe(text);
    expect(other(line)).toMatchObject({ model_price: 0.04, group_ratio: 0.8 });
    expect(other(line)).not.toHaveProperty('model_ratio');
  });
  test('without a stream has no first token', () => {
    expect(other({ ...settled, first_token_ms: null })).toMatchObject({ frt: -1000 });
  });
  test('shows every kind of token, the model actually requested and the effort', () => {
    const line = {
      ...settled,
      cached_tokens: 40,
      usage: { cacheWrite: 10, imageInput: 20, reasoning: 5 },
      reasoning_tokens: 5,
      upstream_model: 'gpt-4o-2024-11-20',
      reasoning_effort: 'high',
    };
    expect(other(line)).toMatchObject({
      cache_tokens: 40,
      cache_ratio: 0.5,
      cache_creation_tokens: 10,
      cache_creation_ratio: 1.25,
      image: true,
      image_ratio: 2,
      image_output: 20,
      reasoning_tokens: 5,
      reasoning_ratio: 8,
      is_model_mapped: true,
      upstream_model_name: 'gpt-4o-2024-11-20',
      reasoning_effort: 'high',
    });
    expect(adminLine(line, dollars).prompt_tokens).toBe(120);
  });
  test('in the Claude dialect shows cached tokens separately from the prompt', () => {
    const line = { ...settled, path: '/v1/messages', cached_tokens: 40, usage: { cacheWrite: 10 } };
    expect(adminLine(line, dollars).prompt_tokens).toBe(70);
    expect(other(line)).toMatchObject({ claude: true, cache_tokens: 40, cache_creation_tokens: 10 });
  });
  test('with audio shows audio and text separately, with their ratios', () => {
    const price = {
      ...byRatio,
      ratios: { output: '4', audioInput: '16.666666666667', audioOutput: '33.333333333334' },
    };
    const usage = { input: 20, audioInput: 100, output: 2, audioOutput: 30 };
    const line = { ...settled, model: 'gpt-4o-audio-preview', price, usage };
    expect(other(line)).toMatchObject({
      audio: true,
      audio_input: 100,
      audio_output: 30,
      text_input: 20,
      text_output: 2,
      audio_ratio: 16.666666666667,
      audio_completion_ratio: 2,
    });
    expect(content(line)).toBe('模型倍率 1.25，补全倍率 4.00，音频倍率 16.67，音频补全倍率 2.00，分组倍率 1.00');
    expect(other(settled)).not.toHaveProperty('audio');
  });
  // 2.50 USD in and 15 USD out of a million; beyond 272,000 tokens 5 USD and 22.50 USD.
  const tiered: Price = {
    per: 'token',
    model: '1.25',
    ratios: { output: '6', cachedInput: '0.1' },
    tiers: [{ over: 272_000, ratios: { input: '2', output: '9', cachedInput: '0.2' } }],
    group: '1',
  };
  test('in a context tier shows the ratios by which it was charged, relative to plain input', () => {
    const long = { ...settled, price: tiered, usage: { input: 272_001, output: 10 }, quota: Quota(680_115) };
    expect(content(long)).toBe('模型倍率 2.50，补全倍率 4.50，分组倍率 1.00');
    expect(other(long)).toMatchObject({ model_ratio: 2.5, completion_ratio: 4.5, cache_ratio: 0.1 });
    // What a reader of the log works out of it: 272,001 × 2.5 + 10 × 2.5 × 4.5.
    expect(Math.round(272_001 * 2.5 + 10 * 2.5 * 4.5)).toBe(long.quota);
    const short = { ...long, usage: { input: 272_000, output: 10 } };
    expect(content(short)).toBe('模型倍率 1.25，补全倍率 6.00，分组倍率 1.00');
    expect(other(short)).toMatchObject({ model_ratio: 1.25, completion_ratio: 6, cache_ratio: 0.1 });
  });
  test('by a price whose plain input has a ratio of its own shows all ratios relative to it', () => {
    const ratios = { input: '0.5', cachedInput: '0.1', audioInput: '2', audioOutput: '4' };
    const line = { ...settled, price: { ...byRatio, ratios }, usage: { input: 10, audioInput: 5 } };
    // Output has no ratio of its own: it costs 1, which is twice what plain input does.
    expect(content(line)).toBe('模型倍率 0.63，补全倍率 2.00，音频倍率 4.00，音频补全倍率 2.00，分组倍率 1.00');
    expect(other(line)).toMatchObject({ model_ratio: 0.625, completion_ratio: 2, cache_ratio: 0.2, audio_ratio: 4 });
  });
  test('by a price whose plain input is free shows the ratios as they are', () => {
    const line = { ...settled, price: { ...byRatio, ratios: { input: '0', output: '4' } } };
    expect(content(line)).toBe('模型倍率 1.25，补全倍率 4.00，分组倍率 1.00');
  });
  test('without tokens shows a possible reason', () => {
    const silent = { ...settled, prompt_tokens: 0, completion_tokens: 0, quota: zero };
    expect(content(silent)).toBe('模型倍率 1.25，补全倍率 4.00，分组倍率 1.00（可能是上游超时）');
  });
});

describe('another line of the legacy log', () => {
  const line = (type: UsageLogEntry['type'], detail: UsageLogEntry['detail']): UsageLogEntry => ({
    ...settled,
    ...noCall,
    type,
    detail,
  });
  const granted = (reason: 'setup' | 'signup' | 'invitee' | 'inviter') =>
    line(4, { kind: 'granted', quota: Quota(100_000), reason });

  test.each([
    ['signup', '新用户注册赠送 ＄0.200000 额度'],
    ['invitee', '使用邀请码赠送 ＄0.200000 额度'],
    ['inviter', '邀请用户赠送 ＄0.200000 额度'],
    ['setup', '系统初始化赠送 ＄0.200000 额度'],
  ] as const)('shows quota given for %s', (reason, text) => {
    expect(content(granted(reason))).toBe(text);
  });
  test('shows amounts in units where the operator displays no currency', () => {
    expect(content(granted('signup'), units)).toBe('新用户注册赠送 100000 点额度');
  });
  test.each([
    ['midjourney', '构图失败 17443，补偿 ＄0.200000 额度'],
    ['suno', '异步任务执行失败 17443，补偿 ＄0.200000 额度'],
  ] as const)('shows the refund of a failed task on %s', (platform, text) => {
    const task = { platform, action: 'IMAGINE', publicId: '17443', reason: 'upstream' } as const;
    const refunded = line(4, { kind: 'task-refunded', quota: Quota(100_000), ...task });
    expect(content(refunded)).toBe(text);
    expect(adminLine(refunded, dollars).other).toBe('');
  });
  test('shows an API key that an administrator disabled, by its name', () => {
    const revoked = line(3, { kind: 'api-key-revoked', apiKey: ApiKeyId(12), name: 'ci', by: UserId(1) });
    expect(content(revoked)).toBe('管理员禁用了令牌 ci');
    expect(adminLine(revoked, dollars).other).toBe('');
    expect(userLine(revoked, dollars).other).toBe('null');
  });
  test('shows a redeemed code, with its id', () => {
    const redeemed = line(1, { kind: 'redeemed', quota: Quota(100_000), redemption: RedemptionId(5) });
    expect(content(redeemed)).toBe('通过兑换码充值 ＄0.200000 额度，兑换码ID 5');
    expect(content(redeemed, units)).toBe('通过兑换码充值 100000 点额度，兑换码ID 5');
    expect(adminLine(redeemed, dollars).other).toBe('');
    expect(userLine(redeemed, dollars).other).toBe('null');
  });
  test('shows an adjusted wallet, with the balances before and after', () => {
    const adjusted = line(3, {
      kind: 'adjusted',
      delta: Quota(-150),
      gift: zero,
      by: UserId(1),
      observed: Quota(100),
    });
    expect(content(adjusted, units)).toBe('管理员将用户额度从 100 点额度修改为 -50 点额度');
    expect(content(adjusted)).toBe('管理员将用户额度从 ＄0.000200 额度修改为 ＄-0.000100 额度');
  });
  test('has no further members: empty for administrators, the text null for users', () => {
    expect(adminLine(granted('signup'), dollars).other).toBe('');
    expect(userLine(granted('signup'), dollars).other).toBe('null');
  });
  test('shows a channel test', () => {
    const tested: UsageLogEntry = {
      ...line(2, { kind: 'channel-tested', modelRatio: '0.075', completionRatio: '4', modelPrice: null }),
      attempts: [ChannelId(3)],
    };
    expect(content(tested)).toBe('模型测试');
    expect(other(tested)).toEqual({
      model_ratio: 0.075,
      model_price: -1,
      completion_ratio: 4,
      group_ratio: 1,
      frt: -1000,
      admin_info: { use_channel: ['3'] },
    });
  });
  const refused = (of: { count: number; since: number | null }): UsageLogEntry => ({
    ...line(5, { kind: 'refused', status: 403, code: 'insufficient_user_quota', network: '192.0.2.0/24', ...of }),
    path: '/v1/chat/completions',
  });
  test('shows a refused call', () => {
    const alone = refused({ count: 1, since: null });
    expect(content(alone)).toBe('请求被拒绝，状态码 403，错误 insufficient_user_quota');
    expect(JSON.parse(userLine(alone, dollars).other)).toEqual({
      error_code: 'insufficient_user_quota',
      status_code: 403,
      request_path: '/v1/chat/completions',
    });
  });
  test('shows refused calls without lines of their own, with their number', () => {
    const many = refused({ count: 412, since: 1_800_000_000 });
    expect(content(many)).toBe('请求被拒绝，状态码 403，错误 insufficient_user_quota，同类请求共 412 次，不再逐条记录');
  });
  test('shows a call that could not be served', () => {
    const failed: UsageLogEntry = {
      ...line(5, { kind: 'released', reason: 'upstream-failed', status: 502, code: 'bad_response' }),
      path: '/v1/chat/completions',
    };
    expect(content(failed)).toBe('请求失败，状态码 502，错误 bad_response');
    expect(other(failed)).toEqual({
      error_code: 'bad_response',
      status_code: 502,
      request_path: '/v1/chat/completions',
      admin_info: { use_channel: [] },
    });
  });
});
