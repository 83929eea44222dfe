import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { until } from '../support/until.js';
import { startUpstream, type Upstream } from '../support/upstreams/upstream.js';
import { barriers } from './axe.js';

/** Two windows of whoever runs the gateway, on the same options. */
function settings(launched: () => Browser): void {
  /** Fails for who asks first. */
  let releases: Upstream;
  let timesAsked = 0;
  let gateway: TestGateway;
  let one: Console;
  let other: Console;
  let alice: TestUser;
  let user: Console;

  beforeAll(async () => {
    releases = await startUpstream((_, response) => {
      timesAsked++;
      response.writeHead(timesAsked === 1 ? 503 : 200).end(
        JSON.stringify({
          tag_name: 'v99.0.0-rc.1',
          html_url: 'https://releases.example/v99',
          published_at: '2026-11-20T08:00:00Z',
        }),
      );
    });
    gateway = await startTestGateway({ RELEASES_URL: `${releases.url}/latest` });
    alice = await gateway.addUser(500_000, 'alice');
    [one, other, user] = [
      await openConsole(launched(), { url: gateway.url }),
      await openConsole(launched(), { url: gateway.url }),
      await openConsole(launched(), { url: gateway.url }),
    ];
    const root = { username: 'root', password: gateway.rootPassword };
    await signIn(one, root);
    await signIn(other, root);
    await signIn(user, alice);
  });
  afterAll(async () => {
    for (const console of [one, other, user]) await console?.close();
    await gateway?.stop();
    await releases?.stop();
  });

  const section = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });
  const save = (page: Page, name: string): Promise<void> =>
    section(page, name)
      .getByRole('button', { name: `Save: ${name}` })
      .click();
  const logLines = async () =>
    (await gateway.application.queries.log(gateway.root, {}, { page: 1, size: 100 }, false)).items;
  const held = (key: string) => gateway.application.directory.settings().text(key as never);

  test('save the changes, and nothing else', async () => {
    const { page } = one;
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await save(page, 'General');
    await page.getByText('You seem not to have changed anything').waitFor();
    await section(page, 'General').getByLabel('Retries', { exact: true }).fill('3');
    await section(page, 'General').getByText('Not saved').waitFor();
    const before = await gateway.application.options.views(gateway.root);
    await save(page, 'General');
    await page.getByText('Saved: 1').waitFor();
    expect(held('RetryTimes')).toBe('3');
    const changed = gateway.application.options
      .views(gateway.root)
      .filter(({ key, position }) => before.find((option) => option.key === key)?.position !== position);
    expect(changed.map(({ key }) => key)).toEqual(['RetryTimes']);
  });

  test('keep the tab in the address, and unsaved changes when another tab is opened', async () => {
    const { page } = one;
    await section(page, 'General')
      .getByLabel('Link to the documentation', { exact: true })
      .fill('https://docs.example');
    await page.getByRole('tab', { name: 'Rate limits' }).click();
    await page.waitForURL(/\?tab=ratelimit/);
    await section(page, 'Requests for models').waitFor();
    await page.getByRole('tab', { name: 'Operation (1 not saved)' }).click();
    const link = section(page, 'General').getByLabel('Link to the documentation', { exact: true });
    expect(await link.inputValue()).toBe('https://docs.example');
    await section(page, 'General').getByRole('button', { name: 'Discard the change: Link' }).click();
    expect(await link.inputValue()).toBe('');
  });

  test('show an invalid value at its field, JSON by line and column', async () => {
    const { page } = one;
    const groups = section(page, 'Groups');
    await groups.getByLabel('Ratios of groups', { exact: true }).fill('{\n  "default": 1,\n  "vip" 2\n}');
    await save(page, 'Groups');
    await groups.getByText('Not a valid JSON string: line 3, column 9').waitFor();
    await groups.getByLabel('Ratios of groups', { exact: true }).fill('{"default": -1}');
    await save(page, 'Groups');
    await groups.getByText(/GroupRatio\.default is not valid: a number from 0/).waitFor();
    await section(page, 'Quota').getByLabel('Output held for', { exact: true }).fill('many');
    await save(page, 'Quota');
    await section(page, 'Quota').getByText('Enter an integer from 0 to 1073741823').waitFor();
    await page.reload();
    await section(page, 'General').waitFor();
  });

  test('name another option that is required first; both are saved together', async () => {
    const { page } = one;
    await page.goto('/setting?tab=system');
    const github = section(page, 'GitHub');
    await github.getByLabel('Sign in and register by GitHub', { exact: true }).check({ force: true });
    await save(page, 'GitHub');
    await github.getByText('Fill in and save “GitHub client ID” first').waitFor();
    await github.getByText('Not everything was saved: Sign in and register by GitHub').waitFor();
    await github.getByLabel('GitHub client ID', { exact: true }).fill('Iv1.example');
    await github.getByLabel('GitHub client secret', { exact: true }).fill('planted-secret');
    await save(page, 'GitHub');
    await page.getByText('Saved: 3').waitFor();
    expect(held('GitHubOAuthEnabled')).toBe('true');
    await github.getByText('Set. Enter another one to replace it').waitFor();
    expect(await page.content()).not.toContain('planted-secret');
  });

  test('remove the slash at the end of addresses, and payments require the server’s first', async () => {
    const { page } = one;
    await section(page, 'Payment').getByLabel('Epay merchant ID', { exact: true }).fill('1001');
    await save(page, 'Payment');
    await section(page, 'Payment').getByText('Fill in and save “Server address” first').waitFor();
    await section(page, 'Server address').getByLabel('Server address', { exact: true }).fill('https://gate.example/');
    await save(page, 'Server address');
    await page.getByText('Saved: 1').waitFor();
    expect(held('ServerAddress')).toBe('https://gate.example');
    await save(page, 'Payment');
    await expect.poll(() => held('EpayId')).toBe('1001');
  });

  test('show the second of two concurrent editors the conflict, with a choice', async () => {
    await one.page.goto('/setting?tab=other');
    await other.page.goto('/setting?tab=other');
    const name = (page: Page) => section(page, 'Looks').getByLabel('Name of this site', { exact: true });
    await name(one.page).fill('First');
    await name(other.page).fill('Second');
    await save(one.page, 'Looks');
    await one.page.getByText('Saved: 1').waitFor();
    await save(other.page, 'Looks');
    await other.page.getByText('Somebody else has just changed it to: First').waitFor();
    expect(held('SystemName')).toBe('First');
    await other.page.getByRole('button', { name: 'Take theirs' }).click();
    expect(await name(other.page).inputValue()).toBe('First');
    await name(other.page).fill('Second');
    await save(other.page, 'Looks');
    await other.page.getByText('Saved: 1').waitFor();

    await name(one.page).fill('Third');
    await save(one.page, 'Looks');
    await one.page.getByText('Somebody else has just changed it to: Second').waitFor();
    await one.page.getByRole('button', { name: 'Keep mine' }).click();
    await save(one.page, 'Looks');
    await expect.poll(() => held('SystemName')).toBe('Third');
  });

  test('have a history with user and change, and a way back', async () => {
    const { page } = one;
    await page.getByRole('button', { name: 'History: Name of this site' }).click();
    const drawer = page.getByRole('dialog', { name: 'History: Name of this site' });
    const changes = drawer.getByRole('article');
    await expect.poll(() => changes.count()).toBe(3);
    await changes.first().getByText('Second').waitFor();
    await changes.first().getByText('Third').waitFor();
    await changes.first().getByText('root').waitFor();
    await changes.last().getByText('Tallygate (default)').waitFor();
    await changes
      .first()
      .getByRole('button', { name: /^Revert: Name of this site/ })
      .click();
    await page.getByText('Reverted', { exact: true }).waitFor();
    await expect.poll(() => changes.count()).toBe(4);
    expect(held('SystemName')).toBe('Second');
    await drawer.getByRole('button', { name: 'Close' }).click();
    expect(await section(page, 'Looks').getByLabel('Name of this site', { exact: true }).inputValue()).toBe('Second');
  });

  test('have a history of all options behind one button, without secrets', async () => {
    const { page } = one;
    await page.getByRole('link', { name: 'History', exact: true }).click();
    const drawer = page.getByRole('dialog', { name: 'History', exact: true });
    const secret = drawer.getByRole('article').filter({ hasText: 'GitHub client secret' });
    await secret.getByText('a secret (not shown)').waitFor();
    expect(await secret.getByRole('button').count()).toBe(0);
    expect(await page.content()).not.toContain('planted-secret');
  });

  test('reset the model ratios to the built-in ones after a typed confirmation', async () => {
    const { page } = one;
    await gateway.setOption('ModelRatio', JSON.stringify({ 'house-model': 1.5 }));
    await page.goto('/setting');
    await page.getByRole('button', { name: 'Reset the model ratios' }).click();
    const dialog = page.getByRole('dialog', { name: 'Reset the model ratios' });
    const reset = dialog.getByRole('button', { name: 'Reset', exact: true });
    expect(await reset.isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('reset');
    await reset.click();
    await page.getByText('The model ratios are the built-in ones again').waitFor();
    expect(gateway.application.directory.settings().prices.modelRatio.has('house-model')).toBe(false);
  });

  test('keep the log for some days, and clear it up to a time after showing how much that removes', async () => {
    const { page } = one;
    await page.goto('/setting');
    const log = section(page, 'Log');
    await log.getByLabel('Days the log is kept', { exact: true }).fill('90');
    await save(page, 'Log');
    await page.getByText('Saved: 1').waitFor();
    expect(held('general_setting.log_retention_days')).toBe('90');

    const clear = log.getByRole('button', { name: 'Clear the log' });
    const before = log.getByLabel('Clear what happened before', { exact: true });
    await clear.click();
    await log.getByText('Choose a moment first').waitFor();
    await before.fill('2999-01-01T00:00');
    await clear.click();
    await log.getByText('Choose a moment that has passed').waitFor();
    await before.fill('2020-01-01T00:00');
    await clear.click();
    await page.getByText('Nothing in the log is older than 2020-01-01 00:00:00').waitFor();

    await gateway.addUser(5, 'newcomer');
    const granted = await until(async () => (await logLines())[0] ?? null);
    const end = granted.created_at + 1;
    await until(async () => (Date.now() >= end * 1000 ? true : null));
    const gone = await logLines();
    await before.fill(new Date(end * 1000).toISOString().slice(0, 19));
    await clear.click();
    const dialog = page.getByRole('dialog', { name: 'Clear the log' });
    await dialog.getByText(`that everybody will lose: ${gone.length}.`).waitFor();
    const confirmed = dialog.getByRole('button', { name: 'Clear', exact: true });
    expect(await confirmed.isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('clear');
    await confirmed.click();
    await page.getByText(`Lines cleared: ${gone.length}`).waitFor();
    expect(await logLines()).toEqual([]);
    await gateway.setOption('general_setting.log_retention_days', '0');
  });

  test('query a newer release on request, and link its page', async () => {
    const { page } = one;
    await page.goto('/setting?tab=other');
    const version = section(page, 'Version');
    await version.getByText(`Asked of ${new URL(releases.url).host}`).waitFor();
    expect(timesAsked).toBe(0);
    const check = version.getByRole('button', { name: 'Check for a newer release' });
    await check.focus();
    await page.keyboard.press('Enter');
    await version.getByText('The latest release could not be asked for: status 503').waitFor();
    await version.getByRole('button', { name: 'Retry' }).click();
    await version.getByText('There is a newer release: v99.0.0-rc.1').waitFor();
    await version.locator('time[datetime="2026-11-20T08:00:00.000Z"]').waitFor();
    const link = version.getByRole('link', { name: 'About v99.0.0-rc.1' });
    expect(await link.getAttribute('href')).toBe('https://releases.example/v99');
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
    expect(await barriers(page)).toEqual([]);
    // Another answer of the gateway, which does not ask again so soon.
    const answered = page.waitForResponse(
      (response) => response.request().postData()?.includes('latestRelease') ?? false,
    );
    await check.click();
    await answered;
    expect(timesAsked).toBe(2);
  });

  test('of the system are shown to root only: others are led to their own', async () => {
    const { page } = user;
    await page.goto('/setting?tab=system');
    await page.waitForURL(/\/personal$/);
    expect(await page.getByRole('link', { name: 'Settings', exact: true }).count()).toBe(0);
  });

  test('caused no error in the pages', () => {
    expect([...one.problems, ...other.problems, ...user.problems]).toEqual([]);
  });
}

describeInBrowser('the settings in the browser', settings);
