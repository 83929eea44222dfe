import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { newestCall } from '../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { expectNoBarriers } from './axe.js';

/** Models tried in the console: asked, stopped, compared, paid for. */
function playground(launched: () => Browser): void {
  const model = 'gpt-4o-mini';
  const other = 'gpt-4o';
  let gateway: TestGateway;
  let user: TestUser;
  let opened: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel();
    await gateway.addChannel({ name: 'east', models: ['eastern-mini'], groups: ['vip'] });
    user = await gateway.addUser(50_000_000);
    opened = await openConsole(launched(), { url: gateway.url });
    await signIn(opened, user);
    await opened.page.getByRole('link', { name: 'Playground' }).click();
    await opened.page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor();
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
  });

  const message = (): Locator => opened.page.getByLabel('Message', { exact: true });
  const answers = (name = model): Locator => opened.page.getByRole('article', { name, exact: true });
  const button = (name: string): Locator => opened.page.getByRole('button', { name, exact: true });
  const ask = async (text: string): Promise<void> => {
    await message().fill(text);
    await message().press('Enter');
  };

  test('streams an answer, with the thinking collapsed, and costs the same as its line in the log', async () => {
    const { page } = opened;
    const text = 'A ledger is a **book**. <script>alert(1)</script> ![x](https://evil.example/?told=all)';
    gateway.provider.script(model, { text, reasoning: 'What do they want?' });
    await ask('What is a ledger?');
    const answer = answers();
    await answer.locator('strong', { hasText: 'book' }).waitFor();
    await answer.getByText('<script>alert(1)</script>').waitFor();
    expect(await answer.locator('img').count()).toBe(0);
    const thought = answer.getByText('What do they want?');
    expect(await thought.isVisible()).toBe(false);
    await answer.getByText('Reasoning (18 characters)').click();
    await thought.waitFor();

    const link = answer.getByRole('link', { name: 'See the log' });
    await link.waitFor();
    const [settled] = (await newestCall(gateway.config)).settled;
    const charged = settled?.charged ?? 0;
    expect(charged).toBeGreaterThan(0);
    await answer.getByText(`$${(charged / 500_000).toFixed(6)}`, { exact: true }).waitFor();
    expect(await gateway.available(user)).toBe(50_000_000 - charged);
    await link.click();
    await page.getByText('playground-default').first().waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor();
  });

  test('sends the conversation along, and a stopped answer is charged for the part that arrived', async () => {
    gateway.provider.script(model, { text: 'Four.' });
    await ask('What is two and two?');
    await answers().getByText('Four.').waitFor();
    // Slowly: what is too long is ended by the page itself.
    gateway.provider.script(model, { endless: true, chunkDelayMs: 20 });
    await ask('And on?');
    await button('Stop').click();
    await answers().nth(1).getByText('Stopped').waitFor();
    await answers().nth(1).getByRole('link', { name: 'See the log' }).waitFor();
    const [settled] = (await newestCall(gateway.config)).settled;
    expect(settled).toMatchObject({ outcome: 'caller-left', facts: { apiKeyId: null } });
    expect(gateway.provider.tally().requests.at(-1)?.body.messages).toEqual([
      { role: 'user', content: 'What is two and two?' },
      { role: 'assistant', content: 'Four.' },
      { role: 'user', content: 'And on?' },
    ]);
  });

  test('edits a question, and sends settings and a picture with it', async () => {
    const { page } = opened;
    gateway.provider.script(model, { text: 'A red dot.' });
    await button('Edit this message').nth(1).click();
    expect(await message().inputValue()).toBe('And on?');
    expect(await answers().count()).toBe(1);
    await page.getByLabel('System prompt').fill('Be short.');
    await page.getByLabel('Most output tokens').fill('50');
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
    const picked = [
      { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(png, 'base64') },
      { name: 'page.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') },
    ];
    await page.locator('input[type="file"]').setInputFiles(picked);
    await page.getByRole('alert').getByText('PNG, JPEG, WebP or GIF').waitFor();
    await page.evaluate(`{
      const pasted = new DataTransfer();
      const bytes = Uint8Array.from(atob('${png}'), (letter) => letter.charCodeAt(0));
      pasted.items.add(new File([bytes, ' '], 'pasted.png', { type: 'image/png' }));
      const paste = new ClipboardEvent('paste', { clipboardData: pasted, bubbles: true, cancelable: true });
      document.querySelector('textarea[aria-label="Message"]').dispatchEvent(paste);
    }`);
    await button('Remove image 2').click();
    await button('Remove image 2').waitFor({ state: 'detached' });
    await ask('What is this?');
    await answers().getByText('A red dot.').waitFor();
    const body = gateway.provider.tally().requests.at(-1)?.body;
    expect(body).toMatchObject({ max_tokens: 50, stream: true });
    expect(body?.messages).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'What is two and two?' },
      { role: 'assistant', content: 'Four.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
        ],
      },
    ]);
  });

  test('shows two models beside each other, each with its own cost, and keeps settings after a reload', async () => {
    const { page } = opened;
    await page.getByText('Compare two models').click();
    await page.getByLabel('Compared with').fill(other);
    await page.getByRole('option', { name: other, exact: true }).click();
    await page.reload();
    expect(await page.getByLabel('System prompt').inputValue()).toBe('Be short.');
    gateway.provider.script(model, { text: 'Small.' });
    gateway.provider.script(other, { text: 'Large.' });
    await ask('Who are you?');
    await answers().getByText('Small.').waitFor();
    await answers(other).getByText('Large.').waitFor();
    for (const name of [model, other]) await answers(name).getByRole('link', { name: 'See the log' }).waitFor();
    const [left, right] = [await answers().boundingBox(), await answers(other).boundingBox()];
    expect(left?.y).toBe(right?.y);
    expect(right?.x).toBeGreaterThan((left?.x ?? 0) + (left?.width ?? 0));
  });

  test('offers the models of the group', async () => {
    const { page } = opened;
    const models = page.getByLabel('Model', { exact: true });
    await models.click();
    await page.getByRole('option', { name: model, exact: true }).waitFor();
    expect(await page.getByRole('option', { name: 'eastern-mini' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByLabel('Group').selectOption('vip');
    await expect.poll(() => models.inputValue()).toBe('eastern-mini');
    await models.click();
    await page.getByRole('option', { name: 'eastern-mini' }).waitFor();
    expect(await page.getByRole('option', { name: model, exact: true }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByLabel('Group').selectOption('');
    await models.click();
    await page.getByRole('option', { name: model, exact: true }).click();
  });

  test('shows the request as code, without any key', async () => {
    const { page } = opened;
    await button('Copy as code').click();
    const dialog = page.getByRole('dialog', { name: 'Copy as code' });
    await dialog.getByText('Authorization: Bearer $TALLYGATE_API_KEY').waitFor();
    for (const [kind, words] of [
      ['Python (openai)', 'from openai import OpenAI'],
      ['JavaScript (openai)', "import OpenAI from 'openai'"],
    ] as const) {
      await dialog.getByText(kind, { exact: true }).click();
      await dialog.getByText(words).waitFor();
      await dialog.getByText(`${gateway.url}/v1`).waitFor();
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('shows a refusal with its request id, and a retry is answered', async () => {
    gateway.provider.script(model, { kind: 'refuse', status: 400, body: { error: { message: 'not like this' } } });
    await ask('Once more?');
    const refused = answers().nth(1).getByRole('alert');
    await refused.getByText(/not like this.*\(request id: \w+\)/).waitFor();
    gateway.provider.script(model, { text: 'Now.' });
    await button('Answer again').nth(1).click();
    await answers().nth(1).getByText('Now.').waitFor();
  });

  test('has no barriers, light and dark, and fits a phone', async () => {
    const { page } = opened;
    await expectNoBarriers(page);
    await page.setViewportSize({ width: 600, height: 900 });
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate<number>(overflow)).toBe(0);
  });

  test('had no error in the page', () => {
    expect(opened.problems).toEqual([]);
  });
}

describeInBrowser('the playground in the browser', playground);
