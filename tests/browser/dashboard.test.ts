import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { barriers } from './axe.js';

/** What the dashboard knows of the past, and where its figures lead. */
function dashboard(launched: () => Browser): void {
  let gateway: TestGateway;
  let user: TestUser;
  let admin: Console;
  let own: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel({
      models: ['gpt-4o', 'gpt-4o-mini'],
      setting: '{"purchase_prices":{"gpt-4o":{"call":0.02}}}',
    });
    user = await gateway.addUser(1_000_000);
    const key = await gateway.addApiKey(user);
    for (const model of ['gpt-4o', 'gpt-4o', 'gpt-4o-mini', 'no-such-model'])
      await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
      }).then((answer) => answer.text());
    admin = await openConsole(launched(), { url: gateway.url });
    own = await openConsole(launched(), { url: gateway.url, theme: 'dark', size: { width: 600, height: 900 } });
    await signIn(admin, { username: 'root', password: gateway.rootPassword });
    await signIn(own, user);
  });
  afterAll(async () => {
    await admin?.close();
    await own?.close();
    await gateway?.stop();
  });

  const totals = ({ page }: Console) => page.getByRole('region', { name: 'Totals of the range' });
  const maxTable = ({ page }: Console) => page.getByRole('table', { name: 'Most of the range' });

  describe('the history of the dashboard', () => {
    test('sums all usage, for administrators by requested model', async () => {
      const { page } = admin;
      await page.goto('/detail');
      await totals(admin).getByRole('link', { name: '3', exact: true }).waitFor();
      await maxTable(admin).getByRole('row').filter({ hasText: 'gpt-4o-mini' }).waitFor();
      await page.getByRole('img', { name: 'Requests by Model' }).waitFor();
    });

    test('keeps its range and its grouping in the address', async () => {
      const { page } = admin;
      await page.getByRole('button', { name: '15 min' }).click();
      await page.getByRole('button', { name: 'Channel', exact: true }).click();
      await maxTable(admin).getByRole('row').filter({ hasText: 'upstream' }).waitFor();
      await page.reload();
      await maxTable(admin).getByRole('row').filter({ hasText: 'upstream' }).waitFor();
      const query = new URL(page.url()).searchParams;
      expect([query.get('range'), query.get('by')]).toEqual(['15m', 'CHANNEL']);
      expect(await page.getByRole('button', { name: '15 min' }).getAttribute('aria-pressed')).toBe('true');
    });

    test('links from a figure to its lines', async () => {
      const { page } = admin;
      await page.getByRole('button', { name: 'Model', exact: true }).click();
      await maxTable(admin).getByRole('link', { name: 'gpt-4o-mini' }).click();
      await page.waitForURL((url) => url.pathname === '/log' && url.searchParams.get('model') === 'gpt-4o-mini');
      const rows = page.getByRole('table', { name: 'Usage log' }).getByRole('row');
      await rows.filter({ hasText: 'gpt-4o-mini' }).first().waitFor();
      expect(await rows.filter({ hasText: user.username }).count()).toBe(1);
    });

    test('shows why calls failed, and links from a cause to its lines and back', async () => {
      const { page } = admin;
      await page.goto('/detail?range=7d');
      const causes = page.getByRole('table', { name: 'Failures by cause' });
      await page.getByRole('img', { name: 'Failures by cause over time' }).waitFor();
      await causes.getByRole('link', { name: 'No channel has this model' }).press('Enter');
      await page.waitForURL((url) => url.pathname === '/log' && url.searchParams.get('code') === 'model_not_found');
      const rows = page.getByRole('table', { name: 'Usage log' }).getByRole('row');
      await rows.filter({ hasText: 'no-such-model' }).waitFor();
      await page.goBack();
      await causes.getByRole('row').filter({ hasText: '404 model_not_found' }).waitFor();
    });

    test('shows administrators what providers charged and what was earned, and how many calls have no known cost', async () => {
      const { page } = admin;
      await page.goto('/detail?range=24h&by=MODEL');
      await page.getByRole('region', { name: 'Costs and margin' }).getByText('$0.0400').waitFor();
      await page.getByText('Nobody knows the provider cost of 1 of 3 requests').waitFor();
      for (const figure of ['Provider cost by Model', 'Margin by Model'])
        await page.getByRole('img', { name: figure }).waitFor();
      const priced = maxTable(admin).getByRole('row').filter({ hasText: '$0.0400' });
      await priced.getByRole('cell', { name: /^-\$0\.03/ }).waitFor();
      await priced.filter({ hasText: 'gpt-4o' }).waitFor();
      expect(await barriers(page)).toEqual([]);
    });

    test('links from each bar to its hour and share, by the keyboard', async () => {
      const { page } = admin;
      await page.goto('/detail?range=24h&by=MODEL');
      // Charts come one after the other: a link of all of them would become another one's on the way.
      const calls = page
        .locator('.stacked-chart')
        .filter({ has: page.getByRole('img', { name: 'Requests by Model' }) });
      const bar = calls.getByRole('link', { name: /^gpt-4o(-mini)?, \d\d:00: \d+$/ });
      const first = await bar.innerText();
      // A chart that is drawn anew begins at the first share again, and without the focus.
      await expect
        .poll(async () => {
          await bar.press('ArrowDown');
          return bar.innerText();
        })
        .not.toBe(first);
      const model = (await bar.innerText()).split(',')[0];
      await bar.press('Enter');
      await page.waitForURL(({ pathname, searchParams }) => {
        const [from, to] = [Number(searchParams.get('from')), Number(searchParams.get('to'))];
        return pathname === '/log' && searchParams.get('model') === model && to - from === 3_599;
      });
    });

    test('is available as a table, too, by the keyboard', async () => {
      const { page } = admin;
      await page.goto('/detail?range=1h');
      const show = page.getByRole('button', { name: 'Show' });
      await show.focus();
      await page.keyboard.press('Enter');
      const times = page.getByRole('table', { name: 'By time' });
      await times.getByRole('row').nth(60).waitFor();
      await times.getByRole('link').first().focus();
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.pathname === '/log' && url.searchParams.get('range') === 'custom');
    });

    test('shows users their own, in a narrow window, and no channels', async () => {
      const { page } = own;
      await page.goto('/detail?range=7d&by=CHANNEL');
      await maxTable(own).getByRole('link', { name: 'gpt-4o-mini' }).waitFor();
      expect(await page.getByRole('button', { name: 'Channel', exact: true }).count()).toBe(0);
      expect(await page.getByText('Provider cost').count()).toBe(0);
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
      expect(overflow).toBeLessThanOrEqual(0);
      expect(await barriers(page)).toEqual([]);
    });

    test('no error occurred in either page', () => expect([...admin.problems, ...own.problems]).toEqual([]));
  });
}

describeInBrowser('the dashboard in the browser', dashboard);
