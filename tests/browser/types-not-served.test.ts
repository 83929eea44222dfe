import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChannelId } from '../../src/domain/kernel/ids.js';
import { channelAcceptedEarlier } from '../support/gateway/accepted-earlier.js';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { rowOf } from './tables.js';

/** Types the gateway cannot speak with: offered to nobody, shown by number where another release took one, and left by an edit. */
function typesNotServed(launched: () => Browser): void {
  const unknown = 28;
  let gateway: TestGateway;
  let opened: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel({ name: 'harbour' });
    await channelAcceptedEarlier(gateway, ChannelId(900), { type: unknown, name: 'lagoon' });
    opened = await openConsole(launched(), { url: gateway.url });
    await signIn(opened, { username: 'root', password: gateway.rootPassword });
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
  });

  test.for([
    ['zh', '渠道管理', '类型', '未知类型 28'],
    ['en', 'Channels', 'Type', 'Unknown type 28'],
  ] as const)('are shown by number in the list and in the form: %s', async ([language, table, type, shown]) => {
    const { page } = opened;
    await page.evaluate(`localStorage.setItem('language', '${language}')`);
    await page.goto('/channel');
    await rowOf(page, table, 'lagoon').getByText(shown).waitFor();
    expect(await rowOf(page, table, 'harbour').getByText(shown).count()).toBe(0);
    await page.goto('/channel?open=900');
    const chosen = page.getByRole('combobox', { name: type, exact: true });
    await chosen.waitFor();
    expect(await chosen.inputValue()).toBe(shown);
  });

  test('are not offered for a new channel', async () => {
    const { page } = opened;
    const options = page.getByRole('listbox').getByRole('option');
    await page.goto('/channel?open=new');
    const type = page.getByRole('combobox', { name: 'Type', exact: true });
    await type.focus();
    await options.filter({ hasText: 'AWS Claude' }).waitFor();
    const offered = await options.allTextContents();
    expect(offered).toEqual(expect.arrayContaining(['OpenAI1', 'AWS Claude33', 'Vertex AI41']));
    expect(offered.filter((name) => /28|Unknown/.test(name))).toEqual([]);
  });

  test('are found by name or number, and chosen by the keyboard; closing the list leaves the form open', async () => {
    const { page } = opened;
    const options = page.getByRole('listbox').getByRole('option');
    const type = page.getByRole('combobox', { name: 'Type', exact: true });
    await type.fill('41');
    await expect.poll(() => options.allTextContents()).toEqual(['Vertex AI41']);
    await type.press('Escape');
    await page.getByRole('listbox').waitFor({ state: 'detached' });
    await type.fill('no such');
    await page.getByText('No such type').waitFor();
    await type.fill('aws');
    await expect.poll(() => options.allTextContents()).toEqual(['AWS Claude33']);
    await type.press('Enter');
    await expect.poll(() => type.inputValue()).toBe('AWS Claude');
    await page.getByRole('dialog', { name: 'New channel' }).waitFor();
    expect(await page.getByText('Please correct what is marked').count()).toBe(0);
  });

  test('are replaced by an edit', async () => {
    const { page } = opened;
    await page.goto('/channel?open=900');
    await page.getByRole('combobox', { name: 'Type', exact: true }).fill('openai');
    await page
      .getByRole('listbox')
      .getByRole('option', { name: /^OpenAI ?1$/ })
      .click();
    await page.getByLabel('Key', { exact: true }).fill('sk-upstream-key');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The channel has been saved').waitFor();
    await rowOf(page, 'Channels', 'lagoon').getByText('Unknown type 28').waitFor({ state: 'detached' });
    expect(gateway.application.directory.channel(ChannelId(900))?.settings.type).toBe(1);
  });
}

describeInBrowser('unsupported channel types in the browser', typesNotServed);
