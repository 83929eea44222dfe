import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChannelId } from '../../src/domain/kernel/ids.js';
import { type Console, openConsole, signIn, themeOf } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { until } from '../support/until.js';
import { barriers } from './axe.js';
import { isMarked, mark, rowOf, visit } from './tables.js';

const model = 'gpt-4o-mini';
/** For the page to be drawn anew, on a machine that has much else to do. */
const patience = { timeout: 10_000 };

/** What happened at night, seen in the morning: on the dashboard, and on the page of the channel. */
describeInBrowser('the page of a channel', (launched) => {
  let gateway: TestGateway;
  let harbour: ChannelId;
  let apiKey: string;
  let opened: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.setOption('AutomaticDisableChannelEnabled', 'true');
    harbour = await gateway.addChannel({ name: 'harbour' });
    await gateway.addChannel({ name: `lighthouse ${'x'.repeat(110)}`, models: ['gpt-4o'], priority: 5 });
    for (let n = 0; n < 14; n++) await gateway.addChannel({ name: `pier ${n}`, models: ['text-embedding-3-small'] });
    apiKey = await gateway.addApiKey(await gateway.addUser(1_000_000));
    expect(await call()).toBe(200);
    // While nobody looks.
    gateway.provider.script(model, { kind: 'refuse', status: 401 });
    expect(await call()).not.toBe(200);
    const { application, root } = gateway;
    await until(async () => application.directory.channel(harbour)?.status === 'auto-disabled' || null);
    gateway.provider.script(model, {});
    const edited = { settings: { weight: 7, setting: '{"password":"planted"}' }, key: 'sk-another-key' };
    await application.visible(await application.channels.edit(root, harbour, edited));
    opened = await openConsole(launched(), { url: gateway.url });
    await signIn(opened, { username: 'root', password: gateway.rootPassword });
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
  });

  const call = async (): Promise<number> => {
    const { status, body } = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello?' }] }),
    });
    await body?.cancel();
    return status;
  };
  const justHappened = (page: Page) => page.getByRole('log', { name: 'Just happened' }).getByRole('listitem');
  const history = (page: Page) => page.getByRole('list', { name: 'History' }).getByRole('listitem');

  test('the dashboard begins with recent events, problems first', async () => {
    const { page } = opened;
    await visit(page, 'Dashboard');
    await justHappened(page).filter({ hasText: 'harbour disabled automatically' }).waitFor();
    expect(await justHappened(page).count()).toBe(1);
    const rows = page.getByRole('region', { name: 'Channel health', exact: true }).getByRole('row');
    await rows.nth(1).getByText('harbour').waitFor();
    // The heading, and as many as are read at a glance.
    expect(await rows.count()).toBe(13);
    await page.getByRole('button', { name: 'Show all 16' }).click();
    await expect.poll(() => rows.count(), patience).toBe(17);
    await page.getByText('15 enabled, 1 disabled').waitFor();
  });

  test('new events are added, once', async () => {
    const { page } = opened;
    const { application, root } = gateway;
    await page.getByText('Live', { exact: true }).waitFor();
    await mark(page);
    await application.channels.setEnabled(root, harbour, true);
    await justHappened(page).filter({ hasText: 'harbour enabled · root' }).waitFor();
    expect(await justHappened(page).count()).toBe(2);
    await page.reload();
    await expect.poll(() => justHappened(page).count(), patience).toBe(2);
  });

  test('a channel’s page shows its state, its failures, and its history', async () => {
    const { page } = opened;
    await rowOf(page, 'Channel health', 'harbour').getByRole('link', { name: 'harbour' }).click();
    await page.getByRole('heading', { name: 'harbour', level: 1 }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname, patience).toBe(`/channel/${harbour}`);
    await rowOf(page, 'Why attempts failed', '401').waitFor();
    await page.getByText('Failed: 1, of them made good by others: 0').waitFor();
    await history(page).filter({ hasText: 'disabled automatically' }).getByText('401').waitFor();
    const edit = history(page).filter({ hasText: 'edited · root' });
    await edit.getByText('Weight').waitFor();
    await edit.getByText('changed (what it holds is secret)').first().waitFor();
    expect(await page.content()).not.toContain('planted');
    await page.getByLabel('Show').selectOption('Enabled and disabled');
    await expect.poll(() => history(page).count(), patience).toBe(2);
    await page.reload();
    await expect.poll(() => history(page).count(), patience).toBe(2);
  });

  test('a channel is tested and switched on its page, and the history continues by itself', async () => {
    const { page } = opened;
    await page.getByLabel('Show').selectOption('All');
    await page.getByText('Live', { exact: true }).waitFor();
    await mark(page);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await history(page).filter({ hasText: 'passed its test' }).waitFor();
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await history(page).filter({ hasText: 'disabled · root' }).waitFor();
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByRole('button', { name: 'Disable', exact: true }).waitFor();
    expect(await isMarked(page)).toBe(true);
  });

  test('figures of a channel link to the lines of the log that they count', async () => {
    const { page } = opened;
    await page.getByLabel('Range').selectOption('Last 7 days');
    await expect.poll(() => new URL(page.url()).searchParams.get('range'), patience).toBe('7d');
    const failed = page.locator('dl').filter({ hasText: 'Calls failed' }).locator('div', { hasText: 'Calls failed' });
    await failed.getByRole('link', { name: '1', exact: true }).click();
    await page.getByRole('heading', { name: 'Usage log', level: 1 }).waitFor();
    const asked = new URL(page.url()).searchParams;
    expect([asked.get('channel'), asked.get('type')]).toEqual([String(harbour), 'ERROR']);
    await page
      .getByRole('link', { name: `${harbour} · harbour` })
      .first()
      .waitFor();
  });

  test('a channel that failed its test shows the reason in the list, and can be found by it', async () => {
    const { page } = opened;
    gateway.provider.script('gpt-4o', { kind: 'refuse', status: 500 });
    await visit(page, 'Channels');
    const row = rowOf(page, 'Channels', 'lighthouse');
    await row.getByRole('button', { name: /^Test lighthouse/ }).click();
    await row.getByText('Test failed').waitFor();
    await row.getByText(/^Failed: .*Simulated refusal 500/).waitFor();
    await page.getByLabel('Last test').selectOption('Failed');
    const rows = page.getByRole('region', { name: 'Channels', exact: true }).getByRole('row');
    await expect.poll(() => rows.count(), patience).toBe(2);
    await page.getByRole('button', { name: 'Reset' }).click();
  });

  test('all channels are tested by one click, and the result is shown', async () => {
    const { page } = opened;
    await page.getByRole('button', { name: 'Test all channels' }).click();
    await page.getByText(/^All channels tested: \d+ passed, [1-9]\d* failed/).waitFor();
    await rowOf(page, 'Channels', 'lighthouse')
      .getByText(/^Failed: .*Simulated refusal 500/)
      .waitFor();
  });

  test('an action on several channels shows their number before it is done', async () => {
    const { page } = opened;
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete all disabled channels' }).click();
    await page.getByText('No channel is disabled').waitFor();
  });

  test('the history of a deleted channel is kept', async () => {
    const { page } = opened;
    const { application, root } = gateway;
    const gone = await gateway.addChannel({ name: 'wreck' });
    await application.visible(await application.channels.remove(root, [gone]));
    await page.goto(`/channel/${gone}`);
    await page.getByText('This channel has been deleted; what it has left is below.').waitFor();
    await history(page).filter({ hasText: 'deleted · root' }).waitFor();
  });

  describe.each(['light', 'dark'] as const)('has no barriers and fits a phone: %s', (colorScheme) => {
    test.each(['/channel/1', '/detail', '/channel?test=failed'])('in the theme %s', async (path) => {
      const { page } = opened;
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto(path);
      for (const width of [1280, 600, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.getByText('harbour').or(page.getByText('lighthouse')).first().waitFor();
        await expect.poll(() => themeOf(page), patience).toBe(colorScheme);
        const wide = await page.evaluate<boolean>(
          'document.documentElement.scrollWidth > document.documentElement.clientWidth',
        );
        expect({ width, wide, barriers: await barriers(page) }).toEqual({ width, wide: false, barriers: [] });
      }
    });
  });

  test('no error occurred in the page', () => {
    expect(opened.problems).toEqual([]);
  });
});
