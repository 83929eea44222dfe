import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sealReading } from '../../src/adapters/seals/seal-reading.js';
import { closePeriod } from '../../src/application/books/close-period.js';
import { sealNewEvents } from '../../src/application/seals/sealer.js';
import { closePortsOf } from '../../src/cli/audit/close.js';
import { withDatabase } from '../../src/cli/database.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { graceMs } from '../../src/domain/ledger/closing.js';
import { Period, periodBounds } from '../../src/domain/ledger/period.js';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { settableClock } from '../support/given/fixed-clock.js';
import { quietLog } from '../support/quiet-log.js';
import { barriers, expectNoBarriers } from './axe.js';
import { rowOf, visit } from './tables.js';

/** An auditor at the desk, who looks at the quota of somebody else. */
function auditing(launched: () => Browser): void {
  let gateway: TestGateway;
  let alice: TestUser;
  let desk: Console;
  let key: string;

  const ask = async (): Promise<void> => {
    const { status } = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello?' }] }),
    });
    expect(status).toBe(200);
  };

  beforeAll(async () => {
    gateway = await startTestGateway();
    const { application, root } = gateway;
    await gateway.addChannel({ name: 'harbour' });
    alice = await gateway.addUser(1_000_000, 'alice');
    key = await gateway.addApiKey(alice);
    await ask();
    const auditor = { username: 'audrey', password: 'correct-horse', displayName: '', role: 'auditor' as const };
    const { position } = await application.users.create(root, auditor);
    await application.visible(position);
    desk = await openConsole(launched(), { url: gateway.url });
    await signIn(desk, auditor);
  });
  afterAll(async () => {
    await desk?.close();
    await gateway?.stop();
  });

  test('sees the audit in the menu, and no page on which something is changed', async () => {
    const navigation = desk.page.getByRole('navigation', { name: 'Console' });
    await navigation.getByRole('link', { name: 'Audit' }).waitFor();
    const links = await navigation.getByRole('link').allInnerTexts();
    for (const page of ['Channels', 'Users', 'Settings']) expect(links).not.toContain(page);
  });

  test('sees each movement of a user with its counter-account, and what the user has as of now', async () => {
    const { page } = desk;
    await visit(page, 'Audit');
    await page.getByRole('searchbox', { name: 'ID' }).fill(String(alice.actor.id));
    await page.keyboard.press('Enter');
    await rowOf(page, 'Quota history', 'Settlement').getByText('Revenue').waitFor();
    await rowOf(page, 'Quota history', 'Reservation').waitFor();
    await page.getByRole('group', { name: 'Balance as of then' }).getByText('Available').waitFor();
    expect(await barriers(page)).toEqual([]);
  });

  test('saves the history that is looked at as CSV and as JSON lines', async () => {
    const { page } = desk;
    for (const [name, ending] of [
      ['Download CSV', 'csv'],
      ['Download JSON', 'ndjson'],
    ]) {
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name }).click();
      const file = await saved;
      expect(file.suggestedFilename()).toMatch(new RegExp(`^history-user-${alice.actor.id}-.*\\.${ending}$`));
      expect(await readFile(await file.path(), 'utf8')).toContain('settlement');
    }
  });

  test('replays the history step by step or by itself, and opens the event of a step', async () => {
    const { page } = desk;
    const pages = page.getByRole('navigation', { name: 'Pages of the audit' });
    const at = (step: string) => page.getByRole('heading', { name: new RegExp(`^Movement ${step}$`) }).waitFor();
    const last = '(\\d+) of \\1';
    await pages.getByRole('link', { name: 'Replay' }).click();
    await at('1 of \\d+');
    await page.getByRole('button', { name: 'One movement forward' }).click();
    await at('2 of \\d+');
    await page.getByRole('slider', { name: 'Place' }).press('End');
    await at(last);
    await page.getByRole('button', { name: 'Show the event' }).click();
    await page.locator('pre').getByText('"type": "CallSettled"').waitFor();
    await page.getByRole('button', { name: 'First movement' }).click();
    await page.locator('pre').getByText('"type": "CallSettled"').waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'Speed' }).selectOption('25 a second');
    await page.getByRole('button', { name: 'Play' }).click();
    await at(last);
    await page.locator('pre').getByText('"charged"').waitFor();
    await expectNoBarriers(page);
    await pages.getByRole('link', { name: 'Quota history' }).click();
    await rowOf(page, 'Quota history', 'Settlement').waitFor();
  });

  test('narrows the history to a cause, and opens the request that a charge belongs to', async () => {
    const { page } = desk;
    await page.getByRole('combobox', { name: 'Cause' }).selectOption('Settlement');
    await expect.poll(() => page.getByRole('row').filter({ hasText: 'Reservation' }).count()).toBe(0);
    await rowOf(page, 'Quota history', 'Settlement').getByRole('link').click();
    await page.waitForURL(/\/log\/\w+/);
    await page.getByText('harbour').first().waitFor();
    expect(desk.problems).toEqual([]);
  });

  test('learns what requests would have cost by another ratio of a group, by user and model, and saves it', async () => {
    const { page } = desk;
    await visit(page, 'Audit');
    await page.getByRole('navigation', { name: 'Pages of the audit' }).getByRole('link', { name: 'What if' }).click();
    await page.getByRole('button', { name: 'Work it out' }).click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('0 of 1').waitFor();
    await page.getByRole('button', { name: 'Add a group' }).click();
    await page.getByRole('textbox', { name: 'Group', exact: true }).fill('default');
    await page.getByRole('textbox', { name: 'Ratio', exact: true }).fill('three');
    expect(await page.getByRole('button', { name: 'Work it out' }).isDisabled()).toBe(true);
    await page.getByRole('textbox', { name: 'Ratio', exact: true }).fill('3');
    await page.getByRole('button', { name: 'Work it out' }).click();
    await result.getByText('1 of 1').waitFor();
    await result.getByRole('button', { name: 'By user and model' }).click();
    await rowOf(page, 'By user and model', 'gpt-4o-mini').getByText(/^\+/).waitFor();
    const saved = page.waitForEvent('download');
    await result.getByRole('button', { name: 'Download CSV' }).click();
    const [header, row = ''] = (await readFile(await (await saved).path(), 'utf8')).split('\r\n');
    expect(header).toContain('user,model,calls,actual,hypothetical,difference');
    const [user, model, calls, actual, hypothetical] = row.split(',');
    expect([user, model, calls]).toEqual([String(alice.actor.id), 'gpt-4o-mini', '1']);
    expect(Number(hypothetical)).toBeGreaterThan(Number(actual) * 2);
    expect(await barriers(page)).toEqual([]);
  });

  test('previews a price repair, which root posts as it was previewed, sees in the list and undoes', async () => {
    const { page } = desk;
    const toRepairs = async (of: Page): Promise<void> => {
      await visit(of, 'Audit');
      await of
        .getByRole('navigation', { name: 'Pages of the audit' })
        .getByRole('link', { name: 'Price repair' })
        .click();
    };
    const previewOf = async (of: Page): Promise<void> => {
      await of.getByRole('combobox', { name: 'Right prices' }).selectOption('A price table or ratios of groups');
      expect(await of.getByRole('button', { name: 'Preview' }).isDisabled()).toBe(true);
      await of.getByRole('button', { name: 'Add a group' }).click();
      await of.getByRole('textbox', { name: 'Group', exact: true }).last().fill('default');
      await of.getByRole('textbox', { name: 'Ratio', exact: true }).fill('0');
      await of.getByRole('button', { name: 'Preview' }).click();
    };
    const row = (of: Page) => rowOf(of, 'Corrections by user and model', 'alice');
    await toRepairs(page);
    await previewOf(page);
    await row(page).getByText('Gets back').waitFor();
    expect(await page.getByRole('button', { name: 'Post' }).count()).toBe(0);

    const office = await openConsole(launched(), { url: gateway.url });
    try {
      const { page: rootPage } = office;
      await signIn(office, { username: 'root', password: gateway.rootPassword });
      await toRepairs(rootPage);
      await previewOf(rootPage);
      await row(rootPage).getByRole('cell', { name: '1', exact: true }).waitFor();
      const confirmBy = async (button: string): Promise<string> => {
        const question = rootPage.getByRole('dialog');
        const said = await question.innerText();
        await question.getByRole('button', { name: button }).click();
        await question.waitFor({ state: 'detached' });
        return said;
      };
      // Another call by then: what was previewed is not what there is.
      await ask();
      await rootPage.getByRole('button', { name: 'Post' }).click();
      expect(await confirmBy('Post')).toContain('1 requests are corrected');
      await rootPage.getByRole('button', { name: 'Preview again' }).click();
      await row(rootPage).getByRole('cell', { name: '2', exact: true }).waitFor();
      expect(await barriers(rootPage)).toEqual([]);
      await rootPage.getByRole('button', { name: 'Post' }).click();
      expect(await confirmBy('Post')).toContain('2 requests are corrected');
      const undo = rootPage.getByRole('button', { name: /^Undo the repair of/ });
      await rowOf(rootPage, 'Price repairs', 'root').getByText('Posted', { exact: true }).waitFor();
      await undo.click();
      expect(await confirmBy('Undo')).toContain('An undo cannot be undone');
      await rowOf(rootPage, 'Price repairs', 'root').getByText('Undone', { exact: true }).waitFor();
      expect(await undo.count()).toBe(0);
      await rootPage.getByRole('button', { name: 'Expand', exact: true }).click();
      await rootPage.getByText('Taken back').waitFor();
      expect(office.problems).toEqual([]);
    } finally {
      await office.close();
    }
  });

  test('sees the seals of the log, and learns of a noted head whether the log still has it', async () => {
    const { page } = desk;
    const { root, application } = gateway;
    await expect.poll(async () => (await application.queries.sealHead(root)).seal, { timeout: 30_000 }).not.toBeNull();
    await visit(page, 'Audit');
    await page.getByRole('navigation', { name: 'Pages of the audit' }).getByRole('link', { name: 'Seals' }).click();
    await rowOf(page, 'Seals', /^0/).waitFor();
    const head = (await page.getByRole('region', { name: 'State of the seals' }).locator('code').innerText()).trim();
    const [number, digest = ''] = head.split(':');
    for (const [noted, said] of [
      [head, 'The log has this seal, its events, and what was sealed after it.'],
      [`${number}:${digest.replace(/./g, '0')}`, 'Another seal has that number'],
      [`999999:${digest}`, 'The log does not have this seal'],
      ['a note', 'head'],
    ] as const) {
      await page.getByLabel('The head that was noted').fill(noted);
      await page.getByRole('button', { name: 'Compare' }).click();
      await page.getByRole('region', { name: 'Compare with a note' }).getByText(said).last().waitFor();
    }
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download public keys' }).click();
    const [first] = await application.queries.sealKeys(root);
    expect(await readFile(await (await saved).path(), 'utf8')).toBe(`${first?.publicKey}\n`);
    expect(await barriers(page)).toEqual([]);
    expect(desk.problems).toEqual([]);
  });

  test('sees the closed periods, and of one of them what every account held at its end', async () => {
    const { page } = desk;
    const month = Period(new Date().toISOString().slice(0, 7));
    const clock = settableClock(Instant(periodBounds(month).until + graceMs));
    await withDatabase(gateway.config, quietLog, async (database) => {
      const { pool, vault } = database;
      const ports = { ...closePortsOf(database), clock };
      await sealNewEvents({ ...sealReading(pool), vault, clock });
      await closePeriod(ports, month);
    });
    await page
      .getByRole('navigation', { name: 'Pages of the audit' })
      .getByRole('link', { name: 'Closed periods' })
      .click();
    await rowOf(page, 'Closed periods', month).getByRole('link', { name: month }).click();
    await rowOf(page, 'Closing balances', 'apikey:1').waitFor();
    expect(await barriers(page)).toEqual([]);
    expect(desk.problems).toEqual([]);
  });
}

describeInBrowser('an auditor in the browser', auditing);
