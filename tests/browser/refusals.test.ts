import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { barriers } from './axe.js';
import { rowOf } from './tables.js';

/* What people see of calls that were refused, in a browser and a gateway of its own. */

describeInBrowser('refused calls in the browser', (launched) => {
  let gateway: TestGateway;
  let alice: TestUser;
  let user: Console;
  let root: Console;
  let refused = { id: '', text: '' };

  const call = async (key: string, model: string): Promise<typeof refused> => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello?' }] }),
    });
    const { error } = (await answer.json()) as { error: { message: string } };
    return { id: answer.headers.get('x-request-id') ?? '', text: error.message };
  };

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel({ name: 'harbour' });
    alice = await gateway.addUser(0, 'alice');
    refused = await call(await gateway.addApiKey(alice), 'gpt-4o-mini');
    for (let n = 0; n < 12; n++) await call(`sk-${'w'.repeat(48)}`, 'gpt-4o-mini');
    user = await openConsole(launched(), { url: gateway.url });
    await signIn(user, alice);
    root = await openConsole(launched(), { url: gateway.url });
    await signIn(root, { username: 'root', password: gateway.rootPassword });
  });
  afterAll(async () => {
    await user?.close();
    await root?.close();
    await gateway?.stop();
  });

  test('have a row with the reason, and details with a remedy', async () => {
    const { page } = user;
    await page.goto('/log');
    const row = rowOf(page, 'Usage log', 'The balance is not sufficient');
    await row.waitFor();
    await row.getByRole('button', { name: 'Expand', exact: true }).click();
    await page.getByText('Top up, or ask for less output').waitFor();
    expect(await page.getByText('From network').count()).toBe(0);
    expect(await barriers(page)).toEqual([]);
  });

  test('are found by the text of the error, put into the log, with the reason', async () => {
    const { page } = user;
    await page.goto('/log');
    await page.getByRole('searchbox', { name: 'Token name' }).fill(refused.text);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname === `/log/${refused.id}`);
    await page.getByRole('region', { name: 'Refused' }).getByText('insufficient_user_quota').waitFor();
    expect(await barriers(page)).toEqual([]);
  });

  test('are filtered by administrators by code, with the network of unknown callers, and counted on the dashboard by cause', async () => {
    const { page } = root;
    await page.goto('/log?code=invalid_api_key');
    const rows = rowOf(page, 'Usage log', 'No key that works');
    await rows.first().waitFor();
    expect(await rowOf(page, 'Usage log', 'The balance is not sufficient').count()).toBe(0);
    await rows.first().getByRole('button', { name: 'Expand', exact: true }).click();
    await page.getByText('127.0.0.0/24').waitFor();
    // Of the last minute, whatever it took to get here.
    await call(`sk-${'w'.repeat(48)}`, 'gpt-4o-mini');
    await page.goto('/detail');
    await rowOf(page, 'Refused in the last minute', 'invalid_api_key').waitFor();
    expect(await barriers(page)).toEqual([]);
    expect([...user.problems, ...root.problems]).toEqual([]);
  });
});
