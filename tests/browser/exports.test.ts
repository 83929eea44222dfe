import { readFile } from 'node:fs/promises';
import type { Browser, Download } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';

/** A month of one's own, taken away as files. */
function exports(launched: () => Browser): void {
  let gateway: TestGateway;
  let reader: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel();
    const user = await gateway.addUser(500_000, 'reader');
    const key = await gateway.addApiKey(user);
    const asked = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] }),
    });
    expect(asked.status).toBe(200);
    await asked.text();
    reader = await openConsole(launched(), { url: gateway.url, timezone: 'Asia/Shanghai' });
    await signIn(reader, user);
    await reader.page.goto('/topup');
  });
  afterAll(async () => {
    await reader?.close();
    await gateway?.stop();
  });

  const section = () => reader.page.getByRole('region', { name: 'Export' });
  const download = async (button: string): Promise<Download> => {
    const downloading = reader.page.waitForEvent('download');
    await section().getByRole('button', { name: button }).click();
    return downloading;
  };
  const rowsOf = async (file: Download): Promise<string[][]> => {
    const text = await readFile(await file.path(), 'utf8');
    const rows = text.trimEnd().split('\r\n');
    return rows.map((row) => row.split(','));
  };

  test('a statement goes from balance to balance, and ends with the displayed one', async () => {
    const { page } = reader;
    const month = await section().getByLabel('Month').inputValue();
    const file = await download('Statement (CSV)');
    expect(file.suggestedFilename()).toMatch(new RegExp(`^statement-\\d+-${month}\\.csv$`));
    const [header, ...rows] = await rowsOf(file);
    expect(header?.[0]).toBe('\uFEFFtime (Asia/Shanghai)');
    expect(rows.map(([, kind]) => kind)).toEqual(['opening', 'adjustment', 'calls', 'closing']);
    const [opening, closing] = [rows.at(0)?.[5], rows.at(-1)?.[5]].map(Number);
    const moved = rows.reduce((sum, [, , , amount]) => sum + Number(amount), 0);
    expect((opening ?? Number.NaN) + moved).toBe(closing);
    expect(closing).toBeLessThan(500_000);
    const inSight = `$${Number(rows.at(-1)?.[6]).toFixed(4)}`;
    await page.getByRole('status', { name: 'Balance' }).getByText(inSight, { exact: true }).waitFor();
    await page.getByText(`${file.suggestedFilename()} has been downloaded`).waitFor();
  });

  test('usage has a line for each call', async () => {
    const [header, ...rows] = await rowsOf(await download('Usage (CSV)'));
    expect([header?.[2], rows.length, rows[0]?.[2]]).toEqual(['model', 1, 'gpt-4o']);
  });

  test('a refused or interrupted export shows an error on its page', async () => {
    const { page } = reader;
    const answers = [
      [429, 'too-many-attempts\n', 'Too many files at once'],
      [503, 'store-unavailable\n', 'The figures are not ready'],
      [404, 'user-not-found\n', 'Cannot be downloaded'],
      [502, '<h1>Bad gateway</h1>', 'the answer of the server cannot be read (502)'],
    ] as const;
    for (const [status, body, words] of answers) {
      const contentType = body.startsWith('<') ? 'text/html' : 'text/plain; charset=utf-8';
      await page.route('**/export/statement.csv?*', (route) => route.fulfill({ status, body, contentType }), {
        times: 1,
      });
      await section().getByRole('button', { name: 'Statement (CSV)' }).click();
      await section().getByRole('alert').getByText(words).waitFor();
    }
    await page.route('**/export/statement.csv?*', (route) => route.abort(), { times: 1 });
    await section().getByRole('button', { name: 'Statement (CSV)' }).click();
    await section().getByRole('alert').getByText('The download broke off').waitFor();
    await download('Statement (CSV)');
    await section().getByRole('alert').waitFor({ state: 'detached' });
  });

  test('a user without a session is led to the login', async () => {
    const { page } = reader;
    await page.context().clearCookies();
    await section().getByRole('button', { name: 'Statement (CSV)' }).click();
    await page.waitForURL((url) => url.pathname === '/login' && url.searchParams.get('from') === '/topup');
  });

  test('no error occurred in the page', () => {
    expect(reader.problems).toEqual([]);
  });
}

describeInBrowser('a month as a file in the browser', exports);
