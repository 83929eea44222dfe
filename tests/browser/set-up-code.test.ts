import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startFreshGateway } from './fresh-gateway.js';

/** The first run without the link in the log: whoever does it types the code, and so shows that it reads the log. */
function setUpCode(launched: () => Browser): void {
  let gateway: Awaited<ReturnType<typeof startFreshGateway>>;
  let opened: Console;

  beforeAll(async () => {
    gateway = await startFreshGateway({ HOST: '0.0.0.0' });
    opened = await openConsole(launched(), { url: gateway.url });
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
  });

  test('requires the code first, and shows where it is', async () => {
    const { page } = opened;
    await page.goto('/');
    await page.waitForURL('**/setup');
    await page.getByRole('textbox', { name: 'Set-up code' }).waitFor();
    await page.getByText('In the log of the gateway').waitFor();
    await page.getByRole('textbox', { name: 'Administrator user name' }).fill('keeper');
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill('first-password-1');
    await page.getByRole('textbox', { name: 'Confirm password' }).fill('first-password-1');
    await page.getByRole('button', { name: 'Set up the system' }).click();
    await page.getByText('Enter the code from the log of the gateway').waitFor();
  });

  test('refuses a wrong code, and accepts the one in the log', async () => {
    const { page } = opened;
    const field = page.getByRole('textbox', { name: 'Set-up code' });
    await field.fill('AAAA-AAAA-AAAA');
    await page.getByRole('button', { name: 'Set up the system' }).click();
    await page.getByRole('alert').filter({ hasText: 'This is not the set-up code' }).waitFor();
    const [code = ''] = gateway.logged.flatMap((line) => (JSON.parse(line) as { code?: string }).code ?? []);
    expect(code).not.toBe('');
    await field.fill(code);
    await page.getByRole('button', { name: 'Set up the system' }).click();
    await page.getByRole('heading', { name: 'Dashboard', level: 1 }).waitFor();
  });

  test('caused no error in the page', () => {
    expect(opened.problems).toEqual([]);
  });
}

describeInBrowser('the first run of a gateway that others can reach', setUpCode);
