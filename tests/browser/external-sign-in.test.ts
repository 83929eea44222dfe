import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ProviderSetting, startProviderSetting } from '../identity-providers/setting.js';
import { telegramSigned } from '../identity-providers/stand-ins.js';
import { type Console, openConsole, passwordShown, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { turnedOn } from './two-step.js';

/** In place of Telegram's: a button beside the script that leads where the script was told, signed. */
const telegramWidget = (members: Readonly<Record<string, string>>): string => {
  const signed = telegramSigned({ ...members, auth_date: String(Math.floor(Date.now() / 1000)) });
  return `{
    const { dataset } = document.currentScript;
    const button = document.createElement('button');
    button.textContent = 'widget of ' + dataset.telegramLogin;
    button.onclick = () => location.assign(dataset.authUrl + '&' + ${JSON.stringify(String(new URLSearchParams(signed)))});
    document.currentScript.after(button);
  }`;
};

/** In by an account elsewhere, and out of somebody else's hands. */
function elsewhere(launched: () => Browser): void {
  let setting: ProviderSetting;
  let opened: Console;
  const atHome = (page: Page): Promise<void> => page.waitForURL(({ pathname }) => pathname === '/');

  beforeAll(async () => {
    setting = await startProviderSetting();
  });
  afterAll(() => setting?.stop());
  beforeEach(async () => {
    opened = await openConsole(launched(), { url: setting.gateway.url });
  });
  afterEach(() => opened?.close());

  test('leads from the login page to a provider of OpenID Connect and back into the console; then GitHub is linked', async () => {
    const { page, problems } = opened;
    setting.oidc.accounts.set('ada', {
      email: 'ada@example.org',
      email_verified: true,
      preferred_username: 'ada',
      name: 'Ada Lovelace',
    });
    await page.goto('/login');
    await page.getByRole('button', { name: 'Log in with OIDC' }).click();
    await page.waitForURL(`${setting.oidc.url}/**`);
    await page.locator('input[name=login]').fill('ada');
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'User menu: Ada Lovelace' }).waitFor();
    await atHome(page);

    await page.goto('/personal');
    const bindings = page.getByRole('region', { name: 'Bound accounts' });
    await bindings.getByText('Not bound').first().waitFor();
    setting.github.atDesk = { id: 77, login: 'ada-hub' };
    await bindings.getByRole('button', { name: 'Bind GitHub', exact: true }).click();
    await page.waitForURL('**/personal');
    await bindings.getByText('ada-hub').waitFor();

    await bindings.getByRole('button', { name: 'Unbind OIDC', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unbind', exact: true }).click();
    await bindings.getByRole('button', { name: 'Bind OIDC', exact: true }).waitFor();
    await bindings.getByRole('button', { name: 'Unbind GitHub', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unbind', exact: true }).click();
    await page.getByText('This is the only way in').waitFor();
    expect(problems).toEqual([]);
  });

  test('works with the code that the WeChat account sends', async () => {
    const { page } = opened;
    setting.relay.codes.set('246810', 'wx-browser');
    await page.goto('/login');
    await page.getByRole('button', { name: 'Log in with WeChat' }).click();
    const dialog = page.getByRole('dialog', { name: 'Log in with WeChat' });
    await dialog.getByRole('textbox', { name: 'Code' }).fill('000000');
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').getByText('The code is wrong or has expired').waitFor();
    await dialog.getByRole('textbox', { name: 'Code' }).fill('246810');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'User menu: WeChat User' }).waitFor();
    await atHome(page);
  });

  test('requires the second factor of a user that has one, and step-up authentication for linking', async () => {
    const { page, problems } = opened;
    const user = await setting.gateway.addUser(0);
    await signIn(opened, user);
    const { recoveryCodes } = await turnedOn(page, user);
    const proven = async (name: string): Promise<void> => {
      await page.getByLabel('Code', { exact: true }).fill(recoveryCodes.pop() ?? '');
      await page.getByRole('button', { name, exact: true }).click();
    };
    setting.github.atDesk = { id: 78, login: 'twice' };
    const bindings = page.getByRole('region', { name: 'Bound accounts' });
    await bindings.getByRole('button', { name: 'Bind GitHub', exact: true }).click();
    await proven('Confirm');
    await page.waitForURL('**/personal');
    await bindings.getByText('twice').waitFor();
    await page.getByRole('button', { name: `User menu: ${user.username}` }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in with GitHub' }).click();
    await page.getByText('This account has two-step verification').waitFor();
    await proven('Log in');
    await page.getByRole('button', { name: `User menu: ${user.username}` }).waitFor();
    await atHome(page);
    expect(problems).toEqual([]);
  });

  test('on the registration page offers the providers that register, and keeps the invite code', async () => {
    const { page } = opened;
    const inviter = await setting.gateway.addUser(0);
    const { code, position } = await setting.gateway.application.users.invites.ownCode(inviter.actor);
    if (position !== null) await setting.gateway.application.visible(position);
    setting.github.atDesk = { id: 79, login: 'invited' };
    await page.goto(`/register?aff=${code}`);
    await page.getByRole('button', { name: 'Log in with GitHub' }).waitFor();
    expect(await page.getByRole('button', { name: 'Log in with Telegram' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Log in with GitHub' }).click();
    await page.getByRole('button', { name: /^User menu: / }).waitFor();
    const { users } = setting.gateway.application;
    const invited = await users.bindings.identityHolder('github', '79');
    const { inviter_id } = await setting.gateway.application.queries.user(setting.gateway.root, invited as never);
    expect(inviter_id).toBe(inviter.actor.id);
  });

  test('works with Telegram, whose widget leads to the account linked before', async () => {
    const { page, context, problems } = opened;
    const user = await setting.gateway.addUser(0);
    await signIn(opened, user);
    let visits = 0;
    await context.route('https://telegram.org/js/telegram-widget.js*', (route) =>
      route.fulfill({
        contentType: 'text/javascript',
        body: telegramWidget({ id: '4711', first_name: `visit ${++visits}` }),
      }),
    );
    await page.goto('/personal');
    const bindings = page.getByRole('region', { name: 'Bound accounts' });
    await bindings.getByRole('button', { name: 'Bind Telegram', exact: true }).click();
    await page.getByRole('button', { name: 'widget of our_bot' }).click();
    await passwordShown(page, user.password);
    await page.waitForURL('**/personal');
    await bindings.getByText('4711').waitFor();
    await page.getByRole('button', { name: `User menu: ${user.username}` }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in with Telegram' }).click();
    await page.getByRole('button', { name: 'widget of our_bot' }).click();
    await page.getByRole('button', { name: `User menu: ${user.username}` }).waitFor();
    await atHome(page);
    expect(problems).toEqual([]);
  });

  test('is refused with another user’s data: neither a state nor what Telegram signed for them', async () => {
    const { page } = opened;
    await page.goto('/oauth/github?code=stolen&state=ofAnother123');
    await page.getByRole('alert').getByText('This sign-in has expired').waitFor();
    await page.getByRole('link', { name: 'Back to the login' }).click();
    await page.waitForURL('**/login');

    const { actor, username, password } = await setting.gateway.addUser(0);
    await signIn(opened, { username, password });
    const forged = telegramSigned({ id: '666', auth_date: String(Math.floor(Date.now() / 1000)) });
    await page.goto(`/oauth/telegram?${new URLSearchParams({ ...forged, visit: 'guessed' })}`);
    await page.getByRole('alert').getByText('The sign-in was cancelled').waitFor();
    const { queries } = setting.gateway.application;
    expect((await queries.self(actor)).telegram).toBe('');
  });

  test('shows an error when the provider does not answer, and works again afterwards', async () => {
    const { page } = opened;
    await setting.gateway.setOption('oidc.well_known', 'http://127.0.0.1:1/.well-known/openid-configuration');
    await page.goto('/login');
    await page.getByRole('button', { name: 'Log in with OIDC' }).click();
    await page.getByRole('alert').getByText('The provider cannot be reached; try again later').waitFor();
    await setting.gateway.setOption('oidc.well_known', setting.oidc.wellKnown);
    await page.getByRole('button', { name: 'Log in with OIDC' }).click();
    await page.waitForURL(`${setting.oidc.url}/**`);
  });

  test('shows an error when the provider refuses', async () => {
    const { page } = opened;
    await page.goto('/oauth/oidc?error=access_denied&state=x');
    await page.getByRole('alert').getByText('The sign-in was cancelled').waitFor();
  });
}

describeInBrowser('signing in by an identity provider in the browser', elsewhere);
