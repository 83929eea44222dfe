import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { UsageLogFilter } from '../../../src/projections/models/usage-log/usage-log-filter.js';
import { type Answer, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';

/*
 * Nothing that happened is invisible: a refused call is found by what its caller was answered, a rescued failure by its
 * call.
 */

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let key: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  await gateway.addChannel({ name: 'upstream', models: ['gpt-4o'] });
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});
beforeEach(async () => {
  gateway.provider.reset();
  user = await gateway.addUser(10_000_000);
  key = await gateway.addApiKey(user);
});
afterEach(() => gateway.setOption('RetryTimes', '0'));

const chat = (apiKey: string, model = 'gpt-4o') => callers.with(apiKey).chat({ model });

/** What everybody's log holds, as an administrator sees it; waits for it. */
const logged = (filter: UsageLogFilter) =>
  until(async () => {
    const lines = await gateway.application.queries.logBefore(gateway.root, filter, { limit: 100 }, false);
    return lines.length > 0 ? lines : null;
  });

/** The id that the text of an error ends with. */
const idIn = (answer: Answer): string => /request id: (\w+)/.exec(errorIn(answer).message)?.[1] ?? '';

describe('a refused call is found by the request id of its error', () => {
  test('when there is no channel', async () => {
    const answer = await chat(key, 'no-such-model');
    expect(idIn(answer)).toBe(answer.requestId);
    const line = await lineOf(gateway, user, { requestId: idIn(answer) });
    expect(line).toMatchObject({
      ...{ type: 5, user_id: user.actor.id, model: 'no-such-model', quota: 0, path: '/v1/chat/completions' },
      detail: { kind: 'refused', status: 404, code: 'model_not_found', count: 1, since: null, network: null },
    });
  });

  test('when the quota is insufficient, with nothing moved for it', async () => {
    const poor = await gateway.addUser(0);
    const answer = await chat(await gateway.addApiKey(poor));
    const { detail } = await lineOf(gateway, poor, { requestId: idIn(answer) });
    expect(detail).toMatchObject({ status: 403, code: 'insufficient_user_quota' });
    expect(await gateway.available(poor)).toBe(0);
  });

  test('when its key is disabled: its owner sees it', async () => {
    const { application } = gateway;
    const [apiKey] = (await application.queries.apiKeys(user.actor, { page: 1, size: 1 })).items;
    if (apiKey === undefined) throw new Error('no key');
    await application.visible(await application.apiKeys.setStatus(user.actor, apiKey.id, 'manual'));
    const answer = await until(async () => {
      const refused = await chat(key);
      return refused.status === 401 ? refused : null;
    });
    const { detail, api_key_id } = await lineOf(gateway, user, { requestId: idIn(answer) });
    expect([detail, api_key_id]).toMatchObject([{ code: 'token_disabled' }, apiKey.id]);
  });
});

describe('a call with an unknown key', () => {
  test('is a line without a user, with the network and nothing of the key', async () => {
    const wrong = `sk-${'Zq7'.repeat(16)}`;
    const { requestId } = await chat(wrong, 'a-model-of-a-stranger');
    const [line] = await logged({ requestId });
    expect(line).toMatchObject({
      ...{ user_id: 0, username: '', api_key_name: '', model: '' },
      detail: { code: 'invalid_api_key', network: '127.0.0.0/24' },
    });
    expect(JSON.stringify(line)).not.toContain('Zq7');
    expect(JSON.stringify(line)).not.toContain('a-model-of-a-stranger');
  });

  test('is shown to administrators only', async () => {
    const { requestId } = await chat(`sk-${'0'.repeat(48)}`);
    await logged({ requestId });
    expect(await gateway.application.queries.logBefore(user.actor, { requestId }, { limit: 10 }, true)).toEqual([]);
  });
});

describe('the usage log with refused calls', () => {
  test('is filtered by the code of a refusal', async () => {
    const { requestId } = await chat(key, 'another-missing-model');
    await logged({ requestId });
    const found = await logged({ code: 'model_not_found' });
    expect(found.map(({ request_id }) => request_id)).toContain(requestId);
    expect(await gateway.application.queries.logBefore(gateway.root, { code: 'x' }, { limit: 1 }, false)).toEqual([]);
  });

  test('and the traffic count sixty refusals in a minute, by cause', async () => {
    const poor = await gateway.addApiKey(await gateway.addUser(0));
    const before = gateway.application.queries.traffic(gateway.root).total.requestsPerMinute;
    await Promise.all(Array.from({ length: 30 }, () => chat(poor)));
    await Promise.all(Array.from({ length: 30 }, () => chat(key, 'nobody-serves-this')));
    const { total, refused } = await until(async () => {
      const snapshot = gateway.application.queries.traffic(gateway.root);
      const of = (code: string) => snapshot.refused.find((figures) => figures.code === code)?.perMinute ?? 0;
      return of('insufficient_user_quota') >= 30 && of('model_not_found') >= 30 ? snapshot : null;
    });
    expect(total.requestsPerMinute).toBeLessThanOrEqual(before);
    expect(refused.every(({ perMinute }) => perMinute > 0)).toBe(true);
  });
});

describe('a failed attempt of a call that another channel answered', () => {
  test('is in the line of its call and in the figures of its channel', async () => {
    const models = ['rescued'];
    const mapped = (name: string) => ({ name, models, modelMapping: JSON.stringify({ rescued: `rescued-${name}` }) });
    await gateway.setOption('SelfUseModeEnabled', 'true');
    await gateway.setOption('RetryTimes', '1');
    const failing = await gateway.addChannel({ ...mapped('failing'), priority: 9 });
    const serving = await gateway.addChannel(mapped('serving'));
    gateway.provider.script('rescued-failing', {
      ...{ kind: 'refuse', status: 503 },
      body: { error: { message: 'no', type: 'server_error', code: 'overloaded' } },
    });
    const answer = await chat(key, 'rescued');
    expect(answer.status).toBe(200);
    expect(await lineOf(gateway, user, answer)).toMatchObject({
      ...{ type: 2, channel_id: serving, attempts: [failing, serving] },
      failed_attempts: [{ channelId: failing, status: 503, code: 'overloaded', durationMs: expect.any(Number) }],
    });
    const { channels } = gateway.application.queries.traffic(gateway.root);
    const rates = channels.map(({ channelId, errorRate }) => [channelId, errorRate]);
    expect(rates).toEqual(
      expect.arrayContaining([
        [failing, 1],
        [serving, 0],
      ]),
    );
  });
});
