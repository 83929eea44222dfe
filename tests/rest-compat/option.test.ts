import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cast, dataOf, openStage, send, signIn } from './rest-server.js';

let stage: Cast;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.stop());

const refusal = (message: string, data: unknown = null) => ({ success: false, message, data });
const done = { success: true, message: '', data: null };

const put = (key: unknown, value: unknown) => stage.root.put('/api/option/', { key, value });
const options = async (): Promise<Map<string, string>> =>
  new Map(
    dataOf<{ key: string; value: string }[]>(await stage.root.get('/api/option/')).map(({ key, value }) => [
      key,
      value,
    ]),
  );

describe('GET /option/', () => {
  test('lists every option with its effective text', async () => {
    const all = await options();
    expect(all.get('RetryTimes')).toBe('0');
    expect(all.get('DrawingEnabled')).toBe('true');
    expect(all.get('GroupRatio')).toBe('{"default":1,"vip":1,"svip":1}');
    for (const key of [
      'ModelRatio',
      'ModelPrice',
      'CacheRatio',
      'CompletionRatio',
      'UserUsableGroups',
      'TopupGroupRatio',
    ])
      expect(typeof JSON.parse(all.get(key) ?? ''), key).toBe('object');
    expect([...all.values()].every((value) => typeof value === 'string')).toBe(true);
  });
  test('hides secret options, and all named token, secret or key', async () => {
    const secrets = {
      SMTPToken: 'smtp-secret-value',
      GitHubClientSecret: 'github-secret-value',
      EpayKey: 'epay-secret-value',
      'oidc.client_secret': 'oidc-secret-value',
      TurnstileSiteKey: 'site-key-value',
      MyOwnSecret: 'own-secret-value',
    };
    for (const [key, value] of Object.entries(secrets)) expect((await put(key, value)).json).toEqual(done);
    const { text } = await stage.root.get('/api/option/');
    for (const [key, value] of Object.entries(secrets)) {
      expect(text).not.toContain(`"${key}"`);
      expect(text).not.toContain(value);
    }
  });
  test.each(['admin', 'alice'] as const)('is refused to %s', async (who) => {
    for (const answer of [
      await stage[who].get('/api/option/'),
      await stage[who].put('/api/option/', { key: 'Notice', value: 'x' }),
      await stage[who].post('/api/option/rest_model_ratio'),
    ])
      expect(answer.json).toEqual(refusal('无权进行此操作，权限不足'));
  });
});

describe('PUT /option/', () => {
  test('accepts text, and scalars for text', async () => {
    for (const [value, text] of [
      ['2', '2'],
      [3, '3'],
    ] as const) {
      expect((await put('RetryTimes', value)).json).toEqual(done);
      expect((await options()).get('RetryTimes')).toBe(text);
    }
    expect((await put('DefaultCollapseSidebar', true)).json).toEqual(done);
    expect((await options()).get('DefaultCollapseSidebar')).toBe('true');
    await put('Notice', 'hello');
    await put('Notice', null);
    expect((await options()).get('Notice')).toBe('');
  });
  test.each([
    ['RetryTimes', '5', '', '0'],
    ['ChannelDisableThreshold', '2.5', '', '0'],
    ['QuotaForNewUser', '100', null, '0'],
    ['SMTPPort', '25', '', ''],
    ['DefaultCollapseSidebar', 'true', '', 'false'],
  ])('treats an emptied field as none: %s', async (key, before, value, after) => {
    expect((await put(key, before)).json).toEqual(done);
    expect((await put(key, value)).json).toEqual(done);
    expect((await options()).get(key)).toBe(after);
  });
  test('of a number that cannot be zero treats an emptied field as never set', async () => {
    const quotaPerUnit = async () =>
      dataOf<{ quota_per_unit: number }>(await stage.root.get('/api/status')).quota_per_unit;
    expect((await put('QuotaPerUnit', '1000')).json).toEqual(done);
    expect(await quotaPerUnit()).toBe(1000);
    expect((await put('QuotaPerUnit', '')).json).toEqual(done);
    expect(await quotaPerUnit()).toBe(500_000);
    expect((await put('QuotaPerUnit', '0')).json).toMatchObject({ success: false });
  });
  test('stores unknown options', async () => {
    expect((await put('SomethingNew', 'kept')).json).toEqual(done);
    expect((await options()).get('SomethingNew')).toBe('kept');
  });
  test.each([['nonsense'], [[]], [{ key: 'Notice', value: {} }], [{ key: 7, value: 'x' }], [{ value: 'x' }]])(
    'answers 400 to %j',
    async (body) => {
      const answer = await stage.root.put('/api/option/', body);
      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({ success: false, message: '无效的参数' });
    },
  );
  test.each([
    ['GroupRatio', '{"default":1,"vip":-0.5}', 'group ratio must be not less than 0: vip'],
    ['ModelRatio', '{"gpt-4o":', 'ModelRatio 的值无效（a JSON object of numbers from 0 by name）'],
    ['Chats', '{}', 'Chats 的值无效（a JSON array）'],
    ['RetryTimes', 'many', 'RetryTimes 的值无效（an integer from 0 to 100）'],
    ['RegisterEnabled', 'yes', 'RegisterEnabled 的值无效（"true" or "false"）'],
    ['DataExportDefaultTime', 'year', 'DataExportDefaultTime 的值无效（one of hour, day, week）'],
    [
      'CheckSensitiveOnCompletionEnabled',
      'true',
      'CheckSensitiveOnCompletionEnabled 无法更改，只能为 false：本网关不检查模型的输出，内容随到随转发',
    ],
    ['DataExportInterval', '10', 'DataExportInterval 无法更改，只能为 5：统计数据即时更新，没有更新间隔'],
  ])('validates before it stores: %s %s', async (key, value, message) => {
    const before = await options();
    const answer = await put(key, value);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ success: false, message });
    expect(await options()).toEqual(before);
  });
  test.each([
    ['GitHubOAuthEnabled', '无法启用 GitHub OAuth，请先填入 GitHub Client Id 以及 GitHub Client Secret！'],
    ['oidc.enabled', '无法启用 OIDC 登录，请先填入 OIDC Client Id 以及 OIDC Client Secret！'],
    ['LinuxDOOAuthEnabled', '无法启用 LinuxDO OAuth，请先填入 LinuxDO Client Id 以及 LinuxDO Client Secret！'],
    ['WeChatAuthEnabled', '无法启用微信登录，请先填入微信登录相关配置信息！'],
    ['TelegramOAuthEnabled', '无法启用 Telegram OAuth，请先填入 Telegram Bot Token！'],
  ])('does not enable %s before its settings are present', async (key, message) => {
    expect((await put(key, 'true')).json).toEqual(refusal(message));
    expect((await put(key, 'false')).json).toEqual(done);
  });
  test('does not enable the human check without a site key, nor mail domains without a list', async () => {
    await put('TurnstileSiteKey', '');
    expect((await put('TurnstileCheckEnabled', 'true')).json).toEqual(
      refusal('无法启用 Turnstile 校验，请先填入 Turnstile 校验相关配置信息！'),
    );
    await put('EmailDomainWhitelist', '');
    expect((await put('EmailDomainRestrictionEnabled', 'true')).json).toEqual(
      refusal('无法启用邮箱域名限制，请先填入限制的邮箱域名！'),
    );
  });
  test('enables options with their settings present', async () => {
    await put('GitHubClientId', 'client-1');
    await put('GitHubClientSecret', 'secret-1');
    expect((await put('GitHubOAuthEnabled', 'true')).json).toEqual(done);
    expect(dataOf<object>(await send(stage.url, 'GET', '/api/status'))).toMatchObject({
      github_oauth: true,
      github_client_id: 'client-1',
    });
  });
});

describe('POST /option/rest_model_ratio', () => {
  test('restores the built-in ratios', async () => {
    const initial = (await options()).get('ModelRatio') ?? '';
    await put('ModelRatio', '{"gpt-4o":99}');
    expect((await options()).get('ModelRatio')).toBe('{"gpt-4o":99}');
    expect((await stage.root.post('/api/option/rest_model_ratio')).json).toEqual({
      success: true,
      message: '重置模型倍率成功',
      data: null,
    });
    expect((await options()).get('ModelRatio')).toBe(initial);
    expect(JSON.parse(initial)).toMatchObject({ 'gpt-4o': 1.25 });
  });
});

describe('PUT /option/ of a map of prices, read by an older client before a record changed', () => {
  const model = 'recorded-model';
  const priced = (usd: string) => [{ tokens: { input: { usd } } }];
  const record = async (usd: string): Promise<void> => {
    const { application, root } = stage.gateway;
    const order = { model, periods: priced(usd), seenAt: null };
    await application.visible(await application.prices.changePrices(root, [order], { kind: 'editor' }));
  };
  const ratios = async (): Promise<Record<string, number>> => JSON.parse((await options()).get('ModelRatio') ?? '');

  test('is refused with the advice to reload, and stored after it', async () => {
    await record('2');
    const read = await ratios();
    expect(read[model]).toBe(1);
    await record('8');
    const answer = await put('ModelRatio', JSON.stringify({ ...read, 'another-model': 7 }));
    expect(answer.json).toEqual(refusal('该配置刚刚被他人修改，请刷新后重试'));
    const again = await ratios();
    expect([again[model], again['another-model']]).toEqual([4, undefined]);
    expect((await put('ModelRatio', JSON.stringify({ ...again, 'another-model': 7 }))).json).toEqual(done);
    expect(await ratios()).toMatchObject({ [model]: 4, 'another-model': 7 });
  });

  test('is stored twice without another read, because the client has written the current version', async () => {
    const read = await ratios();
    for (const ratio of [2, 3]) {
      expect((await put('ModelRatio', JSON.stringify({ ...read, [model]: ratio }))).json).toEqual(done);
      await put('CompletionRatio', JSON.stringify({ [model]: ratio }));
    }
    expect((await ratios())[model]).toBe(3);
  });

  test('is stored for a program without a read', async () => {
    const { url } = stage;
    const program = await signIn(url, 'root', stage.gateway.rootPassword);
    expect((await program.put('/api/option/', { key: 'ModelRatio', value: `{"${model}":9}` })).json).toEqual(done);
    expect((await ratios())[model]).toBe(9);
  });
});
