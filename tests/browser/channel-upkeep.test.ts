import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChannelId } from '../../src/domain/kernel/ids.js';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../support/upstreams/upstream.js';
import { barriers } from './axe.js';
import { rowOf } from './tables.js';

/* What an administrator does with channels beside switching and testing them, in a browser and a gateway of its own. */

describeInBrowser('the upkeep of channels', (launched) => {
  let gateway: TestGateway;
  let upstream: Upstream;
  let opened: Console;
  let id: ChannelId;

  beforeAll(async () => {
    gateway = await startTestGateway();
    upstream = await startUpstream(({ headers }, response) => {
      if (headers.authorization !== 'Bearer sk-right') response.writeHead(401).end();
      else
        response.end(
          JSON.stringify({
            data: [{ id: 'harbour-2', type: 'embedding' }, { id: 'lighthouse' }, { id: 'pier', type: 'video' }],
          }),
        );
    });
    const models = ['harbour-1', 'lighthouse'];
    id = await gateway.addChannel({ name: 'coast', baseUrl: upstream.url, models, key: 'sk-right' });
    opened = await openConsole(launched(), { url: gateway.url });
    await signIn(opened, { username: 'root', password: gateway.rootPassword });
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
    await upstream?.stop();
  });

  const stored = () => gateway.application.directory.channel(id)?.settings;

  test('the upstream’s models are shown beside a channel’s list, and selected ones are applied', async () => {
    const { page } = opened;
    await page.goto(`/channel?open=${id}`);
    await page.getByRole('button', { name: 'Fetch models' }).click();
    const dialog = page.getByRole('dialog', { name: 'Models of the upstream' });
    await dialog.getByText('New at the upstream (2)').waitFor();
    await dialog.getByText('Same on both sides (1)').waitFor();
    // As far as its list says what they can do.
    await dialog.locator('label', { hasText: 'harbour-2' }).getByText('embeddings').waitFor();
    await dialog.locator('label', { hasText: 'pier' }).getByText('not served here').waitFor();
    expect(await barriers(page)).toEqual([]);
    await dialog.getByLabel('Search').fill('PIER');
    await dialog.getByRole('checkbox', { name: /^harbour-2/ }).waitFor({ state: 'detached' });
    await dialog.getByRole('checkbox', { name: 'Select all' }).check({ force: true });
    expect(await dialog.getByRole('checkbox', { name: /^pier/ }).isChecked()).toBe(true);
    await dialog.getByLabel('Search').fill('');
    expect(await dialog.getByRole('checkbox', { name: /^harbour-2/ }).isChecked()).toBe(false);
    // Renamed upstream: nobody takes it out but whoever ticks it.
    expect(await dialog.getByRole('checkbox', { name: 'harbour-1' }).isChecked()).toBe(false);
    await dialog.getByRole('button', { name: 'Take over 1' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The channel has been saved').waitFor();
    expect(stored()?.models).toEqual(['harbour-1', 'lighthouse', 'pier']);
  });

  test('for a new channel, a key is required first, and the upstream’s refusal is shown', async () => {
    const { page } = opened;
    await page.goto('/channel?open=new');
    await page.getByRole('button', { name: 'Fetch models' }).click();
    await page.getByText('Enter the key first').waitFor();
    await page.getByLabel('Base URL').fill(upstream.url);
    await page.getByRole('textbox', { name: 'Key', exact: true }).fill('sk-wrong');
    await page.getByRole('button', { name: 'Fetch models' }).click();
    await page.getByText('The upstream did not list its models: status code: 401').waitFor();
    await page.getByRole('textbox', { name: 'Key', exact: true }).fill('sk-right');
    await page.getByRole('button', { name: 'Fetch models' }).click();
    await page.getByRole('dialog', { name: 'Models of the upstream' }).getByText('New at the upstream (3)').waitFor();
    expect(opened.problems).toEqual([]);
  });

  test('a mapping is edited as fields and as JSON, errors are shown by line, and unsaved changes need a confirmation', async () => {
    const { page } = opened;
    await page.goto(`/channel?open=${id}`);
    const drawer = page.getByRole('dialog', { name: 'Edit channel coast' });
    await drawer.getByRole('button', { name: 'Advanced' }).click();
    const mapping = drawer.getByRole('group', { name: 'Model mapping' });
    await mapping.getByRole('button', { name: 'Add' }).click();
    await mapping.getByLabel('Requested model, row 1').fill('gpt-4o');
    await mapping.getByLabel('Upstream model, row 1').fill('pier');
    await mapping.getByText('As JSON').click();
    const text = mapping.getByRole('textbox', { name: 'Model mapping' });
    expect(JSON.parse(await text.inputValue())).toEqual({ 'gpt-4o': 'pier' });
    await text.fill('{\n  "gpt-4o": pier\n}');
    await mapping.getByText('This is no JSON from line 2, column 13').waitFor();
    await text.fill('{"gpt-4o": "pier", "gpt-5": "pier"}');
    await mapping.getByText('As JSON').click();
    expect(await mapping.getByLabel('Requested model, row 2').inputValue()).toBe('gpt-5');
    await drawer.getByText('Force the format').click();
    const byResponses = drawer.getByLabel('Models with the Responses API alone');
    await byResponses.fill('gpt-5-pro');
    await byResponses.press('Enter');
    const prices = drawer.getByLabel('Purchase prices');
    await prices.fill('{"gpt-5": ');
    await drawer.getByText('This is no JSON from line 1').waitFor();
    await prices.fill('{"gpt-5": {"input": 1.25, "output": 10}}');
    expect(await barriers(page)).toEqual([]);

    await drawer.getByRole('button', { name: 'Cancel' }).click();
    const question = page.getByRole('dialog', { name: 'Discard what was changed?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    await drawer.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The channel has been saved').waitFor();
    expect(JSON.parse(stored()?.modelMapping ?? '')).toEqual({ 'gpt-4o': 'pier', 'gpt-5': 'pier' });
    expect(JSON.parse(stored()?.setting ?? '')).toEqual({
      force_format: true,
      responses_only_models: ['gpt-5-pro'],
      purchase_prices: { 'gpt-5': { input: 1.25, output: 10 } },
    });
    // Nothing was changed: nobody is asked.
    await page.goto(`/channel?open=${id}`);
    await drawer.getByRole('button', { name: 'Cancel' }).click();
    await drawer.waitFor({ state: 'detached' });
  });

  test('channels are exported without keys, and imported disabled; a file with an error imports none', async () => {
    const { page } = opened;
    await page.goto('/channel');
    await page.getByRole('button', { name: 'More actions' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Export all channels' }).click();
    const text = await readFile(await (await downloading).path(), 'utf8');
    expect(text).not.toContain('sk-right');
    const file = JSON.parse(text);
    file.channels[0].name = 'island';

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Import channels…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import channels' });
    const choose = (content: unknown) =>
      dialog.getByLabel(/^File of exported channels/).setInputFiles({
        name: 'channels.json',
        mimeType: 'application/json',
        buffer: Buffer.from(JSON.stringify(content)),
      });
    await choose({ ...file, channels: [{ ...file.channels[0], weight: -1 }] });
    await dialog.getByRole('button', { name: 'Import' }).click();
    await dialog.getByText('Nothing was imported; faults in the file: 1').waitFor();
    await dialog.getByRole('row', { name: /weight/ }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await choose(file);
    await dialog.getByRole('button', { name: 'Import' }).click();
    await page.getByText('1 channels have been imported').waitFor();
    await rowOf(page, 'Channels', 'island').getByText('Disabled').waitFor();
    expect(opened.problems).toEqual([]);
  });
});
