import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.js';
import { type Cast, type Client, dataOf, openStage, send } from './rest-server.js';

let stage: Cast;

interface Line {
  readonly type: number;
  readonly quota: number;
  readonly created_at: number;
}

const linesOf = async (by: Client): Promise<Line[]> =>
  dataOf<{ items: Line[] }>(await by.get('/api/log/?page_size=100')).items;

beforeAll(async () => {
  stage = await openStage();
  const { gateway, users } = stage;
  await gateway.addChannel();
  const key = await gateway.addApiKey(users.alice);
  for (const count of [1, 2]) {
    const answer = await send(gateway.url, 'POST', '/v1/chat/completions', {
      headers: { authorization: `Bearer ${key}` },
      body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
    });
    expect(answer.status).toBe(200);
    const calls = await until(async () => {
      const found = (await linesOf(stage.admin)).filter(({ type }) => type === 2);
      return found.length === count ? found : null;
    });
    // Each call has a second of its own, and both have passed.
    await until(async () => (Date.now() / 1000 >= Math.max(...calls.map((call) => call.created_at)) + 1 ? true : null));
  }
});
afterAll(() => stage.stop());

describe('DELETE /log/', () => {
  const clear = (by: Client, target: string | number) =>
    by.delete(`/api/log/${target === '' ? '' : `?target_timestamp=${target}`}`);
  const refused = (message: string) => ({ success: false, message, data: null });

  test.each(['', 0, 'soon', '1.5'])('requires a target time: %j is refused', async (target) => {
    expect((await clear(stage.admin, target)).json).toEqual(refused('target timestamp is required'));
  });
  test('is for administrators', async () => {
    expect((await clear(stage.alice, 1)).json).toEqual(refused('无权进行此操作，权限不足'));
  });
  test.each([-5, 99_999_999_999])('names an invalid target: %i', async (target) => {
    const { status, json } = await clear(stage.admin, target);
    expect([status, json.success]).toEqual([200, false]);
    expect(json.message).toMatch(/^无效的参数：target_timestamp（/);
  });
  test('removes older lines of every type, and returns their number', async () => {
    const lines = await linesOf(stage.admin);
    const border = Math.max(...lines.map(({ created_at }) => created_at));
    const older = lines.filter(({ created_at }) => created_at < border);
    expect(new Set(older.map(({ type }) => type)).size).toBeGreaterThan(1);
    const stat = async () => dataOf<{ quota: number; request_count: number }>(await stage.admin.get('/api/log/stat'));
    expect((await clear(stage.admin, border)).json).toEqual({ success: true, message: '', data: older.length });
    const left = lines.filter(({ created_at }) => created_at >= border);
    expect(await linesOf(stage.admin)).toEqual(left);
    const charged = left.filter(({ type }) => type === 2);
    expect(await stat()).toMatchObject({
      request_count: charged.length,
      quota: charged.reduce((sum, { quota }) => sum + quota, 0),
    });
    expect((await clear(stage.admin, border)).json.data).toBe(0);
  });
});
