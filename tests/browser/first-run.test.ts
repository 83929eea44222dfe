import OpenAI from 'openai';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SimulatedProvider, startSimulatedProvider } from '../../src/demo/simulated-provider.js';
import { type Console, openConsole } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { barriers } from './axe.js';
import { startFreshGateway } from './fresh-gateway.js';
import { isMarked, mark, rowOf, visit } from './tables.js';

/** From a gateway nobody has set up to a call that is charged and seen, with nothing but the console. */
function firstRun(launched: () => Browser): void {
  const password = 'first-password-1';
  let gateway: Awaited<ReturnType<typeof startFreshGateway>>;
  let provider: SimulatedProvider;
  let opened: Console;
  let apiKey: string;

  beforeAll(async () => {
    provider = await startSimulatedProvider();
    gateway = await startFreshGateway();
    opened = await openConsole(launched(), { url: gateway.url });
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
    await provider?.stop();
  });

  test('before the set-up, every path leads to the wizard', async () => {
    const { page } = opened;
    for (const path of ['/', '/login', '/token', '/no/such/page']) {
      await page.goto(path);
      await page.waitForURL('**/setup');
    }
    await page.getByRole('heading', { name: 'Set up the system' }).waitFor();
  });

  test('the wizard explains the modes and shows errors beside the fields', async () => {
    const { page } = opened;
    await page.getByRole('button', { name: 'How the modes differ' }).click();
    const modes = page.getByRole('dialog', { name: 'How the modes differ' });
    await modes.getByText('For personal use.').waitFor();
    await page.keyboard.press('Escape');
    await modes.waitFor({ state: 'detached' });

    await page.getByLabel('Password', { exact: false }).first().fill('short');
    await page.getByRole('button', { name: 'Set up the system' }).click();
    await page.getByText('Enter the administrator user name').waitFor();
    await page.getByText('The password must have at least 8 characters').waitFor();
    await page.getByText('The two passwords do not match').waitFor();
  });

  test('the link in the log contains the code, which is removed from the address bar at once', async () => {
    const { page } = opened;
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(`${request.url()} ${request.headers().referer ?? ''}`));
    const link = gateway.linkInLog();
    const code = new URLSearchParams(new URL(link).hash.slice(1)).get('code') ?? '';
    expect(code).toMatch(/^\w{4}-\w{4}-\w{4}$/);
    await page.goto('about:blank');
    await page.goto(link);
    await expect.poll(() => page.getByRole('textbox', { name: 'Set-up code' }).inputValue()).toBe(code);
    expect(page.url()).toBe(`${gateway.url}/setup`);
    await page.reload();
    await page.goBack();
    await page.goForward();
    expect(page.url()).toBe(`${gateway.url}/setup`);
    // Entered once more: the page was loaded anew, and nothing of the code was left anywhere.
    await page.getByRole('textbox', { name: 'Set-up code' }).fill(code);
    expect(asked.filter((line) => line.includes(code))).toEqual([]);
  });

  test('the setup signs the administrator in, and leads to the dashboard', async () => {
    const { page } = opened;
    await page.getByRole('textbox', { name: 'Administrator user name' }).fill('keeper');
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
    await page.getByRole('textbox', { name: 'Confirm password' }).fill(password);
    await page.getByRole('button', { name: 'Set up the system' }).click();
    await page.getByRole('heading', { name: 'Dashboard', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'User menu: Root User' }).waitFor();
    const cookies = (await opened.context.cookies()).filter(({ name }) => name === 'session');
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict', path: '/' }]);
  });

  test('the first steps are listed there, and the first one leads to a new channel', async () => {
    const { page } = opened;
    const steps = page.getByRole('region', { name: 'First steps' });
    await expect.poll(() => steps.getByRole('listitem').filter({ hasText: 'To do' }).count()).toBe(4);
    expect(await barriers(page)).toEqual([]);
    await steps.getByRole('link', { name: 'New channel' }).click();
    await page.getByRole('dialog', { name: 'New channel' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Calls are served by channels').waitFor();
    await page.getByRole('link', { name: 'Add a channel' }).click();
  });

  test('a channel is created; missing fields are shown first', async () => {
    const { page } = opened;
    const drawer = page.getByRole('dialog', { name: 'New channel' });
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.getByText('Please fill in channel name and key').first().waitFor();

    await drawer.getByRole('textbox', { name: 'Name' }).fill('upstream');
    await drawer.getByRole('textbox', { name: 'Key', exact: true }).fill('sk-upstream');
    await drawer.getByRole('textbox', { name: 'Base URL' }).fill(provider.url);
    await drawer.getByRole('button', { name: 'Clear' }).click();
    await drawer.getByRole('textbox', { name: 'Models', exact: true }).fill('gpt-4o-mini,gpt-4o');
    await page.keyboard.press('Enter');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The channel has been created').waitFor();
    await drawer.waitFor({ state: 'detached' });
    await rowOf(page, 'Channels', 'upstream').getByText('Enabled').waitFor();
  });

  test('a token is created, and a dialog shows how to use it, without the key', async () => {
    const { page } = opened;
    await visit(page, 'Dashboard');
    const steps = page.getByRole('region', { name: 'First steps' });
    await steps.getByRole('listitem').filter({ hasText: 'Done' }).filter({ hasText: 'channel' }).waitFor();
    await steps.getByRole('link', { name: 'New token' }).click();
    const drawer = page.getByRole('dialog', { name: 'New token' });
    await drawer.getByRole('textbox', { name: 'Name' }).fill('first');
    await drawer.getByRole('button', { name: 'Create' }).click();
    const dialog = page.getByRole('dialog', { name: 'Use token first' });
    await dialog.getByRole('button', { name: 'Copy key' }).click();
    await page.getByText('Copied: the whole text, key included').waitFor();
    apiKey = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(apiKey).toMatch(/^sk-[A-Za-z0-9]{48}$/);
    expect(await page.content()).not.toContain(apiKey);
    for (const [language, part] of [
      ['Python (OpenAI)', 'from openai import OpenAI'],
      ['Node.js (OpenAI)', "import OpenAI from 'openai'"],
      ['Anthropic SDK', 'from anthropic import Anthropic'],
      ['curl', `curl '${gateway.url}/v1/chat/completions'`],
    ] as const) {
      await dialog.getByRole('radio', { name: language }).click();
      await dialog.getByText(part).waitFor();
    }
    await dialog.getByRole('button', { name: 'Copy code' }).click();
    await expect
      .poll(() => page.evaluate<string>('navigator.clipboard.readText()'))
      .toContain(`Authorization: Bearer ${apiKey}`);
    await dialog.getByRole('radio', { name: 'Coding agents' }).click();
    for (const [agent, part] of [
      ['Codex CLI', 'wire_api = "responses"'],
      ['Gemini CLI', `export GOOGLE_GEMINI_BASE_URL='${gateway.url}'`],
      ['opencode', '@ai-sdk/openai-compatible'],
      ['aider', `export OPENAI_API_BASE='${gateway.url}/v1'`],
      ['Claude Code', `export ANTHROPIC_BASE_URL='${gateway.url}'`],
    ] as const) {
      await dialog.getByRole('radio', { name: agent }).click();
      await dialog.getByText(part).waitFor();
    }
    await dialog.getByRole('button', { name: 'Copy the commands' }).click();
    await expect
      .poll(() => page.evaluate<string>('navigator.clipboard.readText()'))
      .toContain(`export ANTHROPIC_AUTH_TOKEN='${apiKey}'`);
    expect(await page.content()).not.toContain(apiKey);
    expect(await barriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Show' }).click();
    await dialog.getByText(apiKey).waitFor();
    await dialog.getByRole('button', { name: 'Hide' }).click();
    await dialog.getByRole('status').getByText('Waiting for your first call…').waitFor();
    expect(await barriers(page)).toEqual([]);
  });

  test('a call made with it is answered; the dialog turns green, and links to the call; its line is in the log', async () => {
    const { page } = opened;
    await mark(page);

    provider.script('gpt-4o-mini', { text: 'It is.', tokens: { prompt: 1000, completion: 200 } });
    const openai = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const answer = await openai.chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Is it metered?' }],
    });
    expect(answer.choices[0]?.message.content).toBe('It is.');

    const state = page.getByRole('dialog', { name: 'Use token first' }).getByRole('status');
    await state.getByText('Your call has arrived').waitFor();
    await state.getByText('gpt-4o-mini · 1,000 + 200 tokens').waitFor();
    await state.getByText('$0.000270').waitFor();
    await state.getByRole('link', { name: 'How its charge came about' }).click();
    await page.waitForURL(/\/log\/\w+$/);
    await visit(page, 'Usage logs', 'Usage log');
    const line = rowOf(page, 'Usage log', 'gpt-4o-mini');
    await line.waitFor();
    // 0.075 × (1000 + 200 × 4) quota, at 500,000 to the dollar
    await line.getByText('$0.000270').waitFor();
    expect(await isMarked(page)).toBe(true);
  });

  test('the line of a call opens by keyboard, and explains the charge', async () => {
    const { page } = opened;
    const expand = rowOf(page, 'Usage log', 'gpt-4o-mini').getByRole('button', { name: 'Expand' });
    await expand.focus();
    await page.keyboard.press('Enter');
    await page.getByText('Rounded: 135 quota ($0.000270)').waitFor();
  });

  test('the first steps are hidden when all of them are done; the dialog is opened again from the row', async () => {
    const { page } = opened;
    await visit(page, 'Dashboard');
    await page.getByRole('region', { name: 'First steps' }).waitFor({ state: 'detached' });
    await visit(page, 'Tokens');
    await page.getByRole('button', { name: 'Use first' }).click();
    const dialog = page.getByRole('dialog', { name: 'Use token first' });
    await dialog.getByRole('status').getByText('Your call has arrived').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');
  });

  test('no error occurred in the page', () => {
    expect(opened.problems).toEqual([]);
  });
}

describeInBrowser('from the first start to the first metered call', firstRun);
