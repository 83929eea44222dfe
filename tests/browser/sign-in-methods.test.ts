import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Console, openConsole, signIn, themeOf } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';

/** Getting in, being thrown out, and what the browser remembers of one's choices. */
function signInMethods(launched: () => Browser): void {
  let gateway: TestGateway;
  let user: TestUser;
  let opened: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    user = await gateway.addUser(1_000_000);
  });
  afterAll(() => gateway?.stop());
  beforeEach(async () => {
    opened = await openConsole(launched(), { url: gateway.url });
  });
  afterEach(() => opened?.close());

  describe('the login page', () => {
    test('requires both fields before anything is sent', async () => {
      const { page } = opened;
      await page.goto('/login');
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('alert').getByText('Please enter user name and password').waitFor();
    });

    test('reports a wrong password, and permits another attempt', async () => {
      const { page, problems } = opened;
      await page.goto('/login');
      await page.getByLabel('User name or e-mail address').fill(user.username);
      await page.getByLabel('Password', { exact: true }).fill('wrong-password');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: 'Wrong user name or password' }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/login');
      await page.getByLabel('Password', { exact: true }).fill(user.password);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/token');
      expect(problems).toEqual([]);
    });

    test('is where every page leads without a session', async () => {
      const { page } = opened;
      for (const path of ['/token', '/log', '/detail', '/channel', '/user', '/personal']) {
        await page.goto(path);
        await page.waitForURL((url) => url.pathname === '/login' && url.searchParams.get('from') === path);
      }
    });

    test('is left after logging out, with nothing to go back to', async () => {
      const { page } = opened;
      await signIn(opened, user);
      await page.getByRole('button', { name: `User menu: ${user.username}` }).click();
      await page.getByRole('menuitem', { name: 'Log out' }).click();
      await expect.poll(() => new URL(page.url()).pathname).toBe('/login');
      await page.goto('/token');
      await page.waitForURL((url) => url.pathname === '/login');
    });
  });

  test('a session that ended leads to the login, which says so, and back to the same page', async () => {
    const { page, context } = opened;
    await signIn(opened, user);
    await page.getByText('No tokens yet').waitFor();
    await context.clearCookies();
    await page.getByRole('searchbox', { name: 'Name' }).fill('mine');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/login\?expired=true/);
    await page.getByText('Not logged in, or the login has expired. Please log in again').waitFor();

    await page.getByLabel('User name or e-mail address').fill(user.username);
    await page.getByLabel('Password', { exact: true }).fill(user.password);
    await page.keyboard.press('Enter');
    await page.getByText('No token matches').waitFor();
    expect(page.url()).toBe(`${gateway.url}/token?name=mine`);
  });

  test('an unknown path is reported, with a link back', async () => {
    const { page } = opened;
    await page.goto('/no/such/page');
    await page.getByRole('heading', { name: 'Page does not exist' }).waitFor();
    await page.getByRole('link', { name: 'Back to the start' }).click();
    await page.getByRole('heading', { name: 'Tallygate', level: 1 }).waitFor();
  });

  describe('language and theme', () => {
    test('follow the system until they are chosen, and then survive a reload', async () => {
      const { page } = opened;
      await page.goto('/login');
      expect(await themeOf(opened.page)).toBe('light');
      await page.getByRole('button', { name: 'Switch to the dark theme' }).click();
      await page.getByRole('button', { name: 'Language' }).click();
      await page.getByRole('option', { name: '中文' }).click();
      await page.getByRole('button', { name: '登录' }).waitFor();
      expect(await languageOf(opened)).toBe('zh-CN');
      expect(await themeOf(opened.page)).toBe('dark');

      await page.reload();
      await page.getByRole('button', { name: '登录' }).waitFor();
      expect(await languageOf(opened)).toBe('zh-CN');
      expect(await themeOf(opened.page)).toBe('dark');
    });

    test('are dark and Chinese for such a system', async () => {
      const other = await openConsole(launched(), { url: gateway.url, language: 'zh', theme: 'dark' });
      try {
        await other.page.goto('/login');
        await other.page.getByRole('button', { name: '登录' }).waitFor();
        expect(await themeOf(other.page)).toBe('dark');
      } finally {
        await other.close();
      }
    });
  });
}

const languageOf = ({ page }: Console) => page.locator('html').getAttribute('lang');

describeInBrowser('signing in and out in the browser', signInMethods);
