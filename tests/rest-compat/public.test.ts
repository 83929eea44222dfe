import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cast, dataOf, openStage, send, serveRest } from './rest-server.js';

let stage: Cast;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.stop());

const get = (path: string, headers: Record<string, string> = {}) => send(stage.url, 'GET', path, { headers });

describe('GET /status', () => {
  test('is available to all, with every public member', async () => {
    expect((await get('/api/status')).json).toEqual({
      success: true,
      message: '',
      data: {
        version: '1.2.3',
        start_time: 1_744_300_000,
        setup: true,
        system_name: 'Tallygate',
        logo: '',
        footer_html: '',
        server_address: 'http://localhost:3000',
        docs_link: '',
        top_up_link: '',
        price: 7.3,
        min_topup: 1,
        enable_online_topup: false,
        quota_per_unit: 500_000,
        display_in_currency: true,
        enable_drawing: true,
        enable_task: true,
        enable_data_export: true,
        enable_batch_update: false,
        data_export_default_time: 'hour',
        default_collapse_sidebar: false,
        mj_notify_enabled: false,
        chats: ['NextChat', 'Lobe Chat', 'AI as Workspace', 'AMA', 'OpenCat'].map((name) => ({
          [name]: expect.stringContaining('{key}'),
        })),
        demo_site_enabled: false,
        self_use_mode_enabled: false,
        email_verification: false,
        turnstile_check: false,
        turnstile_site_key: '',
        github_oauth: false,
        github_client_id: '',
        oidc_enabled: false,
        oidc_client_id: '',
        oidc_authorization_endpoint: '',
        linuxdo_oauth: false,
        linuxdo_client_id: '',
        wechat_login: false,
        wechat_qrcode: '',
        telegram_oauth: false,
        telegram_bot_name: '',
      },
    });
  });
  test('follows the options', async () => {
    const { setOption } = stage.gateway;
    await setOption('Chats', '[{"Web":"https://chat.example/#{key}"}]');
    await setOption('ServerAddress', 'https://gate.example');
    await setOption('DisplayInCurrencyEnabled', 'false');
    const status = () => get('/api/status').then(dataOf<object>);
    expect(await status()).toMatchObject({
      chats: [{ Web: 'https://chat.example/#{key}' }],
      server_address: 'https://gate.example',
      display_in_currency: false,
    });
  });
  test('is the same for every user', async () => {
    expect((await get('/api/status', { 'new-api-user': '-1', cookie: 'session=over' })).status).toBe(200);
  });
});

describe('the texts of the operator', () => {
  test.each([
    ['/api/notice', 'Notice'],
    ['/api/about', 'About'],
    ['/api/home_page_content', 'HomePageContent'],
  ])('%s is the option %s', async (path, option) => {
    expect((await get(path)).json).toEqual({ success: true, message: '', data: '' });
    await stage.gateway.setOption(option, '# 你好');
    expect((await get(path)).json).toEqual({ success: true, message: '', data: '# 你好' });
  });
});

describe('GET /status/test', () => {
  test('reports that the server runs', async () => {
    const answer = await stage.admin.get('/api/status/test');
    expect(answer.json).toEqual({ success: true, message: 'Server is running', data: null });
  });
  test('reports when the database does not answer, with one query at most in ten seconds', async () => {
    let asked = 0;
    let now = stage.gateway.application.clock.now();
    const application = { ...stage.gateway.application, clock: { now: () => now } };
    const ping = async (): Promise<boolean> => {
      if (++asked === 2) throw new Error('connection refused');
      return asked > 1;
    };
    const rest = await serveRest(application, { ping });
    const ask = () => send(rest.url, 'GET', '/api/status/test', { headers: stage.admin.headers });
    for (let repeat = 0; repeat < 3; repeat++) {
      const answer = await ask();
      expect(answer.status).toBe(503);
      expect(answer.json).toEqual({ success: false, message: '数据库连接失败', data: null });
    }
    expect(asked).toBe(1);
    now = (now + 10_000) as typeof now;
    expect((await ask()).status).toBe(503);
    now = (now + 10_000) as typeof now;
    expect((await ask()).status).toBe(200);
    expect(asked).toBe(3);
    await rest.stop();
  });
});

describe('the lists for forms', () => {
  test('for GET /group/ have the groups with a ratio', async () => {
    expect(dataOf<string[]>(await stage.admin.get('/api/group/')).sort()).toEqual(['default', 'svip', 'vip']);
    expect((await stage.alice.get('/api/group/')).json.success).toBe(false);
  });
  test('for GET /models have default models by channel type', async () => {
    const { json } = await stage.alice.get('/api/models');
    expect(json).toMatchObject({ success: true, message: '' });
    const models = json.data as Record<string, string[]>;
    expect(models['1']).toContain('gpt-4o-mini');
    expect(models['17']).toContain('qwen-plus');
    expect(models['21']).toEqual(['gpt-3.5-turbo', 'gpt-4']);
    expect(models['36']).toEqual(['suno_music', 'suno_lyrics']);
  });
  test('for GET /channel/models have each model once', async () => {
    const models = dataOf<{ id: string }[]>(await stage.admin.get('/api/channel/models'));
    const ids = models.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(models).toContainEqual({
      id: 'gpt-4o',
      object: 'model',
      created: 1_626_777_600,
      // Azure has it as well; the lowest number counts.
      owned_by: 'openai',
      permission: [],
      root: 'gpt-4o',
      parent: null,
    });
    expect(ids).toContain('command-a-03-2025');
  });
  test('for GET /channel/models_enabled have the models of enabled channels', async () => {
    const { gateway } = stage;
    const id = await gateway.addChannel({ models: ['b', 'a'] });
    await gateway.addChannel({ models: ['a', 'c'], groups: ['vip'] });
    const enabled = async () => dataOf<string[]>(await stage.admin.get('/api/channel/models_enabled'));
    expect(await enabled()).toEqual(['a', 'b', 'c']);
    await stage.admin.put('/api/channel/', { id, status: 2 });
    expect(await enabled()).toEqual(['a', 'c']);
  });
});

describe('GET /pricing', () => {
  interface Priced {
    model_name: string;
  }
  const priceOf = async (model: string) =>
    dataOf<Priced[]>(await get('/api/pricing')).find(({ model_name }) => model_name === model);

  beforeAll(async () => {
    const { gateway } = stage;
    await gateway.setOption('ModelPrice', '{"per-call":0.04}');
    await gateway.setOption('ReasoningRatio', '{"gpt-4o":8}');
    await gateway.setOption('GroupRatio', '{"default":1,"vip":0.8,"svip":0.5}');
    await gateway.addChannel({ models: ['gpt-4o', 'per-call'], groups: ['vip', 'default'] });
    await gateway.addChannel({ models: ['gpt-4o', 'never-heard-of'], groups: ['svip'] });
  });

  test('has models with prices by usage, by call, or without a price', async () => {
    expect(await priceOf('gpt-4o')).toEqual({
      model_name: 'gpt-4o',
      owner_by: '',
      quota_type: 0,
      model_ratio: 1.25,
      model_price: 0,
      completion_ratio: 4,
      cache_ratio: 0.5,
      reasoning_ratio: 8,
      enable_groups: ['default', 'svip', 'vip'],
      create_cache_ratio: 1,
      create_cache_1h_ratio: 1,
      tool_prices: { web_search: 25, code_interpreter: 30 },
      service_tiers: { priority: 1.7 },
    });
    expect(await priceOf('per-call')).toEqual({
      model_name: 'per-call',
      owner_by: '',
      quota_type: 1,
      model_ratio: 0,
      model_price: 0.04,
      completion_ratio: 0,
      cache_ratio: 0,
      reasoning_ratio: 0,
      enable_groups: ['default', 'vip'],
      tool_prices: { web_search: 10, code_interpreter: 30 },
    });
    expect(await priceOf('never-heard-of')).toMatchObject({ quota_type: 0, model_ratio: 37.5, completion_ratio: 1 });
  });
  test('shows visitors the public groups', async () => {
    const { group_ratio, usable_group } = (await get('/api/pricing', { 'new-api-user': '-1' })).json;
    expect(group_ratio).toEqual({ default: 1, vip: 0.8 });
    expect(usable_group).toEqual({ default: '默认分组', vip: 'vip分组' });
  });
  test('shows users their own group, by the cookie only', async () => {
    await stage.root.put('/api/user/', { id: stage.bob.id, group: 'svip' });
    const { group_ratio, usable_group } = (await get('/api/pricing', { cookie: stage.bob.headers.cookie ?? '' })).json;
    expect(group_ratio).toEqual({ default: 1, vip: 0.8, svip: 0.5 });
    expect(usable_group).toEqual({ default: '默认分组', vip: 'vip分组', svip: '用户分组' });
  });
});
