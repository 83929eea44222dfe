import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { startUpstreamOfType, type UpstreamOfType, upstreamsOfTypes } from '../support/upstreams/every-type.js';
import type { Upstream } from '../support/upstreams/upstream.js';
import { follow, rowOf, visit } from './tables.js';

/** All of them take a minute, so a run of all tests takes one of each wire: what differs is in the table of providers. */
const all = process.env.EVERY_CHANNEL_TYPE === '1';
const sample = new Set([1, 3, 4, 14, 24, 33, 34, 36, 37, 38, 39, 41]);
const walked = upstreamsOfTypes.filter(({ type }) => all || sample.has(type));
if (!all)
  console.info(
    `${walked.length} of ${upstreamsOfTypes.length} channel types are walked through; EVERY_CHANNEL_TYPE=1 walks all`,
  );

const nameOf = ({ type }: UpstreamOfType): string => `channel of type ${type}`;

/** Fills in the form of a new channel, its models as its upstream lists them. */
async function create(page: Page, one: UpstreamOfType, upstreamUrl: string): Promise<void> {
  const { type, model, key, other, below, listsModels } = one;
  // What has failed before has left its form open.
  if ((await page.getByRole('dialog').count()) > 0) await page.goto('/channel');
  await page.getByRole('link', { name: 'New channel', exact: true }).click();
  const drawer = page.getByRole('dialog', { name: 'New channel' });
  await drawer.getByRole('combobox', { name: 'Type', exact: true }).fill(String(type));
  await page.getByRole('option', { name: new RegExp(`\\D ?${type}$`) }).click();
  await drawer.getByRole('textbox', { name: 'Name' }).fill(nameOf(one));
  await drawer.getByRole('textbox', { name: 'Key', exact: true }).fill(key(upstreamUrl));
  await drawer.getByRole('textbox', { name: 'Base URL' }).fill(upstreamUrl + below);
  if (other !== '') await drawer.getByRole('textbox', { name: 'Further parameter' }).fill(other);
  const clear = drawer.getByRole('button', { name: 'Clear', exact: true });
  if (await clear.isEnabled()) await clear.click();
  if (listsModels) {
    await drawer.getByRole('button', { name: 'Fetch models' }).click();
    const listed = page.getByRole('dialog', { name: 'Models of the upstream' });
    await listed.getByRole('checkbox', { name: model }).press('Space');
    await listed.getByRole('button', { name: 'Take over 1' }).click();
    await listed.waitFor({ state: 'detached' });
  } else {
    await drawer.getByRole('textbox', { name: 'Models', exact: true }).fill(model);
    await page.keyboard.press('Enter');
  }
  await drawer.getByRole('button', { name: 'Save' }).click();
  await drawer.waitFor({ state: 'detached' });
}

/** An administrator makes a channel of each type, tests it, and asks its model. */
function everyType(launched: () => Browser): void {
  let gateway: TestGateway;
  let opened: Console;
  const upstreams: Upstream[] = [];

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.setOption('SelfUseModeEnabled', 'true');
    opened = await openConsole(launched(), { url: gateway.url });
    await signIn(opened, { username: 'root', password: gateway.rootPassword });
    await visit(opened.page, 'Channels');
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
    for (const upstream of upstreams) await upstream.stop();
  });

  test.each(walked.map((one) => [one.type, one] as const))(
    'of type %i is created with the models of its upstream, and tested',
    async (_, one) => {
      const { page } = opened;
      const upstream = await startUpstreamOfType(one);
      upstreams.push(upstream);
      await create(page, one, upstream.url);
      const row = rowOf(page, 'Channels', nameOf(one));
      await row.getByText('Enabled').waitFor();
      if (!one.testable) return;
      await row.getByRole('button', { name: new RegExp(`^Test ${nameOf(one)}`) }).click();
      await row.getByText(/^\d+(\.\d+)? m?s$/).waitFor();
      expect(await row.getByText('Test failed').count()).toBe(0);
    },
  );

  test('of each type with chat answers in the playground', async () => {
    const { page } = opened;
    await follow(page, '/playground');
    const unheard: number[] = [];
    for (const { type, model, said } of walked) {
      if (said === null) continue;
      await page.getByLabel('Model', { exact: true }).click();
      await page.getByRole('option', { name: model, exact: true }).click();
      await page.getByLabel('Message', { exact: true }).fill('What is a ledger?');
      await page.getByLabel('Message', { exact: true }).press('Enter');
      const answer = page.getByRole('article', { name: model, exact: true }).getByText(said);
      await answer.waitFor().catch(() => unheard.push(type));
    }
    expect(unheard).toEqual([]);
    expect(opened.problems).toEqual([]);
  });
}

describeInBrowser('a channel', everyType);
