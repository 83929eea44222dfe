import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, passwordShown, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';

/** One's own account, from the menu to its end. */
function personal(launched: () => Browser): void {
  let gateway: TestGateway;
  let user: TestUser;
  let opened: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel({ models: Array.from({ length: 12 }, (_, n) => `model-${n}`) });
    user = await gateway.addUser(1_000_000, 'traveller');
    opened = await openConsole(launched(), { url: gateway.url });
    await signIn(opened, user);
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
  });

  const region = (name: string) => opened.page.getByRole('region', { name, exact: true });

  test('opens from the menu, and shows balance and models', async () => {
    const { page } = opened;
    await page.getByRole('button', { name: /traveller/ }).click();
    await page.getByRole('menuitem', { name: 'Personal settings' }).click();
    await page.getByRole('heading', { name: 'Personal settings', level: 1 }).waitFor();
    await region('Account').getByText('$2.00').waitFor();
    const models = region('Models you may use');
    expect(await models.getByText(/^model-/).count()).toBe(10);
    await models.getByRole('button', { name: 'Show 2 more' }).click();
    expect(await models.getByText(/^model-/).count()).toBe(12);
  });

  test('shows a new display name in the bar at once', async () => {
    const { page } = opened;
    await region('Account').getByRole('textbox', { name: 'Display name' }).fill('Sam the Traveller');
    await region('Account').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: /Sam the Traveller/ }).waitFor();
  });

  test('saves settings, and shows errors in them', async () => {
    const { page } = opened;
    const settings = region('Notices and prices');
    await settings.getByRole('textbox', { name: 'Address for notices' }).fill('nobody');
    await settings.getByRole('button', { name: 'Save settings' }).click();
    await settings.getByText('Enter an e-mail address').waitFor();
    await settings.getByRole('textbox', { name: 'Address for notices' }).fill('sam@example.org');
    await settings.getByRole('tab', { name: 'Prices' }).click();
    await settings.getByRole('checkbox', { name: 'Accept models without a price' }).check({ force: true });
    await settings.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('The settings have been updated').waitFor();
    await page.reload();
    await settings.getByRole('textbox', { name: 'Address for notices' }).waitFor();
    expect(await settings.getByRole('textbox', { name: 'Address for notices' }).inputValue()).toBe('sam@example.org');
  });

  test('shows an access token once, and it works', async () => {
    const { page } = opened;
    const section = region('Access token');
    await section.getByRole('button', { name: 'Issue an access token' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Issue an access token' }).click();
    await passwordShown(page, user.password);
    const token = await section.getByRole('status').locator('code').innerText();
    const answer = await fetch(`${gateway.url}/api/user/self`, {
      headers: { authorization: token, 'new-api-user': String(user.actor.id) },
    });
    expect(await answer.json()).toMatchObject({ success: true, data: { username: 'traveller' } });
  });

  test('has an invitation link; rewards appear in the open wallet, and are transferred into the balance', async () => {
    await gateway.setOption('QuotaForInviter', '750000');
    const { page, problems } = opened;
    await page.getByRole('link', { name: 'Wallet' }).click();
    const section = region('Invitations');
    await section.getByText('At least $1.00 at a time').waitFor();
    await section.getByRole('button', { name: 'Make an invite link' }).click();
    const link = await section.getByRole('textbox', { name: 'Invite link' }).inputValue();
    expect(link).toMatch(/\/register\?aff=[0-9a-zA-Z]{4}$/);
    await section.getByRole('button', { name: 'Copy the invite link' }).click();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(link);

    const figure = (name: string) => section.getByRole('definition').nth(['invited', 'waiting', 'ever'].indexOf(name));
    const shows = async (name: string, text: string) => figure(name).getByText(text, { exact: true }).waitFor();
    const balance = (text: string) => page.getByRole('status', { name: 'Balance' }).getByText(text).waitFor();
    for (const [name, waiting] of [
      ['friend', '$1.50'],
      ['colleague', '$3.00'],
    ] as const) {
      const other = await openConsole(launched(), { url: gateway.url });
      try {
        await other.page.goto(link);
        await other.page.getByRole('textbox', { name: 'User name', exact: true }).fill(name);
        await other.page.getByRole('textbox', { name: 'Password', exact: true }).fill('correct-horse');
        await other.page.getByRole('textbox', { name: 'Confirm password' }).fill('correct-horse');
        await other.page.getByRole('button', { name: 'Register' }).click();
        await other.page.waitForURL('**/login');
      } finally {
        await other.close();
      }
      // Nobody has loaded the page again.
      await shows('waiting', waiting);
    }
    await shows('invited', '2');

    const amount = section.getByRole('textbox', { name: 'Amount to transfer' });
    await amount.fill('0.5');
    await section.getByRole('button', { name: 'Transfer to balance' }).click();
    await section.getByRole('alert').getByText('At least $1.00 at a time').waitFor();
    await amount.fill('4');
    await section.getByRole('alert').getByText('There is $3.00 to transfer').waitFor();
    await amount.fill('1');
    await balance('$2.0000');
    await section.getByRole('button', { name: 'Transfer to balance' }).click();
    await page.getByText('The reward is in the balance now').waitFor();
    await shows('waiting', '$2.00');
    await shows('ever', '$3.00');
    await balance('$3.0000');
    await section.getByRole('button', { name: 'All of it' }).click();
    await section.getByRole('button', { name: 'Transfer to balance' }).click();
    await balance('$5.0000');
    await section.getByText('At least $1.00 at a time').waitFor();
    expect(await gateway.available(user)).toBe(2_500_000);
    await page.goto('/personal');
    await region('Account').getByText('$5.00').waitFor();
    await region('Invitations').getByText('$3.00').waitFor();
    expect(problems).toEqual([]);
  });

  test('changes the password while this session continues, and the new one signs in from then on', async () => {
    const { page } = opened;
    const section = region('Password');
    await section.getByRole('textbox', { name: 'New password', exact: true }).fill('another-horse');
    await section.getByRole('textbox', { name: 'New password again' }).fill('another-hors');
    await section.getByRole('button', { name: 'Change password' }).click();
    await section.getByText('The two passwords differ').waitFor();
    await section.getByRole('textbox', { name: 'New password again' }).fill('another-horse');
    await section.getByRole('button', { name: 'Change password' }).click();
    await passwordShown(page, user.password);
    await page.getByText('The password has been changed').waitFor();
    await page.reload();
    await region('Account').waitFor();
    const other = await openConsole(launched(), { url: gateway.url });
    try {
      await signIn(other, { ...user, password: 'another-horse' });
    } finally {
      await other.close();
    }
  });

  test('deletes the account with its name typed, and signs out', async () => {
    const { page } = opened;
    await region('Delete account').getByRole('button', { name: 'Delete my account' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Delete my account' }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('traveller');
    await dialog.getByRole('button', { name: 'Delete my account' }).click();
    await passwordShown(page, 'another-horse');
    await page.waitForURL((url) => url.pathname === '/login');
    const answer = await fetch(`${gateway.url}/api/user/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'traveller', password: 'another-horse' }),
    });
    expect(await answer.json()).toMatchObject({ success: false });
  });
}

describeInBrowser('the personal page in the browser', personal);
