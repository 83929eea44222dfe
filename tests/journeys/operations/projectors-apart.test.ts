import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readModels } from '../../../src/projections/read-models.js';
import { type Callers, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';

/* Folding is work of another thread: the one that relays calls does none of it. */

const folded = readModels.map((model) => vi.spyOn(model, 'project'));
let gateway: TestGateway;
let callers: Callers;

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});

test('the relay thread runs no projection, for any of the read models about calls', async () => {
  await gateway.addChannel();
  const user = await gateway.addUser(1_000_000);
  const caller = callers.with(await gateway.addApiKey(user));
  await gateway.setOption('ModelRatio', '{"gpt-4o-mini":1}');
  const answer = await caller.chat({ model: 'gpt-4o-mini' });
  expect(await lineOf(gateway, user, answer)).toMatchObject({ model: 'gpt-4o-mini' });

  const kept = gateway.application.readModels.list(gateway.root).filter(({ leading }) => leading);
  expect(kept.map(({ name }) => name)).toEqual(readModels.map(({ name }) => name));
  for (const project of folded) expect(project).not.toHaveBeenCalled();
});
