import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { rowOf, visit } from './tables.js';

/** Everything a page was sent by GraphQL, over HTTP and by subscription. */
function overheard(page: Page): () => Promise<string> {
  const bodies: Promise<string>[] = [];
  page.on('response', (response) => {
    if (response.url().endsWith('/graphql')) bodies.push(response.text().catch(() => ''));
  });
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => bodies.push(Promise.resolve(String(payload)))),
  );
  return async () => (await Promise.all(bodies)).join('\n');
}

/** Two people at the same time, an administrator and a user: each sees what is theirs to see. */
function roles(launched: () => Browser): void {
  const model = 'gpt-4o-mini';
  let gateway: TestGateway;
  let alice: TestUser;
  let bob: TestUser;
  let admin: Console;
  let user: Console;
  let sentToUser: () => Promise<string>;

  const call = async (apiKey: string): Promise<void> => {
    const { status } = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello?' }] }),
    });
    expect(status).toBe(200);
  };

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel({ name: 'hidden-harbour' });
    alice = await gateway.addUser(1_000_000, 'alice');
    bob = await gateway.addUser(1_000_000, 'bob');
    admin = await openConsole(launched(), { url: gateway.url });
    user = await openConsole(launched(), { url: gateway.url });
    sentToUser = overheard(user.page);
    await signIn(admin, { username: 'root', password: gateway.rootPassword });
    await signIn(user, alice);
  });
  afterAll(async () => {
    await admin?.close();
    await user?.close();
    await gateway?.stop();
  });

  const linksOf = async ({ page }: Console): Promise<string[]> => {
    const links = page.getByRole('navigation', { name: 'Console' }).getByRole('link');
    await links.first().waitFor();
    return links.allInnerTexts();
  };

  test('see different menus: the administrator has more entries', async () => {
    expect(await linksOf(admin)).toEqual([
      'Playground',
      'Dashboard',
      'Tokens',
      'Usage logs',
      'Drawing logs',
      'Task logs',
      'Wallet',
      'Personal settings',
      'Channels',
      'Redemption codes',
      'Payments',
      'Users',
      'Audit',
      'Settings',
    ]);
    expect(await linksOf(user)).toEqual([
      'Playground',
      'Dashboard',
      'Tokens',
      'Usage logs',
      'Drawing logs',
      'Task logs',
      'Wallet',
      'Personal settings',
    ]);
  });

  test('see different pages: those of administrators do not exist for a user, at any address', async () => {
    for (const path of ['/channel', '/user', '/redemption', '/orders', '/channel?open=1', '/user?open=1']) {
      await user.page.goto(path);
      await user.page.getByRole('heading', { name: 'Page does not exist' }).waitFor();
    }
    for (const [path, heading] of [
      ['/channel', 'Channels'],
      ['/user', 'Users'],
      ['/redemption', 'Redemption codes'],
      ['/orders', 'Payments'],
      ['/setting', 'Settings'],
    ] as const) {
      await admin.page.goto(path);
      await admin.page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    }
  });

  test('see different logs: a user only own calls, and neither channels nor other users', async () => {
    const log = (page: Page) => page.getByRole('region', { name: 'Usage log', exact: true });
    await Promise.all(
      [admin, user].map(async ({ page }) => {
        await page.goto('/log');
        await page.getByText('Live', { exact: true }).waitFor();
      }),
    );
    await call(await gateway.addApiKey(bob));
    await call(await gateway.addApiKey(alice));
    await rowOf(admin.page, 'Usage log', 'alice').getByText(model).waitFor();
    await rowOf(admin.page, 'Usage log', 'bob').getByText(model).waitFor();
    await rowOf(user.page, 'Usage log', model).waitFor();
    expect(await rowOf(user.page, 'Usage log', model).count()).toBe(1);

    const ofAdministrators = ['Channel', 'User', 'Retries'];
    const adminColumns = await log(admin.page).getByRole('columnheader').allInnerTexts();
    const userColumns = await log(user.page).getByRole('columnheader').allInnerTexts();
    expect(adminColumns).toEqual(expect.arrayContaining(ofAdministrators));
    expect(userColumns.filter((column) => ofAdministrators.includes(column))).toEqual([]);
  });

  test('see different dashboards: an administrator the gateway, a user the own wallet', async () => {
    await visit(admin.page, 'Dashboard');
    await admin.page.getByRole('heading', { name: 'Channel health' }).waitFor();
    await visit(user.page, 'Dashboard');
    await user.page.getByRole('heading', { name: 'Balance' }).waitFor();
    expect(await user.page.getByRole('heading', { name: 'Channel health' }).count()).toBe(0);
  });

  test('see different tokens: only administrators see those of all users', async () => {
    await visit(admin.page, 'Tokens');
    await admin.page.getByRole('radio', { name: "Everybody's tokens" }).click();
    await admin.page.getByRole('row').filter({ hasText: 'bob' }).waitFor();
    await user.page.goto('/token?everyone=true');
    await rowOf(user.page, 'My tokens', 'test key').waitFor();
    expect(await user.page.getByRole('radio', { name: "Everybody's tokens" }).count()).toBe(0);
  });

  test('receive different data: hidden fields are never sent to a user', async () => {
    const sent = await sentToUser();
    expect(sent).toContain('alice');
    for (const secret of ['hidden-harbour', 'bob', gateway.provider.url]) expect(sent).not.toContain(secret);
  });

  test('are signed out at once when they are disabled', async () => {
    const { page } = admin;
    await visit(page, 'Users');
    await page.getByRole('button', { name: 'Actions for alice' }).click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await page.getByRole('dialog', { name: 'Disable alice?' }).getByRole('button', { name: 'Disable' }).click();
    await rowOf(page, 'Users', 'alice').getByText('Banned').waitFor();
    await user.page.getByRole('searchbox', { name: 'Name' }).fill('mine');
    await user.page.keyboard.press('Enter');
    await user.page.waitForURL(/\/login\?expired=true/);
  });

  test('caused no error in either page', () => {
    expect([...admin.problems, ...user.problems]).toEqual([]);
  });
}

describeInBrowser('an administrator and a user in the browser', roles);
