import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChannelId } from '../../src/domain/ids.js';
import { channelAcceptedEarlier } from '../support/accepted-earlier.js';
import { type Console, openConsole, signIn } from '../support/browser.js';
import { startTestGateway, type TestGateway } from '../support/test-gateway.js';
import { rowOf } from './tables.js';

/** Types the gateway cannot speak with: offered to nobody, marked where an earlier release took one, and left by an edit. */
export function typesNotServed(launched: () => Browser): void {
  const cohere = 34;
  let gateway: TestGateway;
  let opened: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel({ name: 'harbour' });
    await channelAcceptedEarlier(gateway, ChannelId(900), { type: cohere, name: 'lagoon' });
    opened = await openConsole(launched(), { url: gateway.url });
    await signIn(opened, { username: 'root', password: gateway.rootPassword });
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
  });

  test.for([
    ['zh', '渠道管理', '类型', 'lagoon', '暂不支持', 'Cohere（暂不支持）'],
    ['en', 'Channels', 'Type', 'lagoon', 'Not served', 'Cohere (not supported yet)'],
  ] as const)('are marked in the list and in the form: %s', async ([language, table, type, name, mark, option]) => {
    const { page } = opened;
    await page.evaluate(`localStorage.setItem('language', '${language}')`);
    await page.goto('/channel');
    await rowOf(page, table, name).getByText(mark).waitFor();
    expect(await rowOf(page, table, 'harbour').getByText(mark).count()).toBe(0);
    await page.goto('/channel?open=900');
    const chosen = page.getByRole('combobox', { name: type, exact: true });
    await chosen.waitFor();
    expect(await chosen.locator('option:checked').textContent()).toBe(option);
  });

  test('are not offered for a new channel', async () => {
    const { page } = opened;
    await page.goto('/channel?open=new');
    const type = page.getByRole('combobox', { name: 'Type', exact: true });
    await type.waitFor();
    const offered = await type.getByRole('option').allTextContents();
    expect(offered).toEqual(expect.arrayContaining(['OpenAI', 'AWS Claude', 'Vertex AI']));
    expect(offered.filter((name) => /Cohere|Midjourney|Suno/.test(name))).toEqual([]);
  });

  test('are left by an edit, which takes the mark away', async () => {
    const { page } = opened;
    await page.goto('/channel?open=900');
    await page.getByRole('combobox', { name: 'Type', exact: true }).selectOption({ label: 'OpenAI' });
    await page.getByLabel('Key', { exact: true }).fill('sk-upstream-key');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The channel has been saved').waitFor();
    await rowOf(page, 'Channels', 'lagoon').getByText('Not served').waitFor({ state: 'detached' });
    expect(gateway.application.directory.channel(ChannelId(900))?.settings.type).toBe(1);
  });
}
