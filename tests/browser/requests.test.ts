import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { expectNoBarriers } from './axe.js';
import { follow, rowOf } from './tables.js';

/** One request, found by the id that its caller has, and what can be learnt of it. */
function requests(launched: () => Browser): void {
  let gateway: TestGateway;
  let alice: TestUser;
  let user: Console;
  let root: Console;
  let key = '';
  let served = '';
  let failed = { id: '', text: '' };

  const call = (apiKey: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello?' }] }),
    });
  const idOf = (answer: Response): string => answer.headers.get('x-request-id') ?? '';

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel({ name: 'hidden-harbour' });
    await gateway.setOption('GroupRatio', '{"default":1.5,"vip":1}');
    alice = await gateway.addUser(1_000_000, 'alice');
    key = await gateway.addApiKey(alice);
    const answer = await call(key);
    await answer.text();
    served = idOf(answer);
    gateway.provider.script('gpt-4o-mini', { kind: 'refuse', status: 500 });
    const refused = await call(key);
    failed = { id: idOf(refused), text: ((await refused.json()) as { error: { message: string } }).error.message };
    gateway.provider.reset();
    user = await openConsole(launched(), { url: gateway.url });
    await signIn(user, alice);
    root = await openConsole(launched(), { url: gateway.url });
    await signIn(root, { username: 'root', password: gateway.rootPassword });
  });
  afterAll(async () => {
    await user?.close();
    await root?.close();
    await gateway?.stop();
  });

  const section = ({ page }: Console, name: string) => page.getByRole('region', { name, exact: true });

  test('is found by the text of an error, put into any field of the log', async () => {
    const { page } = user;
    await follow(page, '/log');
    await page.getByRole('searchbox', { name: 'Token name' }).fill(failed.text);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname === `/log/${failed.id}`);
    await page.getByText('Not served; what was reserved was given back').waitFor();
    await section(user, 'Facts').getByText('The upstream request failed').waitFor();
    expect(await section(user, 'Charge').count()).toBe(0);
  });

  test('is linked from a row of the log: steps, price and its author, the charge, and no channel', async () => {
    const { page } = user;
    await follow(page, '/log');
    await rowOf(page, 'Usage log', 'Consume').first().getByRole('link').first().click();
    await page.waitForURL((url) => url.pathname === `/log/${served}`);
    const steps = page.getByRole('list', { name: 'Course' }).getByRole('listitem');
    await steps.filter({ hasText: 'Checked and reserved' }).waitFor();
    await steps.filter({ hasText: 'Waiting for the upstream' }).waitFor();
    await steps.filter({ hasText: /^Quota reservedat [\d.]+ m?s · / }).waitFor();
    await steps.filter({ hasText: /^Chargedat [\d.]+ m?s · / }).waitFor();
    expect(await steps.filter({ hasText: 'Attempt' }).count()).toBe(0);
    await rowOf(page, 'Price', 'GroupRatio[default]')
      .getByText(/^on \d{4}-/)
      .waitFor();
    await rowOf(page, 'Price', 'ModelRatio[gpt-4o-mini]').getByText('built in').waitFor();
    await section(user, 'Charge')
      .getByText(/^Rounded: /)
      .waitFor();
    expect(await page.getByText('For reference only').count()).toBe(0);
    await page.getByRole('button', { name: 'Show 2 events' }).press('Enter');
    await page.getByText('"type": "CallSettled"').waitFor();
    expect(await page.content()).not.toContain('hidden-harbour');
    expect(await page.getByText('attempts').count()).toBe(0);
  });

  test('shows root its channels, with a link from a factor to the history of its option', async () => {
    const { page } = root;
    await page.goto(`/log/${served}`);
    const steps = page.getByRole('list', { name: 'Course' }).getByRole('listitem');
    await steps.filter({ hasText: /^Attempt 1: \d+ · hidden-harbour[\d.]+ m?s, until / }).waitFor();
    await section(root, 'Facts').getByText('alice').waitFor();
    await rowOf(page, 'Price', 'GroupRatio[default]')
      .getByRole('link', { name: /^by root on / })
      .click();
    await page.getByRole('dialog').getByRole('article').first().getByText('root').waitFor();
  });

  test('has a receipt with the events that set its price, saved as signed JSON and printed on one sheet', async () => {
    const { page } = user;
    await follow(page, `/log/${served}`);
    await page.getByRole('link', { name: 'Receipt' }).click();
    await rowOf(page, 'Price factors', 'GroupRatio[default]')
      .getByText(/^position \d+, \d{4}-/)
      .waitFor();
    await section(user, 'Amounts').getByText('Paid').waitFor();
    await section(user, 'Calculation').getByText('The upstream reported what was used.').waitFor();
    await rowOf(page, 'Events in the log', 'CallSettled')
      .getByText(/^[0-9a-f]{64}$/)
      .waitFor();
    // The first seal is made within ten seconds of the start.
    await page.getByText('Every event is covered by a seal.').waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save signed JSON' }).click();
    const signed = await readFile(await (await downloading).path(), 'utf8');
    expect(JSON.parse(signed)).toMatchObject({
      receipt: { requestId: served, disclosure: 'caller', sealing: 'sealed' },
    });
    expect(`${await page.content()}${signed}`).not.toContain('hidden-harbour');
    const printed = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
    expect(printed.match(/\/Type\s*\/Page\b(?!s)/g)).toHaveLength(1);
  });

  test('has a receipt that names the channels to root, without barriers in both themes, and fits a phone', async () => {
    const { page } = root;
    await page.goto(`/log/${served}/receipt`);
    await section(root, 'Request').getByText('hidden-harbour').waitFor();
    await expectNoBarriers(page);
    const { width, height } = page.viewportSize() ?? { width: 1280, height: 800 };
    await page.setViewportSize({ width: 600, height: 900 });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(600);
    await page.setViewportSize({ width, height });
    await follow(page, '/log/anything/receipt');
    await page.getByText('There is no receipt of this request').waitFor();
  });

  test('shows root which channel failed it, with the error, and that its reservation was released', async () => {
    const { page } = root;
    await follow(page, `/log/${failed.id}`);
    const steps = page.getByRole('list', { name: 'Course' }).getByRole('listitem');
    await steps.filter({ hasText: /^Attempt 1: \d+ · hidden-harbourfailed 500 / }).waitFor();
    await steps.filter({ hasText: 'Reservation released' }).waitFor();
    expect(await steps.filter({ hasText: 'Charged' }).count()).toBe(0);
  });

  const rows = ({ page }: Console) => rowOf(page, 'Usage log', 'gpt-4o-mini');
  const spent = async (): Promise<void> => {
    const answer = await call(key);
    await answer.text();
  };

  test('delays new lines while the pointer or the focus is on a row', async () => {
    const { page } = user;
    await follow(page, '/log');
    await page.getByText('Live', { exact: true }).waitFor();
    await rows(user).first().getByRole('cell').last().hover();
    const before = await rows(user).count();
    await spent();
    await page.getByRole('button', { name: '1 new, show them' }).waitFor();
    expect(await rows(user).count()).toBe(before);
    await page.mouse.move(0, 0);
    await expect.poll(() => rows(user).count()).toBe(before + 1);

    await rows(user).first().getByRole('button', { name: 'Expand' }).focus();
    await spent();
    await page.getByRole('button', { name: '1 new, show them' }).waitFor();
    await page.getByRole('button', { name: 'Refresh' }).focus();
    await expect.poll(() => rows(user).count()).toBe(before + 2);
  });

  test('delays new lines while paused, and shows their number', async () => {
    const { page } = user;
    const before = await rows(user).count();
    await page.getByRole('button', { name: 'Pause' }).press('Enter');
    await spent();
    await spent();
    await page.getByRole('button', { name: '2 new, show them' }).waitFor();
    expect(await rows(user).count()).toBe(before);
    await page.getByRole('button', { name: 'Resume' }).press('Enter');
    await expect.poll(() => rows(user).count()).toBe(before + 2);
  });

  test('opens a row by a click, and closes it by another', async () => {
    const { page } = user;
    const cell = rows(user).first().getByRole('cell').last();
    await cell.click();
    await page.getByText('Billing process').waitFor();
    await cell.click();
    await page.getByText('Billing process').waitFor({ state: 'detached' });
  });

  test('saves the filtered lines as a file', async () => {
    const { page } = user;
    await page.goto('/log?type=CONSUME');
    await rows(user).first().waitFor();
    const shown = await rows(user).count();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export (CSV)' }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toMatch(/^log-\d{4}-\d\d-\d\d\.csv$/);
    const [, ...lines] = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
    expect(lines).toHaveLength(shown);
    expect(lines.every((line) => line.includes(',consume,'))).toBe(true);
    await page.route('**/export/log.csv?*', (route) =>
      route.fulfill({ status: 409, body: 'export-too-large: at most 100000\n', contentType: 'text/plain' }),
    );
    await page.getByRole('button', { name: 'Export (CSV)' }).click();
    await page.getByRole('alert').getByText('More than 100,000 lines match').waitFor();
  });

  test('shows the same for an unknown id as for another user’s', async () => {
    const stranger = await openConsole(launched(), { url: gateway.url });
    try {
      await signIn(stranger, await gateway.addUser(1, 'stranger'));
      for (const id of [served, `${served.slice(0, -8)}00000000`, 'anything']) {
        await follow(stranger.page, `/log/${id}`);
        await stranger.page.getByText('There is no such request').waitFor();
      }
      expect(stranger.problems).toEqual([]);
    } finally {
      await stranger.close();
    }
  });

  test('has a page without barriers, in both themes, that fits a phone', async () => {
    const { page } = root;
    await follow(page, `/log/${served}`);
    await page.getByRole('button', { name: 'Show 2 events' }).click();
    await expectNoBarriers(page);
    await page.setViewportSize({ width: 600, height: 900 });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(600);
  });

  test('caused no error in either page', () => {
    expect([...user.problems, ...root.problems]).toEqual([]);
  });
}

describeInBrowser('one request in the browser', requests);
