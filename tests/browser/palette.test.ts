import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { barriers } from './axe.js';

/** Anywhere by its name, with the keyboard alone. */
function palette(launched: () => Browser): void {
  let gateway: TestGateway;
  let user: TestUser;
  let admin: Console;
  let opened: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel();
    user = await gateway.addUser(0, 'zebedee');
    await gateway.addApiKey(user);
    admin = await openConsole(launched(), { url: gateway.url });
    opened = await openConsole(launched(), { url: gateway.url, theme: 'dark' });
    await signIn(admin, { username: 'root', password: gateway.rootPassword });
    await signIn(opened, user);
  });
  afterAll(async () => {
    await admin?.close();
    await opened?.close();
    await gateway?.stop();
  });

  const inside = ({ page }: Console) => {
    const dialog = page.getByRole('dialog', { name: 'Go to' });
    return { dialog, field: dialog.getByRole('combobox'), options: dialog.getByRole('option') };
  };

  test('Ctrl-K opens it, arrows choose, Enter goes; Escape closes it and stays on the page', async () => {
    const { page } = admin;
    const { dialog, field, options } = inside(admin);
    await page.keyboard.press('Control+k');
    await field.waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.type('sett');
    await expect.poll(() => options.allTextContents()).toEqual(['Personal settingsPage', 'SettingsPage']);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => options.nth(1).getAttribute('aria-selected')).toBe('true');
    const active = await field.getAttribute('aria-activedescendant');
    expect(await options.nth(1).getAttribute('id')).toBe(active);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/setting');
    await dialog.waitFor({ state: 'detached' });

    await page.keyboard.press('Control+k');
    // Where one has been by it comes first.
    await expect.poll(() => options.first().textContent()).toBe('SettingsPage');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe('/setting');
  });

  test('an administrator finds channels and users, and the address opens them', async () => {
    const { page } = admin;
    const { dialog, field, options } = inside(admin);
    await page.keyboard.press('Control+k');
    await field.fill('zebed');
    await dialog.getByRole('option', { name: 'zebedee' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/user?open=${user.actor.id}`);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().waitFor();

    await page.goto('/detail');
    await page.getByRole('button', { name: 'Go to a page or a thing (Ctrl+K)' }).click();
    await field.fill('upstream');
    await expect.poll(() => options.allTextContents()).toContain('upstreamChannel');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/channel?open=*');
    await page.getByRole('dialog', { name: 'Edit channel upstream' }).waitFor();
  });

  test('a user finds own tokens and pages, and nothing of others', async () => {
    const { page } = opened;
    const { dialog, field, options } = inside(opened);
    await page.keyboard.press('Control+k');
    await field.waitFor();
    await page.keyboard.type('test');
    await dialog.getByRole('option', { name: 'test key' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    for (const hidden of ['upstream', 'root', 'Channels', 'Users']) {
      await page.keyboard.press('Control+a');
      await page.keyboard.type(hidden);
      await dialog.getByRole('status').getByText('Nothing matches').waitFor();
      expect(await options.count()).toBe(0);
    }
    await page.keyboard.press('Control+a');
    await page.keyboard.type('test');
    await dialog.getByRole('option', { name: 'test key' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Edit token test key' }).waitFor();
  });

  test('no error occurred in either page', () => {
    expect([...admin.problems, ...opened.problems]).toEqual([]);
  });
}

describeInBrowser('the command palette in the browser', palette);
