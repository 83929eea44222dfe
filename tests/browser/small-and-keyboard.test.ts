import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { visit } from './tables.js';

/** On a phone, and without a mouse. */
function smallAndKeyboard(launched: () => Browser): void {
  let gateway: TestGateway;
  let user: TestUser;
  let root: { readonly username: string; readonly password: string };
  let opened: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel();
    user = await gateway.addUser(1_000_000);
    await gateway.addApiKey(user);
    root = { username: 'root', password: gateway.rootPassword };
  });
  afterAll(() => gateway?.stop());
  afterEach(() => opened?.close());

  describe('in a window 600 px wide', () => {
    beforeEach(async () => {
      opened = await openConsole(launched(), { url: gateway.url, size: { width: 600, height: 900 } });
    });

    test('the menu covers the page and closes with the step it was opened for', async () => {
      const { page } = opened;
      await signIn(opened, user);
      const menu = page.getByRole('navigation', { name: 'Console' });
      await menu.waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: 'Expand the sidebar' }).click();
      await visit(page, 'Usage logs', 'Usage log');
      await menu.waitFor({ state: 'hidden' });
    });

    test('filters are behind a button with their number', async () => {
      const { page } = opened;
      await signIn(opened, user);
      expect(await page.getByRole('searchbox', { name: 'Name' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Filters' }).click();
      await page.getByRole('searchbox', { name: 'Name' }).fill('test');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
      await page.getByRole('link', { name: 'test key' }).waitFor();
    });

    test('a drawer has the whole width, and back closes it', async () => {
      const { page } = opened;
      await signIn(opened, user);
      await page.getByRole('link', { name: 'New token' }).click();
      const drawer = page.getByRole('dialog', { name: 'New token' });
      await drawer.waitFor();
      // Half-way through a transition it may lie a fraction of a pixel off.
      expect((await drawer.boundingBox())?.width).toBeCloseTo(600, 0);
      await drawer.getByRole('button', { name: 'Create' }).click();
      await drawer.getByText('Enter a name').waitFor();
      await page.goBack();
      await drawer.waitFor({ state: 'detached' });
      expect(new URL(page.url()).search).toBe('');
    });

    test('no page is wider than the window', async () => {
      const { page } = opened;
      await signIn(opened, root);
      const pages = [
        ['/', 'API address'],
        ['/detail', 'upstream'],
        ['/channel', 'upstream'],
        ['/channel?open=1', 'Edit channel upstream'],
        ['/token?everyone=true', 'test key'],
        ['/log', 'Live'],
        ['/user', user.username],
        ['/personal', 'Account'],
        ['/setting', 'Retries'],
        ['/setting?prices=visual', 'Add a model'],
      ] as const;
      for (const [path, text] of pages) {
        await page.goto(path);
        await page.getByText(text, { exact: true }).first().waitFor();
        expect([path, await page.evaluate<number>('document.documentElement.scrollWidth')]).toEqual([path, 600]);
      }
    });
  });

  describe('with the keyboard only', () => {
    beforeEach(async () => {
      opened = await openConsole(launched(), { url: gateway.url });
    });

    test('a row opens, Escape closes its drawer, and the focus returns', async () => {
      const { page } = opened;
      await signIn(opened, user);
      const row = page.getByRole('link', { name: 'test key' });
      await row.focus();
      await page.keyboard.press('Enter');
      const drawer = page.getByRole('dialog', { name: 'Edit token test key' });
      await drawer.waitFor();
      expect(page.url()).toMatch(/\/token\?open=\d+$/);
      await drawer.getByRole('textbox', { name: 'Name' }).focus();
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
      await expect.poll(() => focusIn(page)).toBe('test key');
    });

    test('an open drawer is in the address: reload reopens it, back and forward close and open it', async () => {
      const { page } = opened;
      await signIn(opened, root);
      await visit(page, 'Channels');
      await page.getByRole('link', { name: 'upstream', exact: true }).focus();
      await page.keyboard.press('Enter');
      const drawer = page.getByRole('dialog', { name: 'Edit channel upstream' });
      await drawer.waitFor();
      await page.reload();
      await drawer.waitFor();
      await page.goBack();
      await drawer.waitFor({ state: 'detached' });
      await page.goForward();
      await drawer.waitFor();
    });

    test('the first stop skips the navigation', async () => {
      const { page } = opened;
      await signIn(opened, user);
      await page.reload();
      await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor();
      await page.keyboard.press('Tab');
      await expect.poll(() => focusIn(page)).toBe('Skip to the content');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.evaluate<string>('document.activeElement.id')).toBe('main');
    });
  });
}

/** The words on what has the focus. */
const focusIn = (page: Page): Promise<string> => page.evaluate<string>('document.activeElement.textContent');

describeInBrowser('the console on a phone, and without a mouse', smallAndKeyboard);
