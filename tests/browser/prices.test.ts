import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PricePeriods } from '../../src/domain/pricing/records/model-price.js';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { barriers } from './axe.js';
import { follow, rowOf } from './tables.js';

/** Two windows of whoever sets prices, on the same table. */
function prices(launched: () => Browser): void {
  let gateway: TestGateway;
  let one: Console;
  let other: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel({ models: ['gpt-4o', 'gpt-4o-mini', 'strange-model'] });
    [one, other] = [
      await openConsole(launched(), { url: gateway.url }),
      await openConsole(launched(), { url: gateway.url }),
    ];
    const root = { username: 'root', password: gateway.rootPassword };
    await signIn(one, root);
    await signIn(other, root);
  });
  afterAll(async () => {
    for (const console of [one, other]) await console?.close();
    await gateway?.stop();
  });

  const record = (model: string): PricePeriods | null =>
    gateway.application.directory.changedPrices().get(model)?.periods ?? null;
  const openTable = async (page: Page, query = ''): Promise<void> => {
    await follow(page, `/setting?prices=visual${query}`);
    await page.getByRole('button', { name: 'Add a model' }).waitFor();
  };
  const openModel = async (page: Page, model: string): Promise<Locator> => {
    await openTable(page, `&open=price-${model}`);
    const drawer = page.getByRole('dialog', { name: `Price of ${model}` });
    await drawer.getByRole('region', { name: 'Example bill' }).waitFor();
    return drawer;
  };
  const field = (drawer: Locator, name: string): Locator => drawer.getByRole('textbox', { name, exact: true });
  const save = (drawer: Locator): Promise<void> => drawer.getByRole('button', { name: 'Save', exact: true }).click();

  test('the table shows the origin of each price, and filters models by it', async () => {
    const { page } = one;
    await openTable(page);
    await page.getByRole('searchbox', { name: 'Search models' }).fill('gpt-4o-mini');
    await page.keyboard.press('Enter');
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'gpt-4o-mini', exact: true }) });
    await row.getByText('Built in').waitFor();
    await row.getByText('$0.15').first().waitFor();
    await follow(page, '/setting?prices=unset_models');
    await rowOf(page, 'Models without a price', 'strange-model').getByText('No price').first().waitFor();
    expect(await barriers(page)).toEqual([]);
  });

  test('a price with tiers, periods and a purchase price is edited, with its example bill computed as it is typed', async () => {
    const { page } = one;
    const drawer = await openModel(page, 'gpt-4o');
    const bill = drawer.getByRole('region', { name: 'Example bill' });
    // 1,200 tokens at 2.5 USD and 400 at 10 USD a million.
    await bill.getByText('$0.007', { exact: true }).waitFor();
    await field(drawer, 'Input: selling price').fill('5');
    await field(drawer, 'Input: purchase price').fill('4');
    await field(drawer, 'Output: purchase price').fill('8');
    await bill.getByText('$0.01', { exact: true }).waitFor();
    await drawer.getByText('25 %', { exact: true }).first().waitFor();

    await drawer.getByText('Context tiers', { exact: true }).click();
    await drawer.getByRole('button', { name: 'Add a tier' }).click();
    await field(drawer, 'Tier 1: more tokens than').fill('200000');
    await field(drawer, 'Tier 1: factor of Input').fill('2');
    await bill.getByRole('combobox', { name: 'Usage' }).selectOption('Long prompt, beyond the tiers');
    // 200,001 tokens at 10 USD, and 2,000 of output at 10 USD a million.
    await bill.getByText('$2.02001', { exact: true }).waitFor();

    await drawer.getByRole('button', { name: 'Add a period' }).click();
    await drawer.getByLabel('First day (UTC)').fill('2999-01-01');
    await field(drawer, 'Input: selling price').fill('6');
    expect(await barriers(page)).toEqual([]);
    await save(drawer);
    await page.getByText('The price is saved').waitFor();
    expect(record('gpt-4o')).toMatchObject([
      {
        tokens: { input: { usd: '5' }, output: { usd: '10' } },
        contextTiers: [{ over: 200_000, factors: { input: '2' } }],
        purchase: { tokens: { input: { usd: '4' }, output: { usd: '8' } } },
      },
      { tokens: { input: { usd: '6' } }, from: '2999-01-01' },
    ]);
    await openTable(page, '&only=COMING');
    await rowOf(page, 'Prices by model', 'gpt-4o').getByText('Changes on 2999-01-01').waitFor();
  });

  test('prices are converted to ratios and back, and errors are shown beside their field', async () => {
    const { page } = one;
    const drawer = await openModel(page, 'gpt-4o-mini');
    await drawer.getByText('Ratios', { exact: true }).click();
    await expect.poll(() => field(drawer, 'Output: selling price').inputValue()).toBe('4');
    expect(await field(drawer, 'Input: selling price').inputValue()).toBe('0.075');
    await drawer.getByText('Prices, US dollars per million tokens').click();
    expect(await field(drawer, 'Output: selling price').inputValue()).toBe('0.6');
    await field(drawer, 'Reasoning: selling price').fill('-1');
    await drawer.getByText(/^Allowed: a number from 0 to/).waitFor();
    expect(await field(drawer, 'Reasoning: selling price').getAttribute('aria-invalid')).toBe('true');
    await save(drawer);
    await drawer.getByRole('alert').first().waitFor();
    expect(record('gpt-4o-mini')).toBeNull();
    await drawer.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'Discard', exact: true }).click();
    await drawer.waitFor({ state: 'detached' });
  });

  test('the second of two concurrent editors of a price sees both versions, and chooses', async () => {
    const [mine, yours] = [await openModel(one.page, 'gpt-4o-mini'), await openModel(other.page, 'gpt-4o-mini')];
    await field(mine, 'Input: selling price').fill('1');
    await field(yours, 'Input: selling price').fill('2');
    await save(mine);
    await one.page.getByText('The price is saved').waitFor();
    await save(yours);
    await yours.getByText('Somebody else has just changed this price').waitFor();
    const row = yours.getByRole('row').filter({ hasText: 'Input' }).filter({ hasText: '$2' });
    await row.getByText('$1', { exact: true }).waitFor();
    expect(await field(yours, 'Input: selling price').inputValue()).toBe('2');
    await yours.getByRole('button', { name: 'Keep mine' }).click();
    await save(yours);
    await expect.poll(() => record('gpt-4o-mini')?.[0]?.tokens?.input).toEqual({ usd: '2' });
  });

  test('many prices are edited at once, after a preview of the changes', async () => {
    const { page } = one;
    await openTable(page, '&model=gpt-4o-mini');
    await page.getByRole('checkbox', { name: 'Select gpt-4o-mini', exact: true }).check({ force: true });
    await page.getByRole('button', { name: 'Edit all' }).click();
    const drawer = page.getByRole('dialog', { name: 'Edit the prices of 1 models' });
    await drawer.getByRole('button', { name: 'Preview' }).click();
    await drawer.getByText('Please enter a number').waitFor();
    await drawer.getByRole('textbox', { name: 'Factor' }).fill('1.5');
    await drawer.getByRole('button', { name: 'Preview' }).click();
    await drawer.getByText('$2 → $3').waitFor();
    expect(record('gpt-4o-mini')?.[0]?.tokens?.input).toEqual({ usd: '2' });
    await drawer.getByRole('button', { name: 'Apply to 1 models' }).click();
    await page.getByText('Prices changed: 1').waitFor();
    expect(record('gpt-4o-mini')?.[0]?.tokens?.input).toEqual({ usd: '3' });
  });

  test('prices are exported to a file and imported from one, after a preview', async () => {
    const { page } = one;
    await openTable(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export', exact: true }).click(),
    ]);
    const text = readFileSync(await download.path(), 'utf8');
    expect(text).toContain('{"model":"gpt-4o-mini","periods":[{"tokens":{"input":{"usd":"3"}');
    await page.getByRole('button', { name: 'Import' }).click();
    const drawer = page.getByRole('dialog', { name: 'Import prices' });
    const give = (content: string) =>
      drawer
        .getByLabel('Choose a file')
        .setInputFiles({ name: 'prices.json', mimeType: 'application/json', buffer: Buffer.from(content) });
    await give('<html>');
    await drawer.getByText(/file is not valid/).waitFor();
    await give('{"format":"tallygate-prices","version":1,"prices":[{"model":"m","periods":[{"call":-1}]}]}');
    await rowOf(page, 'Faults in the file', 'prices[0].periods[0].call').waitFor();
    await give(text);
    await drawer.getByText('The file says what holds already').waitFor();
    const mini = '{"model":"gpt-4o-mini","periods":[{"tokens":{"input":{"usd":';
    await give(text.replace(`${mini}"3"`, `${mini}"4"`));
    await drawer.getByRole('button', { name: 'Apply to 1 models' }).click();
    await page.getByText('Prices changed: 1').waitFor();
  });

  test('the history shows user, change and source, and can be reverted', async () => {
    const { page } = one;
    await openTable(page);
    await page.getByRole('button', { name: 'History of prices' }).click();
    const drawer = page.getByRole('dialog', { name: 'History of prices' });
    const newest = drawer.getByRole('article').first();
    await newest.getByText(/File/).waitFor();
    await newest.getByText('$3 → $4').waitFor();
    await newest.getByRole('button', { name: 'Revert: gpt-4o-mini' }).click();
    await drawer.getByText('$4 → $3').waitFor();
    await drawer.getByRole('button', { name: 'Apply to 1 models' }).click();
    await drawer
      .getByRole('article')
      .first()
      .getByText(/Revert ·/)
      .waitFor();
    expect(record('gpt-4o-mini')?.[0]?.tokens?.input).toEqual({ usd: '3' });
    expect(await barriers(page)).toEqual([]);
  });

  test('a change of several models is reverted as a whole', async () => {
    const { page } = one;
    const { application, root } = gateway;
    const orders = ['gpt-4o', 'gpt-4o-mini'].map((model) => ({ model, periods: [{ call: '9' }], seenAt: null }));
    await application.visible(await application.prices.changePrices(root, orders, { kind: 'editor' }));
    const before = record('gpt-4o-mini');
    expect(before).toEqual([{ call: '9' }]);
    await openTable(page);
    await page.getByRole('button', { name: 'History of prices' }).click();
    const drawer = page.getByRole('dialog', { name: 'History of prices' });
    await drawer.getByRole('button', { name: 'Revert the whole change' }).first().click();
    await drawer.getByRole('button', { name: 'Apply to 2 models' }).click();
    await page.getByText('Prices changed: 2').waitFor();
    for (const model of ['gpt-4o', 'gpt-4o-mini']) expect(record(model)?.[0]?.call).toBeUndefined();
    expect(await barriers(page)).toEqual([]);
  });

  test('no error occurred in either window', () => expect([one.problems, other.problems]).toEqual([[], []]));
}

describeInBrowser('The price table', prices);
