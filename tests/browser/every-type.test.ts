import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { providerOf } from '../../src/relay/providers/registry.js';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { type DocumentedAddress, documentedAddresses } from '../support/upstreams/documented-addresses.js';
import { startUpstream, type Upstream } from '../support/upstreams/upstream.js';
import { rowOf } from './tables.js';

/** All of them take minutes, so a run of all tests takes one of each wire. */
const all = process.env.EVERY_CHANNEL_TYPE === '1';
const sample = new Set([1, 3, 14, 24, 39]);
/** Those without a colour are not offered for new channels. */
const chats = documentedAddresses.filter(
  ({ type, paths }) => paths.chat !== undefined && providerOf(type)?.colour !== null,
);
const walked = chats.filter(({ type }) => all || sample.has(type));
if (!all)
  console.info(`${walked.length} of ${chats.length} channel types are walked through; EVERY_CHANNEL_TYPE=1 walks all`);

/** An administrator makes a channel of each type, tests it, sees it listed, and asks its model. */
function everyType(launched: () => Browser): void {
  let gateway: TestGateway;
  let opened: Console;
  const upstreams: Upstream[] = [];

  /** Answers whole or in events, as it is asked. */
  const answering = async ({ form }: DocumentedAddress): Promise<string> => {
    const upstream = await startUpstream(({ url, body }, response) => {
      const streams = url.includes('stream') || /"stream": ?true/.test(body);
      response.writeHead(200, { 'content-type': streams ? 'text/event-stream' : 'application/json' });
      response.end(streams ? form.events('chat').join('') : JSON.stringify(form.whole('chat')));
    });
    upstreams.push(upstream);
    return upstream.url;
  };

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.setOption('SelfUseModeEnabled', 'true');
    opened = await openConsole(launched(), { url: gateway.url });
    await signIn(opened, { username: 'root', password: gateway.rootPassword });
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
    for (const upstream of upstreams) await upstream.stop();
  });

  test.each(walked.map((address) => [address.type, address] as const))(
    'of type %i is created, tested, listed and asked in the playground',
    async (type, address) => {
      const { page } = opened;
      const [name, model] = [`channel of type ${type}`, `model-${type}`];
      const { key, other = '', below = '' } = address;
      const url = (await answering(address)) + below;
      await page.goto('/channel?open=new');
      const drawer = page.getByRole('dialog', { name: 'New channel' });
      const choice = drawer.getByRole('combobox', { name: 'Type', exact: true });
      await choice.fill(String(type));
      await page.getByRole('option', { name: new RegExp(`\\D ?${type}$`) }).click();
      await drawer.getByRole('textbox', { name: 'Name' }).fill(name);
      await drawer.getByRole('textbox', { name: 'Key', exact: true }).fill(key);
      await drawer.getByRole('textbox', { name: 'Base URL' }).fill(url);
      if (other !== '') await drawer.getByRole('textbox', { name: 'Further parameter' }).fill(other);
      const clear = drawer.getByRole('button', { name: 'Clear', exact: true });
      if (await clear.isEnabled()) await clear.click();
      await drawer.getByRole('textbox', { name: 'Models', exact: true }).fill(model);
      await page.keyboard.press('Enter');
      await drawer.getByRole('button', { name: 'Save' }).click();
      await drawer.waitFor({ state: 'detached' });

      const row = rowOf(page, 'Channels', name);
      await row.getByText('Enabled').waitFor();
      await row.getByRole('button', { name: new RegExp(`^Test ${name}`) }).click();
      await row.getByText(/^\d+(\.\d+)? m?s$/).waitFor();
      expect(await row.getByText('Test failed').count()).toBe(0);

      await page.getByRole('link', { name: 'Playground' }).click();
      await page.getByLabel('Model', { exact: true }).click();
      await page.getByRole('option', { name: model, exact: true }).click();
      await page.getByLabel('Message', { exact: true }).fill('What is a ledger?');
      await page.getByLabel('Message', { exact: true }).press('Enter');
      await page.getByRole('article', { name: model, exact: true }).getByText('A list of debts.').waitFor();
      expect(opened.problems).toEqual([]);
    },
  );
}

describeInBrowser('a channel', everyType);
