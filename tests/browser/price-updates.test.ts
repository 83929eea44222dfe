import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../support/upstreams/upstream.js';
import { barriers } from './axe.js';
import { rowOf, visit } from './tables.js';

const entry = (usd: number) => ({
  litellm_provider: 'acme',
  mode: 'chat',
  input_cost_per_token: usd / 1e6,
  output_cost_per_token: (usd * 4) / 1e6,
});

/** An operator fetches a price list, looks at what it would change, and applies some of it. */
function priceUpdates(launched: () => Browser): void {
  let lists: Upstream;
  let answer: { status: number; body: string };
  let gateway: TestGateway;
  let root: Console;

  beforeAll(async () => {
    lists = await startUpstream((_, response) => {
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    });
    gateway = await startTestGateway();
    await gateway.addChannel({ models: ['model-one', 'model-two', 'model-three'] });
    await gateway.setOption('ModelRatio', JSON.stringify({ 'model-one': 1, 'model-two': 1 }));
    const source = { name: 'our list', url: `${lists.url}/prices.json`, margin: 1.5 };
    await gateway.setOption('PriceSources', JSON.stringify([source]));
    root = await openConsole(launched(), { url: gateway.url });
    await signIn(root, { username: 'root', password: gateway.rootPassword });
  });
  afterAll(async () => {
    await root?.close();
    await gateway?.stop();
    await lists?.stop();
  });

  test('open with the date of the built-in prices and the state of each source', async () => {
    const { page } = root;
    await visit(page, 'Settings');
    await page.getByRole('tab', { name: 'Price updates' }).click();
    await page.getByText('Built-in prices as of 2026-11-28').waitFor();
    await rowOf(page, 'Sources of prices', 'our list').getByText('Not read yet').waitFor();
  });

  test('show why a source cannot be read', async () => {
    const { page } = root;
    answer = { status: 200, body: '<html>Sign in</html>' };
    await page.getByRole('button', { name: 'Fetch now: our list' }).click();
    const row = rowOf(page, 'Sources of prices', 'our list');
    await row.getByText('Failed', { exact: true }).waitFor();
    await row.getByText('it is a page of HTML or XML, not JSON').waitFor();
  });

  test('show a fetched list model by model, and mark what moves beyond the bound', async () => {
    const { page } = root;
    const prices = {
      'model-one': entry(2),
      'model-two': entry(40),
      'model-three': entry(1),
      bad: entry(-1),
      far: entry(1),
    };
    answer = { status: 200, body: JSON.stringify(prices) };
    await page.getByRole('button', { name: 'Fetch now: our list' }).click();
    await page.getByText('Prices read: 4 models').waitFor();
    const table = 'Differences: our list';
    await rowOf(page, table, 'model-one').getByText('2 → 3').waitFor();
    await rowOf(page, table, 'model-two').getByText('× 120').waitFor();
    await rowOf(page, table, 'model-two').getByText('Beyond the bound').waitFor();
    await rowOf(page, table, 'model-three').getByText('New', { exact: true }).waitFor();
    expect(await rowOf(page, table, 'far').count()).toBe(0);
    await page.getByRole('button', { name: 'Models left out: 1' }).click();
    await page.getByText('bad: Below 0 (input_cost_per_token)').waitFor();
    expect(await barriers(page)).toEqual([]);
  });

  test('apply two selected ones, once their number and the effects were confirmed', async () => {
    const { page } = root;
    const table = 'Differences: our list';
    for (const model of ['model-one', 'model-three'])
      await rowOf(page, table, model).getByRole('checkbox').check({ force: true });
    await page.getByRole('button', { name: 'Apply selected (2)' }).click();
    const question = page.getByRole('dialog');
    await question.getByText('2 prices of “our list” hold for new calls at once').waitFor();
    await question.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Prices applied: 2').waitFor();
    await rowOf(page, table, 'model-one').waitFor({ state: 'detached' });
    await rowOf(page, table, 'model-two').waitFor();
  });

  test('take effect on the pricing page, and an unselected price is unchanged', async () => {
    const { page } = root;
    await page.goto(`${gateway.url}/pricing`);
    await page.getByText('model-one').first().waitFor();
    const row = (model: string) => page.getByRole('row').filter({ hasText: model });
    await row('model-one').getByText('$3').first().waitFor();
    await row('model-two').getByText('$2').first().waitFor();
    await row('model-three').getByText('$1.5').first().waitFor();
  });
}

describeInBrowser('price updates in the console', priceUpdates);
