import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { isMarked, mark, rowOf, visit } from './tables.js';

/** A channel that works, fails, is switched off by the gateway, and comes back: seen as it happens. */
function channelHealth(launched: () => Browser): void {
  const model = 'gpt-4o-mini';
  let gateway: TestGateway;
  let apiKey: string;
  let opened: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.setOption('AutomaticDisableChannelEnabled', 'true');
    await gateway.addChannel({ name: 'harbour' });
    await gateway.addChannel({ name: 'lighthouse', models: ['gpt-4o'] });
    apiKey = await gateway.addApiKey(await gateway.addUser(1_000_000));
    opened = await openConsole(launched(), { url: gateway.url });
    await signIn(opened, { username: 'root', password: gateway.rootPassword });
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
  });

  const call = async (): Promise<number> => {
    const { status, body } = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello?' }] }),
    });
    await body?.cancel();
    return status;
  };

  test('a test shows its response time, and so does the row', async () => {
    const { page } = opened;
    await visit(page, 'Channels');
    const row = rowOf(page, 'Channels', 'harbour');
    await row.getByText('Untested').waitFor();
    await row.getByRole('button', { name: 'Test harbour' }).click();
    await page.getByText(/^harbour answered in \d/).waitFor();
    await row.getByText('Untested').waitFor({ state: 'detached' });
    expect(gateway.provider.tally().byModel).toEqual({ [model]: 1 });
  });

  test('a test that fails shows the reason', async () => {
    const { page } = opened;
    gateway.provider.script('gpt-4o', { kind: 'refuse', status: 500 });
    await rowOf(page, 'Channels', 'lighthouse').getByRole('button', { name: 'Test lighthouse' }).click();
    await page.getByText(/^lighthouse failed its test: .*Simulated refusal 500/).waitFor();
  });

  test('the board changes when the upstream refuses the key, without a reload', async () => {
    const { page } = opened;
    await visit(page, 'Dashboard');
    const row = rowOf(page, 'Channel health', 'harbour');
    await row.getByText('Enabled').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await mark(page);

    gateway.provider.script(model, { kind: 'refuse', status: 401 });
    expect(await call()).not.toBe(200);
    await row.getByText('Auto-disabled').waitFor();
    await row.getByText('httpCode 401').waitFor();
    await page.getByRole('log', { name: 'Just happened' }).getByText('disabled automatically').waitFor();
    expect(await isMarked(page)).toBe(true);
  });

  test('a channel enabled by hand serves again, and the board shows it in another window', async () => {
    const { page } = opened;
    const other = await openConsole(launched(), { url: gateway.url });
    try {
      await signIn(other, { username: 'root', password: gateway.rootPassword });
      await visit(other.page, 'Channels');
      await other.page.getByRole('button', { name: 'Actions for harbour' }).click();
      await other.page.getByRole('menuitem', { name: 'Enable' }).click();
      await other.page.getByText('harbour has been enabled').waitFor();
      expect(other.problems).toEqual([]);
    } finally {
      await other.close();
    }
    await rowOf(page, 'Channel health', 'harbour').getByText('Enabled').waitFor();
    expect(await isMarked(page)).toBe(true);
    gateway.provider.script(model, {});
    expect(await call()).toBe(200);
  });

  test('no error occurred in the page', () => {
    expect(opened.problems).toEqual([]);
  });
}

describeInBrowser('the channel health in the browser', channelHealth);
