import OpenAI from 'openai';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { rowOf } from './tables.js';

/** A token in the hands of its owner. */
function tokens(launched: () => Browser): void {
  let gateway: TestGateway;
  let opened: Console;
  let openai: OpenAI;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel();
    opened = await openConsole(launched(), { url: gateway.url });
    await signIn(opened, await gateway.addUser(1_000_000));
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
  });

  /** The status and code of the answer. */
  const call = async (): Promise<readonly [number | undefined, string | null | undefined]> => {
    const messages = [{ role: 'user', content: 'Hello?' }] as const;
    try {
      await openai.chat.completions.create({ model: 'gpt-4o-mini', messages: [...messages] });
      return [200, null];
    } catch (error) {
      if (error instanceof OpenAI.APIError) return [error.status, error.code];
      throw error;
    }
  };

  test('work at once when they are new', async () => {
    const { page } = opened;
    await page.getByRole('link', { name: 'New token' }).click();
    const drawer = page.getByRole('dialog', { name: 'New token' });
    await drawer.getByRole('button', { name: 'Create' }).click();
    await drawer.getByText('Enter a name').waitFor();
    await drawer.getByRole('textbox', { name: 'Name' }).fill('notebook');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Use token notebook' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Copy the key of notebook' }).click();
    await page.getByText('Copied: the whole text, key included').waitFor();
    const apiKey = await page.evaluate<string>('navigator.clipboard.readText()');
    openai = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    expect(await call()).toEqual([200, null]);
  });

  test('are refused by the API when disabled in the console; enabled, they work again', async () => {
    const { page } = opened;
    const row = rowOf(page, 'My tokens', 'notebook');
    await row.getByRole('button', { name: 'Disable notebook' }).click();
    await row.getByText('Disabled').waitFor();
    expect(await call()).toEqual([401, 'token_disabled']);
    await row.getByRole('button', { name: 'Enable notebook' }).click();
    await row.getByText('Enabled').waitFor();
    expect(await call()).toEqual([200, null]);
  });

  test('with a budget show what is spent of it, and are refused when that is all', async () => {
    const { page } = opened;
    await page.getByRole('link', { name: 'notebook' }).click();
    const drawer = page.getByRole('dialog', { name: 'Edit token notebook' });
    await drawer.getByLabel('Budget with a reset').check({ force: true });
    await drawer.getByRole('textbox', { name: 'Budget' }).fill('0');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.getByText('The budget must be above zero').waitFor();
    await drawer.getByRole('textbox', { name: 'Budget' }).fill('0.000002');
    await drawer.getByLabel('Period').selectOption('Weekly');
    await drawer.getByRole('button', { name: 'Save' }).click();
    const row = rowOf(page, 'My tokens', 'notebook');
    await row.getByText('of $0.000002').waitFor();
    await row.getByRole('progressbar').waitFor();
    expect((await call())[1]).toBe('token_budget_exceeded');
    await page.getByRole('link', { name: 'notebook' }).click();
    await drawer.getByLabel('Budget with a reset').uncheck({ force: true });
    await drawer.getByRole('button', { name: 'Save' }).click();
    await row.getByText('none', { exact: true }).waitFor();
    expect(await call()).toEqual([200, null]);
  });

  test('limited to another model are refused for this one', async () => {
    const { page } = opened;
    await page.getByRole('link', { name: 'notebook' }).click();
    const drawer = page.getByRole('dialog', { name: 'Edit token notebook' });
    await drawer
      .getByRole('switch', { name: 'Limit models' })
      .or(drawer.getByLabel('Limit models'))
      .first()
      .check({ force: true });
    await drawer
      .getByRole('combobox', { name: 'Models' })
      .or(drawer.getByLabel('Models', { exact: true }))
      .first()
      .fill('gpt-4o');
    await page.getByRole('option', { name: 'gpt-4o', exact: true }).click();
    await page.keyboard.press('Escape');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await rowOf(page, 'My tokens', 'notebook').getByText('Limited models').waitFor();
    expect((await call())[0]).toBe(403);
  });

  test('are absent from the list and the API when deleted, after a confirmation', async () => {
    const { page } = opened;
    await page.getByRole('button', { name: 'Delete notebook' }).click();
    const question = page.getByRole('dialog', { name: 'Delete token notebook?' });
    await question.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No tokens yet').waitFor();
    expect(await call()).toEqual([401, 'invalid_api_key']);
  });

  test('caused no error in the page', () => {
    expect(opened.problems).toEqual([]);
  });
}

describeInBrowser('tokens in the browser', tokens);
