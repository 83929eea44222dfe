import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import { follow } from './tables.js';

/** Whatever ran would have set it. */
const trap = 'window.trapped = true';
const sprung = ({ page }: Console): Promise<boolean> => page.evaluate<boolean>('window.trapped === true');

const channelName = `<img src=x onerror="${trap}"><script>${trap}</script>`;
/** At most 30 bytes. */
const tokenName = '<img src=x onerror=alert(1)>';
/** At most 20 characters. */
const displayName = '<svg onload=alert()>';
const operatorHtml = (words: string): string =>
  `<p>${words}</p><script>${trap}</script><img src="x" onerror="${trap}"><svg onload="${trap}"></svg>
  <a href="javascript:${trap}">lure of ${words}</a><iframe srcdoc="<script>parent.trapped = true</script>"></iframe>
  <form action="/login"><input name="password"></form><style>body { display: none }</style>`;

/** Texts that others wrote, and that would like to be more than text. */
function hostileTexts(launched: () => Browser): void {
  let gateway: TestGateway;
  let mallory: TestUser;
  let opened: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    const { application } = gateway;
    await gateway.addChannel({ name: channelName });
    mallory = await gateway.addUser(1_000_000, 'mallory');
    await application.visible(
      await application.users.changeOwnProfile(mallory.actor, { username: null, password: null, displayName }),
    );
    for (const actor of [mallory.actor, gateway.root]) {
      const { key, position } = await application.apiKeys.issue(actor, {
        quota: 0,
        terms: apiKeyTerms({ name: tokenName, unlimited: true }),
      });
      await application.visible(position);
      const { status } = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello?' }] }),
      });
      expect(status).toBe(200);
    }
    opened = await openConsole(launched(), { url: gateway.url });
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
  });

  test('names are displayed as text on every page', async () => {
    const { page } = opened;
    await signIn(opened, { username: 'root', password: gateway.rootPassword });
    await page.getByRole('link', { name: tokenName }).waitFor();
    const shown = [
      ['/channel', channelName],
      ['/channel?open=1', channelName],
      ['/user', displayName],
      ['/log', channelName],
      ['/log', tokenName],
      ['/detail', channelName],
      ['/token?everyone=true', tokenName],
    ] as const;
    for (const [path, text] of shown) {
      await follow(page, path);
      await page.getByText(text).first().waitFor();
      expect([path, await sprung(opened)]).toEqual([path, false]);
    }
  });

  test('a name is text in the menu of its user, and in confirmations about it', async () => {
    const own = await openConsole(launched(), { url: gateway.url });
    try {
      await signIn(own, mallory);
      await own.page.getByRole('button', { name: `User menu: ${displayName}` }).waitFor();
      await own.page.getByRole('button', { name: `Delete ${tokenName}` }).click();
      await own.page.getByRole('dialog', { name: `Delete token ${tokenName}?` }).waitFor();
      await own.page.getByRole('button', { name: 'Cancel' }).click();
      await own.page.getByRole('button', { name: `Disable ${tokenName}` }).click();
      await own.page.getByText(`Token ${tokenName} is disabled`).waitFor();
      expect(own.problems).toEqual([]);
    } finally {
      await own.close();
    }
  });

  test('no alert and no error occurred so far', () => {
    expect(opened.problems).toEqual([]);
  });

  test('the operator’s texts are displayed without scripts, requests and styles', async () => {
    const { page } = opened;
    await gateway.setOption('HomePageContent', operatorHtml('Our home'));
    await gateway.setOption('Footer', operatorHtml('Our footer'));
    await gateway.setOption('Notice', operatorHtml('Our notice'));
    await page.goto('/');
    for (const words of ['Our home', 'Our footer', 'Our notice']) {
      await page.getByText(words, { exact: true }).waitFor();
      await page.getByText(`lure of ${words}`).click();
    }
    await gateway.setOption('About', operatorHtml('Our about'));
    await page.goto('/about');
    await page.getByText('Our about', { exact: true }).waitFor();
    await page.getByText('lure of Our about').click();
    expect(
      await page.locator('iframe, form, input, main style, footer style, main script, footer script').count(),
    ).toBe(0);
    expect(await page.locator('[onerror], [onload], [href^="javascript:"]').count()).toBe(0);
    expect(await sprung(opened)).toBe(false);
  });

  test('a script address is refused for the home page', async () => {
    const { page } = opened;
    await gateway.setOption('HomePageContent', `javascript:${trap}`);
    await page.goto('/');
    await page.getByRole('main').getByText(`javascript:${trap}`).waitFor();
    expect(await page.locator('iframe').count()).toBe(0);
    expect(await sprung(opened)).toBe(false);
  });

  test('nothing happened except the sanitiser’s own messages about what it removed', () => {
    const complaint = 'console: Executing inline event handler violates';
    expect(opened.problems.filter((problem) => !problem.startsWith(complaint))).toEqual([]);
  });

  describe('as a second line of defence', () => {
    test('the page has a policy without inline scripts, and has none itself', async () => {
      const response = await fetch(gateway.url, { headers: { accept: 'text/html' } });
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/(^|; )script-src 'self'(;|$)/);
      expect(policy).not.toMatch(/script-src[^;]*unsafe/);
      expect(await response.text()).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=/i);
    });

    test('the browser refuses to run a script', async () => {
      const victim = await openConsole(launched(), { url: gateway.url });
      try {
        await victim.page.goto('/login');
        await victim.page.getByRole('button', { name: 'Log in' }).waitFor();
        const planted = `<img src="x" onerror="${trap}"><a href="javascript:${trap}" id="lure">lure</a>`;
        await victim.page.evaluate(`{
          document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(planted)});
          const script = document.createElement('script');
          script.textContent = ${JSON.stringify(trap)};
          document.body.append(script);
          document.getElementById('lure').click();
        }`);
        const refusals = () => victim.problems.filter((problem) => problem.includes('Content Security Policy'));
        await expect.poll(() => refusals().length).toBeGreaterThanOrEqual(3);
        expect(await sprung(victim)).toBe(false);
      } finally {
        await victim.close();
      }
    });
  });
}

describeInBrowser('hostile texts in the browser', hostileTexts);
