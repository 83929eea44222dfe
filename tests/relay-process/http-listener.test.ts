import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { UpgradeRouter } from '../../src/http/upgrade-router.js';
import { openDialectRouter } from '../../src/relay/dialects/router.js';
import { httpListener } from '../../src/relay-process/http-listener.js';

test('a request that fails on its way to a face gets an error response and is logged, and the next one is served', async () => {
  const logged: unknown[] = [];
  const log = { warn: () => {}, error: (facts: unknown) => void logged.push(facts) };
  const server = { requestTimeoutMs: 10_000, hstsSeconds: 0, trustedProxies: ['127.0.0.0/8'] };
  let fails = true;
  const addressOf = (): string => {
    if (fails) throw new Error('no clock here');
    return '203.0.113.9';
  };
  const entrance = openDialectRouter({
    ...{ newRequestId: () => 'id', addressOf, headers: [], elsewhere: [], log, providerName: () => '' },
    relay: null as never,
    directory: null as never,
    vault: null as never,
    clock: null as never,
  });
  const upgrades = new UpgradeRouter(() => {});
  const listening = { server, entrance, upgrades, addressOf, log, isEnding: () => false };
  const listener = httpListener(listening, (request, response) => {
    response.end(request.headers['x-forwarded-for']);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  onTestFinished(() => {
    listener.close();
    listener.closeAllConnections();
  });
  const ask = () =>
    fetch(`http://127.0.0.1:${(listener.address() as AddressInfo).port}/login`, {
      headers: { 'x-forwarded-for': 'unknown' },
    });
  const failed = await ask();
  expect(failed.status).toBe(500);
  expect(await failed.json()).toMatchObject({ error: { code: 'internal_error' } });
  expect(JSON.stringify(logged)).toContain('no clock here');
  fails = false;
  expect(await (await ask()).text()).toBe('203.0.113.9');
});
