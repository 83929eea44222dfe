import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ProviderSetting, startProviderSetting } from '../identity-providers/setting.js';
import { type Account, type Console, openConsole } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { turnedOn } from './two-step.js';

/** Somebody who is sent a link reads the page it names, whatever sign-in is between. */
function deepLinks(launched: () => Browser): void {
  const link = '/log?model=gpt-4o&open=7#figures';
  let setting: ProviderSetting;
  let opened: Console;

  beforeAll(async () => {
    setting = await startProviderSetting();
  });
  afterAll(() => setting?.stop());
  beforeEach(async () => {
    opened = await openConsole(launched(), { url: setting.gateway.url });
  });
  afterEach(() => opened?.close());

  async function giveName(page: Page, { username, password }: Account): Promise<void> {
    await page.getByLabel('User name or e-mail address').fill(username);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
  }

  const address = (page: Page): string => page.url().slice(setting.gateway.url.length);
  const arrives = (page: Page): Promise<void> =>
    page.waitForURL(({ pathname, search, hash }) => pathname + search + hash === link);

  test('is reached after a sign-in by password, with query and hash', async () => {
    const { page, problems } = opened;
    await page.goto(link);
    await giveName(page, await setting.gateway.addUser(0));
    await arrives(page);
    await page.getByRole('heading', { name: 'Usage log', level: 1 }).waitFor();
    expect(problems).toEqual([]);
  });

  test('is reached after a new account has been registered', async () => {
    const { page } = opened;
    const account = { username: `new${Date.now() % 1e8}`, password: 'correct-horse' };
    await page.goto(link);
    await page.getByRole('link', { name: 'No account? Register' }).click();
    await page.getByRole('textbox', { name: 'User name', exact: true }).fill(account.username);
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(account.password);
    await page.getByRole('textbox', { name: 'Confirm password' }).fill(account.password);
    await page.getByRole('button', { name: 'Register', exact: true }).click();
    await giveName(page, account);
    await arrives(page);
  });

  test('is reached after a round trip to an identity provider and the second factor', async () => {
    const { page, problems } = opened;
    setting.github.atDesk = { id: 91, login: 'deep-diver' };
    await page.goto(link);
    await page.getByRole('button', { name: 'Log in with GitHub' }).click();
    await arrives(page);

    const { recoveryCodes } = await turnedOn(page, null);
    await page.getByRole('button', { name: /^User menu: / }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await expect.poll(() => address(page)).toBe('/login');
    await page.goto(link);
    await page.getByRole('button', { name: 'Log in with GitHub' }).click();
    await page.getByLabel('Code', { exact: true }).fill(recoveryCodes[0] ?? '');
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await arrives(page);
    expect(problems).toEqual([]);
  });

  test('is forgotten by signing out, however early the live connection closes', async () => {
    const { page, problems } = opened;
    await page.goto('/log');
    const socket = page.waitForEvent('websocket');
    await giveName(page, await setting.gateway.addUser(0));
    const live = await socket;
    await page.getByRole('heading', { name: 'Usage log', level: 1 }).waitFor();
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch();
      if (route.request().postData()?.includes('mutation Logout')) await closed;
      await route.fulfill({ response });
    });
    const closed = live.waitForEvent('close');
    await page.getByRole('button', { name: /^User menu: / }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
    expect(address(page)).toBe('/login');
    expect(problems).toEqual([]);
  });

  test('is not kept for a round trip from the login page itself', async () => {
    const { page } = opened;
    setting.github.atDesk = { id: 92, login: 'at-the-door' };
    await page.goto(link);
    await page.getByRole('link', { name: 'No account? Register' }).waitFor();
    await page.evaluate(`sessionStorage.setItem('visit-return', '/log')`);
    await page.goto('/login');
    await page.getByRole('button', { name: 'Log in with GitHub' }).click();
    await page.waitForURL(({ pathname }) => pathname === '/');
  });

  test.each(['//evil.example/', '/\\evil.example', '/.//evil.example', 'javascript:alert(1)', 'https://evil.example/'])(
    'never leads to another site: %s',
    async (from) => {
      const { page, problems } = opened;
      await page.goto(`/login?${new URLSearchParams({ from })}`);
      await giveName(page, await setting.gateway.addUser(0));
      await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor();
      expect(address(page)).toBe('/token');
      expect(problems).toEqual([]);
    },
  );
}

describeInBrowser('a link that is opened without a session', deepLinks);
