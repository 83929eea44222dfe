import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';

const site = 'https://chat.example';

/** What strangers come for: prices, what this is; and front ends for users, which get a key where their link says so. */
function shop(launched: () => Browser): void {
  let gateway: TestGateway;
  let user: TestUser;
  let opened: Console;
  /** What the front end of another site was asked for, and by what. */
  let asked: Request[];

  const keyNamed = async (name: string): Promise<string> => {
    const { application } = gateway;
    const { key, position } = await application.apiKeys.issue(user.actor, {
      quota: 0,
      terms: apiKeyTerms({ name, unlimited: true }),
    });
    await application.visible(position);
    return `sk-${key}`;
  };
  const setChats = (links: readonly Readonly<Record<string, string>>[]): Promise<void> =>
    gateway.setOption('Chats', JSON.stringify(links));
  const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()');

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel({
      models: ['gpt-4o', 'gpt-4o-mini', 'dall-e-3', 'unheard-of'],
      groups: ['default', 'vip'],
    });
    await gateway.addChannel({ name: 'staff', models: ['o1'], groups: ['staff'] });
    await gateway.setOption('GroupRatio', '{"default":1,"vip":0.5,"staff":2}');
    user = await gateway.addUser(1_000_000, 'alice');
    opened = await openConsole(launched(), { url: gateway.url });
    await opened.context.route(`${site}/**`, (route) => {
      asked.push(route.request());
      return route.fulfill({ contentType: 'text/html', body: '<h1>Front end</h1>' });
    });
  });
  beforeEach(() => {
    asked = [];
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
  });

  describe('the price list', () => {
    const price = (page: Page, model: string) =>
      page.getByRole('row').filter({
        has: page.getByRole('button', { name: `Copy the model name ${model}`, exact: true }),
      });

    test('is available to visitors, with the public groups', async () => {
      const { page } = opened;
      await page.goto('/');
      await page.getByRole('navigation', { name: 'Top navigation' }).getByRole('link', { name: 'Pricing' }).click();
      await page.getByText('You are not logged in: these are the prices of the group default, ratio 1.').waitFor();
      const row = price(page, 'gpt-4o');
      // Input, and what is written to a cache, which costs no more for this model.
      await row.getByText('$2.5', { exact: true }).nth(1).waitFor();
      await row.getByText('$10', { exact: true }).waitFor();
      await price(page, 'dall-e-3').getByText('$0.04 / call').waitFor();
      await price(page, 'unheard-of').getByText('No price', { exact: true }).waitFor();
      await price(page, 'o1').getByRole('img', { name: 'Not available to this group' }).waitFor();
      expect(await page.getByRole('main').innerText()).not.toContain('staff');
    });

    test('shows another group by a click on it, and keeps it in the address', async () => {
      const { page } = opened;
      await price(page, 'dall-e-3').getByRole('button', { name: 'Show prices for the group vip' }).click();
      await page.getByText('Prices shown: group vip, ratio 0.5').waitFor();
      await price(page, 'dall-e-3').getByText('$0.02 / call').waitFor();
      await page.reload();
      await price(page, 'dall-e-3').getByText('$0.02 / call').waitFor();
      await page.goto('/pricing?group=staff');
      await price(page, 'dall-e-3').getByText('$0.04 / call').waitFor();
    });

    test('finds models by their letters, and copies names, one or many', async () => {
      const { page } = opened;
      await page.getByLabel('Search models').fill('g4');
      await page.keyboard.press('Enter');
      await page.getByText('2 in total').waitFor();
      await page.getByRole('button', { name: 'Copy the model name gpt-4o-mini' }).click();
      await expect.poll(() => clipboard(page)).toBe('gpt-4o-mini');
      for (const name of ['gpt-4o', 'gpt-4o-mini'])
        await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).check({ force: true });
      await page.getByRole('button', { name: 'Copy selected models (2)' }).click();
      await expect.poll(() => clipboard(page)).toBe('gpt-4o,gpt-4o-mini');
      await page.getByLabel('Billing').selectOption('By call');
      await page.getByText('No model matches').waitFor();
      await page.getByRole('button', { name: 'Reset' }).click();
      await page.getByText('5 in total').waitFor();
    });

    test('is sorted by name and by price, and keeps that in the address', async () => {
      const { page } = opened;
      const names = (): Promise<string[]> => page.getByRole('rowheader').allInnerTexts();
      const first = async (): Promise<string> => (await names())[0]?.trim().split('\n')[0] ?? '';
      await page.goto('/pricing');
      await page.getByRole('button', { name: 'Model', exact: true }).click();
      await expect.poll(first).toBe('unheard-of');
      await page.getByRole('button', { name: /^Input/ }).press('Enter');
      await expect.poll(first).toBe('o1');
      await page.reload();
      await expect.poll(first).toBe('o1');
      await page.getByRole('button', { name: /^Output/ }).click();
      await page.getByRole('button', { name: /^Output/ }).click();
      await expect.poll(first).toBe('gpt-4o-mini');
      expect(new URL(page.url()).searchParams.get('sort')).toBe('OUTPUT');
    });

    test('shows the prices of audio, pictures, tools, service tiers and long prompts in the detail of a model', async () => {
      const { page } = opened;
      const id = await gateway.addChannel({ models: ['gemini-9-flash', 'gpt-4o-audio-preview'] });
      await gateway.setOption('ModelRatio', '{"gemini-9-flash":1,"gpt-4o-audio-preview":1.25}');
      await gateway.setOption('ImageOutputRatio', '{"gemini-9-flash":15}');
      await gateway.setOption('ContextTiers', '{"gemini-9-flash":[{"over":200000,"input":2,"output":1.5}]}');
      await gateway.setOption('ServiceTiers', '{"gemini-9*":{"flex":0.5,"auto":1.8}}');
      const detail = async (model: string): Promise<string> => {
        await price(page, model).getByRole('button', { name: 'Expand' }).click();
        return page.locator('.pricing-detail').innerText();
      };
      await page.goto('/pricing?search=gemini');
      await price(page, 'gemini-9-flash').getByText('long prompts differ').waitFor();
      const gemini = (await detail('gemini-9-flash')).replaceAll(/\s+/g, ' ');
      for (const shown of [
        'Image output $30 / 1M tokens',
        'Google searches $14 / 1,000 uses',
        'if its prompt has more than 200,000 tokens: Input $4 / 1M tokens',
        'flex × 0.5',
        'auto (the upstream account decides), at most × 1.8',
      ])
        expect(gemini).toContain(shown);
      await page.goto('/pricing?search=audio');
      const sound = (await detail('gpt-4o-audio-preview')).replaceAll(/\s+/g, ' ');
      for (const shown of ['Audio input $100 / 1M tokens', 'Audio output $200 / 1M tokens', 'Web searches $25'])
        expect(sound).toContain(shown);
      for (const key of ['ModelRatio', 'ContextTiers', 'ServiceTiers', 'ImageOutputRatio'] as const)
        await gateway.application.options.reset(gateway.root, key);
      const { application, root } = gateway;
      await application.visible(await application.channels.remove(root, [id]));
    });

    test('shows users their own group, with the same price as on the bill of a call', async () => {
      const { page } = opened;
      await signIn(opened, user);
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await keyNamed('first')}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello?' }] }),
      });
      expect(answer.status).toBe(200);
      await page.getByRole('link', { name: 'Pricing' }).click();
      await page.getByText('Your group: default, ratio 1').waitFor();
      await price(page, 'gpt-4o-mini').getByRole('button', { name: 'Expand' }).click();
      for (const shown of ['$0.15 / 1M tokens', '$0.6 / 1M tokens'])
        await page.locator('dd').filter({ hasText: shown }).first().waitFor();
      await page.getByRole('link', { name: 'Usage logs' }).click();
      await page.getByRole('heading', { name: 'Usage log', level: 1 }).waitFor();
      await page.getByRole('button', { name: 'Expand' }).first().click();
      for (const shown of ['$0.15 / 1M tokens', '$0.6 / 1M tokens'])
        await page.getByRole('cell', { name: shown }).waitFor();
    });
  });

  describe('the operator’s page about the gateway', () => {
    test('is a page, another site in a sandboxed frame, or a built-in text', async () => {
      const { page } = opened;
      await page.getByRole('link', { name: 'About' }).click();
      await page.getByRole('heading', { name: 'About Tallygate' }).waitFor();
      await gateway.setOption('About', '# The harbour\n\nSince *1842*.');
      await page.reload();
      await page.getByRole('heading', { name: 'The harbour' }).waitFor();
      await gateway.setOption('About', `${site}/about`);
      await page.reload();
      await page.frameLocator('iframe[title="About"]').getByRole('heading', { name: 'Front end' }).waitFor();
      expect(await page.locator('iframe').getAttribute('sandbox')).not.toMatch(/same-origin|top-navigation/);
      await gateway.setOption('About', 'http://plain.example/about');
      await page.reload();
      const link = page.getByRole('link', { name: 'Open About in a new window' });
      expect(await link.getAttribute('href')).toBe('http://plain.example/about');
      expect(await page.locator('iframe').count()).toBe(0);
    });
  });

  describe('a chat front end', () => {
    const frontEnd = (page: Page) => page.frameLocator('iframe').getByRole('heading', { name: 'Front end' });
    const question = () => new URL(asked.at(-1)?.url() ?? '').searchParams;
    let first: string;
    let second: string;

    beforeAll(async () => {
      await setChats([
        { 'Our chat': `${site}/?key={key}&url={address}` },
        { 'An app': 'ama://set-api-key?server={address}&key={key}' },
        { Plain: 'http://chat.example/?key={key}' },
        { Keyless: `${site}/hello` },
      ]);
      first = await keyNamed('second');
      second = await keyNamed('third');
    });

    test('is opened from the sidebar, in a frame, with the newest enabled token', async () => {
      const { page } = opened;
      await page.goto('/token');
      await page.getByRole('button', { name: 'Chat', exact: true }).click();
      await page.getByRole('link', { name: 'Our chat' }).click();
      await frontEnd(page).waitFor();
      expect([question().get('key'), question().get('url')]).toEqual([second, gateway.url]);
      expect(await page.getByRole('navigation', { name: 'Console' }).count()).toBe(0);
    });

    test('receives no referrer, and the console’s address contains no key', async () => {
      const { page } = opened;
      expect(page.url()).toBe(`${gateway.url}/chat/0`);
      await page.reload();
      await frontEnd(page).waitFor();
      expect(await asked.at(-1)?.headerValue('referer')).toBe(null);
      expect(await page.locator('iframe').getAttribute('sandbox')).not.toContain('top-navigation');
    });

    test('is opened with one token, from its menu', async () => {
      const { page } = opened;
      await page.goto('/token');
      await page.getByRole('button', { name: 'Chat with second' }).click();
      await page.getByRole('menuitem', { name: 'Our chat' }).click();
      await frontEnd(page).waitFor();
      expect(question().get('key')).toBe(first);
      expect(page.url()).not.toContain(first);
    });

    test('that is an app, or is not encrypted, is opened on request, and gets nothing before', async () => {
      const { page } = opened;
      await page.goto('/chat/1');
      const app = page.getByRole('link', { name: 'Open An app' });
      expect(await app.getAttribute('href')).toBe(
        `ama://set-api-key?server=${encodeURIComponent(gateway.url)}&key=${second}`,
      );
      await page.goto('/chat/2');
      const plain = page.getByRole('link', { name: 'Open Plain' });
      expect(await plain.getAttribute('href')).toBe(`http://chat.example/?key=${second}`);
      expect(await plain.getAttribute('rel')).toBe('noopener noreferrer');
      expect(await page.locator('iframe').count()).toBe(0);
      expect(asked).toEqual([]);
    });

    test('replaces the console at /chat2link', async () => {
      const { page } = opened;
      await page.goto('/chat2link');
      await page.waitForURL(`${site}/**`);
      expect(question().get('key')).toBe(second);
      expect(await asked.at(-1)?.headerValue('referer')).toBe(null);
      await page.goto('/token');
    });

    test('that is missing, or has no valid address, is reported with a text', async () => {
      const { page } = opened;
      for (const path of ['/chat/7', '/chat/x']) {
        await page.goto(path);
        await page.getByText('Chat link configuration error, contact the administrator').waitFor();
      }
      await setChats([]);
      await page.goto('/chat');
      await page.getByText('Please contact the administrator to configure chat links').waitFor();
      await page.goto('/token');
      await page.getByRole('button', { name: 'Copy the key of second' }).waitFor();
      expect(await page.getByRole('button', { name: /^Chat/ }).count()).toBe(0);
    });

    test('without any enabled token leads to the tokens', async () => {
      const { page } = opened;
      await setChats([{ 'Our chat': `${site}/?key={key}` }, { Keyless: `${site}/hello` }]);
      const { application } = gateway;
      const tokens = await application.queries.apiKeys({ ...user.actor }, { page: 1, size: 100 });
      for (const { id } of tokens.items)
        await application.visible(await application.apiKeys.setStatus(user.actor, id, 'manual'));
      await page.goto('/chat/0');
      await page.getByRole('heading', { name: 'There is currently no enabled token' }).waitFor();
      await page.waitForURL('**/token');
      expect(asked).toEqual([]);
    });

    test('is available to visitors only where it requires no key', async () => {
      const stranger = await openConsole(launched(), { url: gateway.url });
      try {
        await stranger.context.route(`${site}/**`, (route) => route.fulfill({ contentType: 'text/html', body: 'Hi.' }));
        await stranger.page.goto('/chat/0');
        await stranger.page.waitForURL((url) => url.pathname === '/login');
        await stranger.page.goto('/chat/1');
        await stranger.page.frameLocator('iframe').getByText('Hi.').waitFor();
        expect(stranger.problems).toEqual([]);
      } finally {
        await stranger.close();
      }
    });
  });

  test('addresses of the legacy console open the drawers of this one', async () => {
    const admin = await openConsole(launched(), { url: gateway.url });
    const { page } = admin;
    try {
      await signIn(admin, { username: 'root', password: gateway.rootPassword });
      for (const [path, dialog] of [
        ['/channel/add', 'New channel'],
        ['/channel/edit/2', 'Edit channel staff'],
        [`/user/edit/${user.actor.id}`, 'Edit user alice'],
      ] as const) {
        await page.goto(path);
        await page.getByRole('dialog', { name: dialog }).waitFor();
      }
      await page.goto('/user/edit');
      await page.waitForURL('**/personal');
    } finally {
      await admin.close();
    }
  });

  test('no error occurred in the page', () => {
    expect(opened.problems).toEqual([]);
  });
}

describeInBrowser('the public pages in the browser', shop);
