import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';

/* Names as wide as they may be: nothing in them where a line could break. */
const wide = (prefix: string, length: number): string => prefix.padEnd(length, 'W');
const channelName = wide('channel-', 128);
const modelName = wide('model-', 200);
const keyName = wide('key-', 30);
const codeName = wide('code-', 20);
const displayName = wide('user-', 20);
const tagName = wide('tag-', 60);

const widths = [1280, 1024, 600, 390] as const;

/** What a page says of its own layout. Lengths in CSS pixels. */
interface Layout {
  /** By how much the page is wider than the window; 0: it is not. */
  readonly over: number;
  /** Cells of row actions and charges that are not in the window from side to side, by their column. */
  readonly outside: readonly string[];
  /** Texts that are cut and can be read nowhere. */
  readonly unreadable: readonly string[];
  /** Headings that stand more than one level below the one before. */
  readonly gaps: readonly string[];
}

/** Runs in the page; it must not refer to anything outside. `mustBeSeen`: names of columns. */
const layoutOf = (page: Page, mustBeSeen: readonly string[]): Promise<Layout> =>
  page.evaluate<Layout>(`((mustBeSeen) => {
    const cellsOf = (head) => [...head.closest('table').querySelectorAll(':scope > tbody > tr')]
      .map((row) => row.cells[head.cellIndex])
      .filter((cell) => cell !== undefined && cell.colSpan === 1 && cell.offsetParent !== null);
    const isOutside = (cell) => {
      const { left, right } = cell.getBoundingClientRect();
      return left < -0.5 || right > innerWidth + 0.5;
    };
    const outside = [...document.querySelectorAll('main thead th')]
      .filter((head) => mustBeSeen.includes(head.textContent))
      .filter((head) => getComputedStyle(head).display === 'none' || [head, ...cellsOf(head)].some(isOutside))
      .map((head) => head.textContent);
    const unreadable = [...document.querySelectorAll('main :is(td, th) *')]
      .filter((place) => getComputedStyle(place).textOverflow === 'ellipsis' && place.scrollWidth > place.clientWidth)
      .filter((place) => place.closest('[title]') === null)
      .map((place) => place.textContent.slice(0, 40));
    const headings = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
      .map((heading) => ({ level: Number(heading.tagName[1]), text: heading.textContent.slice(0, 40) }));
    const gaps = headings
      .filter(({ level }, place) => level > (headings[place - 1]?.level ?? 0) + 1)
      .map(({ level, text }) => level + ' ' + text);
    return { over: document.documentElement.scrollWidth - innerWidth, outside, unreadable, gaps };
  })(${JSON.stringify(mustBeSeen)})`);

const fits: Layout = { over: 0, outside: [], unreadable: [], gaps: [] };

/** Every page, at every width it is made for, with names that would like to be wider than all of them. */
function everyWidth(launched: () => Browser): void {
  let gateway: TestGateway;
  let user: TestUser;
  let requestId: string;

  beforeAll(async () => {
    gateway = await startTestGateway();
    const { application, root } = gateway;
    await gateway.setOption('ModelPrice', JSON.stringify({ [modelName]: 0.01 }));
    await gateway.addChannel({ name: channelName, models: [modelName, 'gpt-4o'], tag: tagName });
    for (let n = 0; n < 12; n++) await gateway.addChannel({ name: `pier ${n}`, models: ['gpt-4o-mini'] });
    user = await gateway.addUser(50_000_000);
    const profile = { username: null, password: null, displayName };
    await application.visible(await application.users.changeOwnProfile(user.actor, profile));
    const code = await application.redemptions.issue(root, { name: codeName, quota: 5 }, 3);
    await application.visible(code.position);
    for (const actor of [root, user.actor]) {
      const terms = apiKeyTerms({ name: keyName, unlimited: true });
      const { key, position } = await application.apiKeys.issue(actor, { quota: 0, terms });
      await application.visible(position);
      for (let n = 0; n < 4; n++) {
        const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: modelName, stream: n % 2 === 0, messages: [{ role: 'user', content: 'Hi' }] }),
        });
        expect(answer.status).toBe(200);
        await answer.text();
        requestId = answer.headers.get('x-oneapi-request-id') ?? requestId;
      }
    }
  });
  afterAll(() => gateway?.stop());

  const expectFits = async (page: Page, path: string): Promise<void> => {
    await page.getByRole('heading', { level: 1 }).waitFor();
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      await settled(page);
      const found = await layoutOf(page, ['Actions', 'Cost']);
      expect.soft({ path, width, ...found }).toEqual({ path, width, ...fits });
    }
    await page.setViewportSize({ width: widths[0], height: 800 });
  };

  /** Every page of the menu, so that none is forgotten, and those that are reached otherwise. */
  const expectAllFit = async (account: Account, others: readonly string[]): Promise<void> => {
    const opened = await openConsole(launched(), { url: gateway.url });
    try {
      await signIn(opened, account);
      const { page } = opened;
      const menu = page.getByRole('navigation', { name: 'Console' }).getByRole('link');
      await menu.first().waitFor();
      // Chats come into the menu when they are known, and change which link is the how-manieth.
      await settled(page);
      for (const path of await menu.evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))) {
        await menu.and(page.locator(`[href="${path}"]`)).click();
        await expect.poll(() => new URL(page.url()).pathname).toBe(path);
        await expectFits(page, path);
      }
      for (const path of ['/', '/pricing', '/about', `/log/${requestId}`, ...others]) {
        await page.goto(path);
        await expectFits(page, path);
      }
      expect(opened.problems).toEqual([]);
    } finally {
      await opened.close();
    }
  };

  describe('no page is wider than the window, and no content is cut off', () => {
    test('for administrators', { timeout: 180_000 }, () =>
      expectAllFit({ username: 'root', password: gateway.rootPassword }, [
        '/channel/1',
        '/token?everyone=true',
        '/setting?prices=visual',
      ]),
    );
    test('for users', { timeout: 180_000 }, () => expectAllFit(user, []));
  });

  describe('a table longer than the window', () => {
    test.for([
      ['that fits into the page', 1280],
      ['that scrolls sideways', 390],
    ] as const)('on %s keeps its head visible', async ([, width]) => {
      const opened = await openConsole(launched(), { url: gateway.url, size: { width, height: 500 } });
      try {
        await signIn(opened, { username: 'root', password: gateway.rootPassword });
        const { page } = opened;
        await page.goto('/channel');
        const table = page.getByRole('region', { name: 'Channels', exact: true });
        const last = table.getByRole('row').last();
        await table.getByRole('row').nth(10).waitFor();
        await last.scrollIntoViewIfNeeded();
        const [head, first] = [table.getByRole('columnheader', { name: 'Status' }), table.getByRole('row').nth(1)];
        // The page may still be moving.
        await expect.poll(async () => (await first.boundingBox())?.y ?? 0).toBeLessThan(50);
        const { y = -1 } = (await head.boundingBox()) ?? {};
        expect(y).toBeGreaterThanOrEqual(49);
        expect(y).toBeLessThan((await last.boundingBox())?.y ?? 0);
      } finally {
        await opened.close();
      }
    });
  });

  describe('where the page needs the width', () => {
    test.for([1024, 390])('of %i px, the menu covers it and leaves it unchanged', async (width) => {
      const opened = await openConsole(launched(), { url: gateway.url, size: { width, height: 800 } });
      try {
        await signIn(opened, user);
        const { page } = opened;
        const title = page.getByRole('heading', { name: 'Tokens', level: 1 });
        const before = await title.boundingBox();
        const unfold = page.getByRole('button', { name: 'Expand the sidebar' });
        await unfold.click();
        await page.getByRole('navigation', { name: 'Console' }).getByText('Usage logs').waitFor();
        expect(await title.boundingBox()).toEqual(before);
        await page.keyboard.press('Escape');
        await unfold.waitFor();
        await unfold.click();
        await page.getByRole('navigation', { name: 'Top navigation' }).getByRole('link', { name: 'Pricing' }).click();
        await page.getByRole('heading', { name: 'Pricing', level: 1 }).waitFor();
        await unfold.waitFor();
        expect(opened.problems).toEqual([]);
      } finally {
        await opened.close();
      }
    });

    test('of a phone, a visitor without a session finds every page in the menu', async () => {
      const opened = await openConsole(launched(), { url: gateway.url, size: { width: 390, height: 800 } });
      try {
        const { page } = opened;
        await page.goto('/login');
        await page.getByRole('button', { name: 'Expand the sidebar' }).click();
        await page.getByRole('navigation', { name: 'Top navigation' }).getByRole('link', { name: 'About' }).click();
        await page.getByRole('heading', { name: 'About Tallygate' }).waitFor();
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390);
      } finally {
        await opened.close();
      }
    });
  });
}

/** What is asked for has come, and the places it comes to have taken their widths. */
async function settled(page: Page): Promise<void> {
  await expect.poll(() => page.locator('main [aria-busy="true"]').count(), { timeout: 10_000 }).toBe(0);
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
}

describeInBrowser('the console at every width', everyWidth);
