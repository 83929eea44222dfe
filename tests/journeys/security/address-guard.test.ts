import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* UPSTREAM_ADDRESS_GUARD on a running gateway. What is blocked here is a server of the test, which must hear nothing. */

let gateway: TestGateway;
let callers: Callers;
let upstream: Upstream;
let asked = 0;

beforeAll(async () => {
  gateway = await startTestGateway({ UPSTREAM_ADDRESS_GUARD: 'true', UPSTREAM_ALLOWED_NETWORKS: '127.0.0.1' });
  callers = openCallers(gateway.url);
  upstream = await startUpstream((_, response) => {
    asked++;
    response.end('{}');
  });
  await gateway.setOption('SelfUseModeEnabled', 'true');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});

test('a private address is neither called nor tested, and nothing is charged', async () => {
  // Another name of this machine, which the operator has not allowed.
  const id = await gateway.addChannel({ models: ['inside'], baseUrl: upstream.url.replace('127.0.0.1', '127.0.0.2') });
  const user = await gateway.addUser(1_000_000);
  const answer = await callers.with(await gateway.addApiKey(user)).chat({ model: 'inside' });
  expect([answer.status, errorIn(answer).code]).toEqual([500, 'do_request_failed']);
  expect(errorIn(answer).message).toContain('the address of the upstream is not allowed');
  expect((await lineOf(gateway, user, answer)).quota).toBe(0);
  const tested = await gateway.application.channels.test(gateway.root, id, '');
  expect(tested).toMatchObject({ ok: false, message: expect.stringContaining('is not allowed') });
  expect(asked).toBe(0);
});

test('a private address is not called over a WebSocket either', async () => {
  const baseUrl = upstream.url.replace('127.0.0.1', '127.0.0.2');
  await gateway.addChannel({ type: 18, models: ['SparkDesk'], baseUrl, key: 'app|secret|key' });
  const caller = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000)));
  for (const stream of [false, true]) {
    const answer = await caller.chat({ model: 'SparkDesk', stream });
    expect([answer.status, errorIn(answer).code]).toEqual([500, 'do_request_failed']);
    expect(errorIn(answer).message).toContain('the address of the upstream is not allowed');
  }
  expect(asked).toBe(0);
});

test('a private address is not queried for its models, with a stored or a typed key', async () => {
  const baseUrl = upstream.url.replace('127.0.0.1', '127.0.0.2');
  const { channels } = gateway.application;
  const blocked = { code: 'models-not-told', details: { reason: 'the address of the upstream is not allowed' } };
  const id = await gateway.addChannel({ models: ['listed inside'], baseUrl });
  await expect(channels.upstreamModels(gateway.root, id, null)).rejects.toMatchObject(blocked);
  const draft = { type: 1, baseUrl, key: 'sk-typed' };
  await expect(channels.upstreamModels(gateway.root, null, draft)).rejects.toMatchObject(blocked);
  expect(asked).toBe(0);
});

test('an address that the operator allows is called', async () => {
  await gateway.addChannel({ models: ['allowed'] });
  const caller = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000)));
  expect((await caller.chat({ model: 'allowed' })).status).toBe(200);
});
