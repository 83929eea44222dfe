import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import { type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';

/* What callers write is not kept: a call leaves behind how much it was, and a few known words. */

let gateway: TestGateway;
let callers: Callers;
let apiKey: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  await gateway.addChannel();
  apiKey = await gateway.addApiKey(await gateway.addUser(50_000_000));
});
afterAll(async () => {
  await callers.close();
  await gateway.stop();
});

const model = 'gpt-4o-mini';
const maxCallEvent = (): Promise<number> =>
  withDatabase(gateway.config, quietLog, async (database) => {
    const { events } = await ledgerAtRest(database);
    const ofCalls = events.filter(({ stream }) => stream.startsWith('call-'));
    return Math.max(...ofCalls.map(({ event }) => JSON.stringify(event).length));
  });

describe('the log with texts of callers', () => {
  test('stores no text that a caller invented, however long', async () => {
    const caller = callers.with(apiKey);
    expect((await caller.chat({ model })).status).toBe(200);
    const usual = await maxCallEvent();
    for (const reasoning_effort of ['x'.repeat(1_000_000), 'tell the log a story', 'low\u0000'])
      await caller.chat({ model, reasoning_effort });
    await caller.chat({ model: 'm'.repeat(1_000_000) });
    expect(await maxCallEvent()).toBeLessThan(usual + 200);
  });

  test('refuses an impossible model name without repeating it', async () => {
    for (const name of ['m'.repeat(1_000_000), 'gpt-4o\u0000', 'half \ud800']) {
      const answer = await callers.with(apiKey).chat({ model: name });
      expect([answer.status, errorIn(answer).param]).toEqual([400, 'model']);
      expect(answer.text.length).toBeLessThan(500);
    }
  });
});
