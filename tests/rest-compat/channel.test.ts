import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/domain/kernel/failure.js';
import { ChannelId } from '../../src/domain/kernel/ids.js';
import { messageOf } from '../../src/rest-compat/wire/messages.js';
import { until } from '../support/until.js';
import {
  add,
  done,
  list,
  names,
  plain,
  record,
  refusal,
  search,
  stage,
  stageWithoutChannels,
} from './channel-setting.js';
import { send } from './rest-server.js';

stageWithoutChannels();

describe('POST /channel/', () => {
  test('uses defaults for absent members', async () => {
    const channel = await add();
    expect(channel).toEqual({
      id: channel.id,
      type: 1,
      key: '',
      openai_organization: null,
      test_model: null,
      status: 1,
      name: 'east',
      weight: 0,
      created_time: channel.created_time,
      test_time: 0,
      response_time: 0,
      base_url: '',
      other: '',
      balance: 0,
      balance_updated_time: 0,
      models: 'gpt-4o,gpt-4o-mini',
      group: 'default',
      used_quota: 0,
      model_mapping: null,
      status_code_mapping: '',
      priority: 0,
      auto_ban: 1,
      other_info: '',
      tag: null,
      setting: null,
      param_override: null,
      max_input_tokens: 0,
    });
    expect(channel.created_time).toBeGreaterThan(1_700_000_000);
  });
  test('accepts every member', async () => {
    const given = {
      type: 8,
      name: 'full',
      status: 2,
      weight: 5,
      priority: -3,
      base_url: 'https://upstream.example/v9',
      other: 'v1',
      openai_organization: 'org-1',
      test_model: 'gpt-4o-mini',
      tag: 'eu',
      setting: '{"force_format":true}',
      param_override: '{"temperature":0}',
      model_mapping: '{"gpt-4o":"gpt-4o-2024-11-20"}',
      status_code_mapping: '{"400":"500"}',
      models: 'gpt-4o',
      group: 'default,vip',
      auto_ban: 0,
      max_input_tokens: 4_096,
    };
    expect(await add({ ...given, id: 99, created_time: null, test_time: 5, response_time: 5 })).toMatchObject(given);
  });
  test('adds one channel per line of the key', async () => {
    await add({ key: 'sk-1\n\n sk-2 \nsk-3\n', name: 'lines' });
    expect(await names()).toEqual(['lines', 'lines', 'lines']);
    expect(await search('keyword=sk-2')).toEqual(['lines']);
  });
  test.each([
    [{ type: 0 }, '未知的渠道类型'],
    [{ type: 4711 }, '未知的渠道类型'],
    [
      { type: 41, key: '{}', other: 'us-central1' },
      '无效的参数：key（the JSON document of a service account with project_id）',
    ],
    [{ key: '' }, '渠道密钥不能为空'],
    [{ key: ' \n ' }, '渠道密钥不能为空'],
    [{ models: 'm'.repeat(256) }, `模型名称过长: ${'m'.repeat(64)}`],
    [{ base_url: 'ftp://x' }, '无效的参数：base_url（an http:// or https:// address）'],
    [{ model_mapping: '{' }, '无效的参数：model_mapping（a JSON object）'],
    [{ setting: '[]' }, '无效的参数：setting（a JSON object）'],
    [{ setting: '{"proxy":7}' }, '无效的参数：setting.proxy（text: the address of a proxy）'],
    [{ weight: -1 }, '无效的参数：weight（an integer from 0 to 2147483647）'],
    [{ weight: '1' }, '无效的参数：weight（an integer）'],
    [{ type: '1' }, '无效的参数：type（an integer）'],
  ])('refuses %j', async (body, message) => {
    const answer = await stage.admin.post('/api/channel/', { ...plain, ...body });
    expect(answer.json).toMatchObject({ success: false, message });
    expect(await list()).toEqual([]);
  });
});

describe('PUT /channel/', () => {
  const put = (body: object) => stage.admin.put('/api/channel/', body);

  test('treats empty texts and zeros of required members as unchanged', async () => {
    const before = await add({
      name: 'kept',
      group: 'vip',
      other: 'v1',
      base_url: 'https://a.example',
      weight: 4,
      tag: 'eu',
    });
    const answer = await put({
      id: before.id,
      name: '',
      type: 0,
      key: '',
      other: '',
      models: '',
      group: '',
      status: 0,
      base_url: null,
      weight: null,
      tag: null,
    });
    expect(answer.json).toEqual({ success: true, message: '', data: before });
    expect(await search('keyword=sk-east')).toEqual(['kept']);
  });
  test('clears the other members', async () => {
    const { id } = await add({
      base_url: 'https://a.example',
      weight: 4,
      priority: 9,
      auto_ban: 1,
      tag: 'eu',
      model_mapping: '{"a":"b"}',
      setting: '{"force_format":true}',
      test_model: 'gpt-4o',
      status_code_mapping: '{"400":"500"}',
    });
    const cleared = {
      base_url: '',
      weight: 0,
      priority: 0,
      auto_ban: 0,
      model_mapping: '',
      setting: '',
      test_model: '',
      status_code_mapping: '',
    };
    expect((await put({ id, ...cleared, tag: '', key: 'sk-east' })).json.data).toMatchObject({ ...cleared, tag: null });
  });
  test('accepts a single switch and a single number', async () => {
    const { id } = await add();
    expect((await put({ id, status: 2 })).json.data).toMatchObject({ status: 2, name: 'east' });
    expect((await put({ id, status: 1 })).json.data).toMatchObject({ status: 1 });
    expect((await put({ id, priority: 7 })).json.data).toMatchObject({ priority: 7, weight: 0 });
    expect((await put({ id, weight: 3 })).json.data).toMatchObject({ priority: 7, weight: 3 });
  });
  test('accepts a whole record back, with hidden members unchanged', async () => {
    const setting = '{"force_format":true,"proxy":"http://user:pass@proxy.example:8080"}';
    const { id } = await add({ setting });
    const [listed] = await list();
    // The password of a proxy is for the proxy: the record that comes back without it changes nothing.
    expect(listed?.setting).toBe('{"force_format":true,"proxy":"http://proxy.example:8080"}');
    expect((await put(listed ?? {})).json.data).toEqual(listed);
    const { queries } = stage.gateway.application;
    const row = await queries.channel(stage.gateway.root, ChannelId(id));
    const proxies = await queries.channelProxies(stage.gateway.root, [row]);
    expect(proxies.get(row.id)).toBe('http://user:pass@proxy.example:8080');
    expect(await search('keyword=sk-east')).toEqual(['east']);
    expect((await put({ id, setting: '{"force_format":true}' })).json.data).toMatchObject({
      setting: '{"force_format":true}',
    });
  });
  test('changes the key, for every reader of it', async () => {
    const { id } = await add();
    await put({ id, key: 'sk-new' });
    expect(await search('keyword=sk-new')).toEqual(['east']);
    expect(await search('keyword=sk-east')).toEqual([]);
  });
  test('leaves an automatically disabled channel as it is when its record is sent back', async () => {
    const { gateway, users } = stage;
    await gateway.setOption('AutomaticDisableChannelEnabled', 'true');
    const { id } = await add({ base_url: gateway.provider.url, models: 'gpt-4o-mini' });
    gateway.provider.script('gpt-4o-mini', { kind: 'refuse', status: 401 });
    const key = await gateway.addApiKey(users.alice);
    await send(gateway.url, 'POST', '/v1/chat/completions', {
      headers: { authorization: `Bearer ${key}` },
      body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
    });
    const switchedOff = await until(async () => {
      const now = await record(id);
      return now.status === 3 ? now : null;
    });
    gateway.provider.reset();
    expect(JSON.parse(String(switchedOff.other_info))).toEqual({
      status_reason: expect.stringContaining('401'),
      status_time: expect.any(Number),
    });
    expect((await put({ ...switchedOff, name: 'renamed' })).json.data).toEqual({ ...switchedOff, name: 'renamed' });
    expect((await put({ id, status: 1 })).json.data).toMatchObject({ status: 1 });
  });
  test.each([
    [{}, 'record not found'],
    [{ id: 4711, name: 'x' }, 'record not found'],
    [{ id: '1' }, '无效的参数：id（an integer）'],
  ])('refuses %j', async (body, message) => {
    expect((await put(body)).json).toMatchObject({ success: false, message });
  });
  test('refuses an unknown type', async () => {
    const { id } = await add();
    const wrong = refusal('未知的渠道类型', { field: 'type', type: 4711 });
    expect((await put({ id, type: 4711 })).json).toEqual(wrong);
  });
  test('reports a missing region in the texts of the contract', () => {
    expect(messageOf(new Failure('region-missing'))).toBe('部署地区不能为空');
    expect(messageOf(new Failure('region-default-missing'))).toBe('部署地区必须包含default字段');
  });
});

describe('the lists of channels', () => {
  test('are sorted by priority, or by id on request, with pages counted from 0', async () => {
    for (const [name, priority] of [
      ['low', 0],
      ['high', 9],
      ['middle', 5],
    ] as const)
      await add({ name, priority });
    expect(await names()).toEqual(['high', 'middle', 'low']);
    expect(await names('id_sort=true')).toEqual(['middle', 'high', 'low']);
    expect(await names('p=0&page_size=2')).toEqual(['high', 'middle']);
    expect(await names('p=1&page_size=2')).toEqual(['low']);
    expect(await names('p=-1&page_size=-1')).toHaveLength(3);
    expect(await names('p=7')).toEqual([]);
  });
  test('count tags in tag mode and contain all channels of the tags', async () => {
    await add({ name: 'a1', tag: 'a' });
    await add({ name: 'a2', tag: 'a' });
    await add({ name: 'b1', tag: 'b' });
    await add({ name: 'untagged' });
    expect(await names('tag_mode=true&page_size=1')).toEqual(['a2', 'a1']);
    expect(await names('tag_mode=true&p=1&page_size=1')).toEqual(['b1']);
    expect(await search('tag_mode=true&keyword=a1')).toEqual(['a2', 'a1']);
  });
  test('are searched by name, id, whole key, model and group', async () => {
    const { id } = await add({ name: '100%_up', models: 'gpt-4o', group: 'vip,svip' });
    await add({ name: '1000 up', models: 'claude-3', group: 'default' });
    const worded = (name: string, text: string) => search(`${name}=${encodeURIComponent(text)}`);
    expect(await worded('keyword', '100_')).toEqual(['1000 up', '100%_up']);
    expect(await worded('keyword', '100%_up')).toEqual(['1000 up', '100%_up']);
    expect(await worded('keyword', '100__up')).toEqual(['1000 up', '100%_up']);
    expect(await worded('keyword', '100___up')).toEqual([]);
    expect(await worded('model', 'g%o')).toEqual(['100%_up']);
    expect(await worded('keyword', '100\\%')).toEqual([]);
    const tooMany = await stage.admin.get(`/api/channel/search?keyword=${encodeURIComponent('%a'.repeat(6))}`);
    expect(tooMany.json).toMatchObject({ success: false, data: { field: 'keyword' } });
    expect(await search(`keyword=${id}`)).toContain('100%_up');
    expect(await search('keyword=sk-eas')).toEqual([]);
    expect(await search('model=gpt')).toEqual(['100%_up']);
    expect(await search('group=svip')).toEqual(['100%_up']);
    expect(await search('group=sv')).toEqual([]);
    expect(await search('group=null&model=claude')).toEqual(['1000 up']);
  });
});

describe('removing channels', () => {
  test('succeeds also where no channels exist', async () => {
    const { id } = await add();
    expect((await stage.admin.delete(`/api/channel/${id}/`)).json).toEqual(done);
    expect((await stage.admin.delete(`/api/channel/${id}`)).json).toEqual(done);
    expect((await stage.admin.delete('/api/channel/-1')).json).toEqual(done);
    expect(await list()).toEqual([]);
  });
  test('removes all that are disabled', async () => {
    await add({ name: 'on' });
    await add({ name: 'off', status: 2 });
    expect((await stage.admin.delete('/api/channel/disabled')).json).toEqual({ success: true, message: '', data: 1 });
    expect(await names()).toEqual(['on']);
  });
  test('removes a batch and returns its number', async () => {
    const ids = [(await add()).id, (await add()).id];
    expect((await stage.admin.post('/api/channel/batch', { ids: [...ids, 4711] })).json).toEqual({
      success: true,
      message: '',
      data: 3,
    });
    expect(await list()).toEqual([]);
  });
  test.each([{}, { ids: [] }, { ids: ['1'] }, { ids: 1 }, 'x'])('requires a batch, not %j', async (body) => {
    expect((await stage.admin.post('/api/channel/batch', body)).json).toMatchObject({
      success: false,
      message: '参数错误',
    });
  });
});

describe('commands to many channels', () => {
  test('tag and untag', async () => {
    const { id } = await add();
    const tag = (value: unknown) => stage.admin.post('/api/channel/batch/tag', { ids: [id, 4711], tag: value });
    expect((await tag('eu')).json).toEqual({ success: true, message: '', data: 2 });
    expect(await record(id)).toMatchObject({ tag: 'eu' });
    await tag(null);
    expect(await record(id)).toMatchObject({ tag: null });
  });
  test('edit a tag: null and empty lists change nothing, an empty name removes the tag', async () => {
    const { id } = await add({ tag: 'eu', weight: 4, priority: 4, model_mapping: '{"a":"b"}' });
    const other = await add({ name: 'other', tag: 'us' });
    const edit = (body: object) => stage.admin.put('/api/channel/tag', { tag: 'eu', ...body });
    expect((await edit({ models: '', groups: null, model_mapping: '', priority: 0, weight: null })).json).toEqual(done);
    expect(await record(id)).toMatchObject({
      models: plain.models,
      group: 'default',
      model_mapping: '{"a":"b"}',
      priority: 0,
      weight: 4,
      tag: 'eu',
    });
    await edit({ models: 'm1', groups: 'vip', new_tag: 'asia' });
    expect(await record(id)).toMatchObject({ models: 'm1', group: 'vip', tag: 'asia' });
    await stage.admin.put('/api/channel/tag', { tag: 'asia', new_tag: '' });
    expect(await record(id)).toMatchObject({ tag: null });
    expect(await record(other.id)).toEqual(other);
  });
  test('disable and enable a tag, automatically disabled channels too', async () => {
    const { id } = await add({ tag: 'eu' });
    for (const [path, status] of [
      ['disabled', 2],
      ['enabled', 1],
    ] as const) {
      expect((await stage.admin.post(`/api/channel/tag/${path}`, { tag: 'eu' })).json).toEqual(done);
      expect(await record(id)).toMatchObject({ status });
    }
  });
  test('require a tag', async () => {
    expect((await stage.admin.put('/api/channel/tag', { tag: '' })).json).toEqual(refusal('tag不能为空'));
    for (const path of ['tag/enabled', 'tag/disabled'])
      expect((await stage.admin.post(`/api/channel/${path}`, {})).json).toMatchObject({
        success: false,
        message: '参数错误',
      });
    expect((await stage.admin.put('/api/channel/tag', [])).json).toMatchObject({ success: false, message: '参数错误' });
  });
  test('move all channels to another address, or the named ones', async () => {
    const [first, second] = [await add(), await add()];
    const move = (body: object) => stage.admin.post('/api/channel/base_url/batch', body);
    expect((await move({ base_url: 'http://all.example' })).json).toMatchObject({
      message: '更改接口地址、渠道类型或代理时，请重新填写渠道密钥',
      data: { field: 'key', changed: 'base_url' },
    });
    await stage.gateway.setOption('RootKeepsChannelKeys', 'true');
    expect((await move({ base_url: 'http://all.example' })).json).toMatchObject({ data: { field: 'key' } });
    const byRoot = (body: object) => stage.root.post('/api/channel/base_url/batch', body);
    expect((await byRoot({ base_url: 'http://all.example' })).json).toEqual(done);
    await byRoot({ base_url: 'https://one.example', ids: [second.id, 4711] });
    expect(await record(first.id)).toMatchObject({ base_url: 'http://all.example' });
    expect(await record(second.id)).toMatchObject({ base_url: 'https://one.example' });
    for (const base_url of ['', 'all.example', 'ftp://all.example', undefined])
      expect((await move({ base_url })).json.success).toBe(false);
  });
  test('keep the host of each channel in place of {host}', async () => {
    const own = await add({ base_url: 'https://own.example:8443/openai' });
    const usual = await add({ base_url: '' });
    const answer = await stage.admin.post('/api/channel/base_url/batch', {
      base_url: '{host}/v2',
      ids: [own.id, usual.id],
    });
    expect(answer.json).toEqual(done);
    expect(await record(own.id)).toMatchObject({ base_url: 'https://own.example:8443/v2' });
    expect(await record(usual.id)).toMatchObject({ base_url: 'https://api.openai.com/v2' });
    // Not another host that begins like it, nor one with a name and a password.
    for (const base_url of ['{host}.evil.example', '{host}@evil.example', '{host}:1/v1'])
      expect((await stage.admin.post('/api/channel/base_url/batch', { base_url, ids: [own.id] })).json.success).toBe(
        false,
      );
    expect(await record(own.id)).toMatchObject({ base_url: 'https://own.example:8443/v2' });
  });
  test('with {host} are refused where no host is known', async () => {
    const { id } = await add({ type: 8, base_url: 'https://custom.example' });
    const put = (body: object) => stage.admin.put('/api/channel/', body);
    expect((await put({ id, base_url: '', key: 'sk-new' })).json.success).toBe(true);
    expect((await put({ id, base_url: '{host}/v1' })).json).toMatchObject({
      success: false,
      data: { field: 'base_url', allowed: expect.stringContaining('{host}') },
    });
  });
  test('find nothing to repair', async () => {
    await add();
    await add();
    expect((await stage.admin.post('/api/channel/fix')).json).toEqual({ success: true, message: '', data: 2 });
  });
});
