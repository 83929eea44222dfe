import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { expectNoBarriers } from './axe.js';
import { startFreshGateway } from './fresh-gateway.js';
import { follow } from './tables.js';

/** Every page, with something in it, in both themes: no serious or critical barrier that axe knows of. */
function accessibility(launched: () => Browser): void {
  let gateway: TestGateway;
  let user: TestUser;
  let opened: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel({ name: 'harbour', tag: 'sea' });
    const off = await gateway.addChannel({ name: 'lighthouse', tag: 'sea', groups: ['default', 'vip'] });
    const { application, root } = gateway;
    await application.visible(await application.channels.setEnabled(root, off, false));
    user = await gateway.addUser(1_000_000);
    const { position } = await application.redemptions.issue(root, { name: 'spring', quota: 5 }, 1);
    await application.visible(position);
    for (const actor of [user.actor, root]) {
      const apiKey = await gateway.addApiKey({ actor });
      for (const stream of [true, false]) {
        const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content: 'Hello?' }] }),
        });
        await answer.text();
      }
    }
    opened = await openConsole(launched(), { url: gateway.url });
    await opened.page.goto('/');
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
  });

  describe('before the login', () => {
    test.for([
      ['/', 'Tallygate'],
      ['/login', 'Log in to Tallygate'],
      ['/login?expired=true', 'Log in to Tallygate'],
      ['/pricing', 'Pricing'],
      ['/about', 'About Tallygate'],
      ['/register', 'Register'],
      ['/reset', 'Reset password'],
    ] as const)('%s', async ([path, heading]) => {
      const { page } = opened;
      await follow(page, path);
      await page.getByRole('heading', { name: heading }).waitFor();
      await expectNoBarriers(page);
    });
    test('at an address that does not exist', async () => {
      const { page } = opened;
      await page.goto('/no/such/page');
      await page.getByRole('heading', { name: 'Page does not exist' }).waitFor();
      await expectNoBarriers(page);
    });

    test('on /setup, with its error messages', async () => {
      const fresh = await startFreshGateway();
      const unset = await openConsole(launched(), { url: fresh.url });
      try {
        await unset.page.goto('/setup');
        await unset.page.getByRole('button', { name: 'Set up the system' }).click();
        await unset.page.getByText('Enter the administrator user name').waitFor();
        await expectNoBarriers(unset.page);
      } finally {
        await unset.close();
        await fresh.stop();
      }
    });
  });

  const signedIn = (pages: readonly (readonly [path: string, shown: (page: Page) => Promise<unknown>])[]): void => {
    test.for(pages)('%s', async ([path, shown]) => {
      const { page } = opened;
      await follow(page, path);
      await shown(page);
      await expectNoBarriers(page);
    });
  };
  const row = (text: string) => (page: Page) => page.getByRole('row').filter({ hasText: text }).first().waitFor();
  const dialog = (name: string, inside: string) => (page: Page) =>
    page.getByRole('dialog', { name }).getByLabel(inside).first().waitFor();

  describe('for administrators', () => {
    beforeAll(() => signIn(opened, { username: 'root', password: gateway.rootPassword }));
    signedIn([
      ['/detail', row('harbour')],
      ['/channel', row('harbour')],
      ['/channel?open=new', dialog('New channel', 'Base URL')],
      ['/channel?open=1', dialog('Edit channel harbour', 'Base URL')],
      ['/channel?open=test-1', row('gpt-4o')],
      ['/token?everyone=true', row('user1')],
      [
        '/log',
        async (page) => {
          await row('gpt-4o-mini')(page);
          await page.getByRole('button', { name: 'Expand' }).first().click();
          await page.getByText('Billing process').waitFor();
        },
      ],
      ['/redemption', row('spring')],
      ['/redemption?open=new', dialog('New codes', 'How many')],
      ['/setting?tab=system', (page) => page.getByRole('region', { name: 'GitHub' }).waitFor()],
      ['/setting?prices=visual', (page) => page.getByRole('button', { name: 'Add a model' }).waitFor()],
      ['/setting?prices=visual&open=newprice', dialog('Price of a model', 'Input: selling price')],
      [
        '/setting?prices=visual&open=pricehistory',
        (page) => page.getByRole('dialog', { name: 'History of prices' }).waitFor(),
      ],
      ['/setting?open=history', (page) => page.getByRole('article').first().waitFor()],
      ['/audit?id=2', row('Settlement')],
      ['/audit/administrators', row('harbour')],
      ['/user', row('user1')],
      ['/user?open=new', dialog('Add user', 'Display name')],
      ['/user?open=quota-2', dialog('Adjust the quota of user1', 'Amount')],
    ]);

    test('in the menus', async () => {
      const { page } = opened;
      await follow(page, '/channel');
      await page.getByRole('button', { name: 'Actions for harbour' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).waitFor();
      await expectNoBarriers(page);
    });
  });

  describe('for users', () => {
    beforeAll(async () => {
      await opened.context.clearCookies();
      await signIn(opened, user);
    });
    signedIn([
      ['/detail', row('gpt-4o-mini')],
      ['/token', row('test key')],
      ['/token?open=new', dialog('New token', 'Name')],
      ['/log', row('gpt-4o-mini')],
      [
        '/pricing',
        async (page) => {
          await row('gpt-4o-mini')(page);
          await page.getByRole('button', { name: 'Expand' }).first().click();
          await page.getByText('group ratio 1').waitFor();
        },
      ],
      ['/chat/3', (page) => page.getByRole('link', { name: 'Open AMA' }).waitFor()],
      ['/chat/99', (page) => page.getByText('Chat link configuration error').waitFor()],
      ['/midjourney', (page) => page.getByText('No drawing in this time range matches').waitFor()],
      ['/task', (page) => page.getByText('No task in this time range matches').waitFor()],
      ['/topup', (page) => page.getByRole('button', { name: 'Redeem' }).waitFor()],
      ['/personal', (page) => page.getByRole('region', { name: 'Account', exact: true }).waitFor()],
    ]);
  });
}

describeInBrowser('the accessibility check finds no barriers', accessibility);
