import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Console, openConsole, passwordShown } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { type MailServer, startMailServer } from '../support/gateway/mail-server.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { startTurnstile, type TurnstileServer, turnstileSecret } from '../support/gateway/turnstile-server.js';

const widgetScript = 'https://challenges.cloudflare.com/turnstile/v0/api.js*';

/** In place of Cloudflare's: a widget that shows itself and gives an answer at once. */
const widget = (answer: string): string => `window.turnstile = {
  render(place, options) {
    place.textContent = 'widget of ' + options.sitekey;
    options.callback(${JSON.stringify(answer)});
    return 'widget';
  },
  remove() {},
};`;

/** Of a mail in the language that the console is shown in; of any other there is none. */
const codeIn = ({ text }: { readonly text: string }): string =>
  /Your verification code: ([0-9a-f]{6})$/m.exec(text)?.[1] ?? '';

/** Becoming a user with nobody's help, and getting in again without the password. */
function registering(launched: () => Browser): void {
  let gateway: TestGateway;
  let mail: MailServer;
  let turnstile: TurnstileServer;
  let opened: Console;

  beforeAll(async () => {
    [mail, turnstile] = await Promise.all([startMailServer({ plainOnly: true }), startTurnstile()]);
    gateway = await startTestGateway({ OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8', TURNSTILE_URL: turnstile.url });
  });
  afterAll(async () => {
    await gateway?.stop();
    await mail?.stop();
    await turnstile?.stop();
  });
  beforeEach(async () => {
    opened = await openConsole(launched(), { url: gateway.url });
  });
  afterEach(() => opened?.close());

  const fill = async (page: Page, fields: Readonly<Record<string, string>>): Promise<void> => {
    for (const [label, text] of Object.entries(fields))
      await page.getByRole('textbox', { name: label, exact: true }).fill(text);
  };
  const passwords = { Password: 'correct-horse', 'Confirm password': 'correct-horse' };

  test('without mail has a form for name and password, and no link for forgotten ones', async () => {
    const { page, problems } = opened;
    await page.goto('/login');
    await page.getByRole('link', { name: 'No account? Register' }).click();
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByText('Enter a user name').waitFor();
    expect(await page.getByRole('textbox', { name: 'E-mail address' }).count()).toBe(0);
    await fill(page, { 'User name': 'walter', ...passwords, 'Confirm password': 'correct-house' });
    await page.getByText('The two passwords do not match').waitFor();
    await fill(page, passwords);
    await page.getByRole('button', { name: 'Register' }).click();
    await page.waitForURL('**/login');
    await fill(page, { 'User name or e-mail address': 'walter', Password: 'correct-horse' });
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor();
    expect(problems).toEqual([]);

    await opened.close();
    opened = await openConsole(launched(), { url: gateway.url });
    await opened.page.goto('/login');
    await opened.page.getByRole('link', { name: 'No account? Register' }).waitFor();
    expect(await opened.page.getByRole('link', { name: 'Forgot your password?' }).count()).toBe(0);
    await opened.page.goto('/reset');
    await opened.page.getByText('No mail is sent from here.').waitFor();
  });

  test('shows no link and a remedy while it is closed', async () => {
    await gateway.setOption('RegisterEnabled', 'false');
    const { page } = opened;
    await page.goto('/register');
    await page.getByText('Registration has been switched off').waitFor();
    await page.getByRole('link', { name: 'Have an account? Log in' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    expect(await page.getByRole('link', { name: /Register/ }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Register' }).count()).toBe(0);
    await gateway.setOption('RegisterEnabled', 'true');
  });

  describe('with mail and the human check', () => {
    beforeAll(async () => {
      await gateway.setOption('SMTPServer', mail.host);
      await gateway.setOption('SMTPPort', String(mail.port));
      await gateway.setOption('SMTPFrom', 'gate@mail.example');
      await gateway.setOption('ServerAddress', gateway.url);
      await gateway.setOption('EmailVerificationEnabled', 'true');
      await gateway.setOption('TurnstileSiteKey', 'site-key');
      await gateway.setOption('TurnstileSecretKey', turnstileSecret);
      await gateway.setOption('TurnstileCheckEnabled', 'true');
    });

    test('accepts a code from the mail, and refuses an early second one', async () => {
      const { page, context, problems } = opened;
      await context.route(widgetScript, (route) =>
        route.fulfill({ contentType: 'text/javascript', body: widget(turnstile.answer()) }),
      );
      await page.goto('/register');
      await page.getByText('widget of site-key').waitFor();
      await fill(page, { 'User name': 'xenia', ...passwords, 'E-mail address': 'xenia@mail.example' });
      await page.getByRole('button', { name: 'Send code' }).click();
      await page.getByRole('button', { name: /Again in \d+ s/ }).waitFor();
      const code = codeIn(await mail.mailTo('xenia@mail.example'));
      await fill(page, { 'Code from the mail': 'ffffffff' });
      await page.getByRole('button', { name: 'Register' }).click();
      await page.getByRole('alert').getByText('The code is wrong or has expired').waitFor();
      await fill(page, { 'Code from the mail': code });
      await page.getByRole('button', { name: 'Register' }).click();
      await page.waitForURL('**/login');

      await page.getByRole('link', { name: 'Forgot your password?' }).click();
      await fill(page, { 'E-mail address': 'nobody@mail.example' });
      await page.getByRole('button', { name: 'Send the link' }).click();
      await page.getByRole('alert').getByText('Nobody is registered with this e-mail address').waitFor();
      await fill(page, { 'E-mail address': 'xenia@mail.example' });
      await page.getByRole('button', { name: 'Send the link' }).click();
      // The code was sent there a moment ago.
      await page.getByRole('alert').getByText('Too many requests').waitFor();
      expect(problems).toEqual([]);
    });

    test('replaces a forgotten password by the link of a mail, valid once; the new one signs in', async () => {
      const { page, context, problems } = opened;
      await context.route(widgetScript, (route) =>
        route.fulfill({ contentType: 'text/javascript', body: widget(turnstile.answer()) }),
      );
      const { actor, username, password: forgotten } = await gateway.addUser(0, 'yusuf');
      await gateway.application.users.bindings.changeEmail(actor.id, 'yusuf@mail.example');
      const signingIn = async (password: string): Promise<void> => {
        await page.getByText('widget of site-key').waitFor();
        await fill(page, { 'User name or e-mail address': username, Password: password });
        await page.getByRole('button', { name: 'Log in', exact: true }).click();
      };
      await page.goto('/login');
      await page.getByRole('link', { name: 'Forgot your password?' }).click();
      await page.getByText('widget of site-key').waitFor();
      await fill(page, { 'E-mail address': 'yusuf@mail.example' });
      await page.getByRole('button', { name: 'Send the link' }).click();
      await page.getByRole('status').getByText('A link has been sent to yusuf@mail.example').waitFor();
      await page.getByRole('button', { name: /Again in \d+ s/ }).waitFor();

      const link = /http\S+/.exec((await mail.mailTo('yusuf@mail.example')).text)?.[0] ?? '';
      await page.goto(link);
      await page.getByText('The password of yusuf@mail.example is replaced').waitFor();
      await page.getByRole('button', { name: 'Replace the password' }).click();
      const shown = page.getByRole('status').locator('code');
      await shown.waitFor();
      const password = (await shown.textContent()) ?? '';
      await page.getByRole('button', { name: 'Copy the new password' }).click();
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(password);
      await page.goto(link);
      await page.getByRole('button', { name: 'Replace the password' }).click();
      await page.getByRole('alert').getByText('This link is wrong or has expired').waitFor();
      await page.goto('/user/reset');
      await page.getByText('This link is not complete').waitFor();

      await page.getByRole('link', { name: 'Back to the login' }).click();
      await signingIn(forgotten);
      await page.getByRole('alert').getByText('Wrong user name or password').waitFor();
      await signingIn(password);
      await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor();
      expect(problems).toEqual([]);
    });

    test('links, changes and removes the address on the personal page', async () => {
      const { page, context, problems } = opened;
      await context.route(widgetScript, (route) =>
        route.fulfill({ contentType: 'text/javascript', body: widget(turnstile.answer()) }),
      );
      const user = await gateway.addUser(0, 'zora');
      await page.goto('/login');
      await page.getByText('widget of site-key').waitFor();
      await fill(page, { 'User name or e-mail address': 'zora', Password: user.password });
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor();
      await page.goto('/personal');
      const bindings = page.getByRole('region', { name: 'Bound accounts' });
      for (const [button, email] of [
        ['Bind an e-mail address', 'zora@mail.example'],
        ['Change the e-mail address', 'zora@other.example'],
      ] as const) {
        await bindings.getByRole('button', { name: button }).click();
        await fill(page, { 'New e-mail address': email });
        await page.getByRole('button', { name: 'Send code' }).click();
        const code = codeIn(await mail.mailTo(email));
        await fill(page, { 'Code from the mail': 'ffffff' });
        await page.getByRole('button', { name: 'Submit' }).click();
        await passwordShown(page, user.password);
        await page.getByText('The code is wrong or has expired').first().waitFor();
        // Refused for its code alone, the order has left the proof as it was.
        await fill(page, { 'Code from the mail': code });
        await page.getByRole('button', { name: 'Submit' }).click();
        await bindings.getByText(email).waitFor();
      }
      await bindings.getByRole('button', { name: 'Remove the e-mail address' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
      await passwordShown(page, user.password);
      await bindings.getByRole('button', { name: 'Bind an e-mail address' }).waitFor();
      expect(problems).toEqual([]);
    });

    test('shows an error for a widget that does not load, and can load it again', async () => {
      const { page, context } = opened;
      let comes = false;
      await context.route(widgetScript, (route) =>
        comes ? route.fulfill({ contentType: 'text/javascript', body: widget(turnstile.answer()) }) : route.abort(),
      );
      await page.goto('/login');
      await page.getByText('The check that you are human could not be loaded.').waitFor();
      await fill(page, { 'User name or e-mail address': 'walter', Password: 'correct-horse' });
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('alert').getByText('Wait until the check that you are human is done').waitFor();
      comes = true;
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('widget of site-key').waitFor();
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor();
    });
  });
}

describeInBrowser('registration and forgotten passwords in the browser', registering);
