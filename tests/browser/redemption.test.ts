import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { rowOf } from './tables.js';

/** Codes from whoever gives them away to whoever redeems them. */
function redemption(launched: () => Browser): void {
  let gateway: TestGateway;
  let admin: Console;
  let user: TestUser;
  let redeemer: Console;
  let codes: readonly string[];

  beforeAll(async () => {
    gateway = await startTestGateway();
    admin = await openConsole(launched(), { url: gateway.url });
    await signIn(admin, { username: 'root', password: gateway.rootPassword });
    user = await gateway.addUser(500_000, 'winner');
    redeemer = await openConsole(launched(), { url: gateway.url });
    await signIn(redeemer, user);
  });
  afterAll(async () => {
    await admin?.close();
    await redeemer?.close();
    await gateway?.stop();
  });

  const redeem = async (code: string): Promise<void> => {
    const { page } = redeemer;
    await page.getByRole('textbox', { name: 'Code' }).fill(code);
    await page.getByRole('button', { name: 'Redeem' }).click();
  };
  const shows = (balance: string) =>
    redeemer.page.getByRole('status', { name: 'Balance' }).getByText(balance).waitFor();

  test('are issued by an administrator, three at once, and downloaded as a text file', async () => {
    const { page } = admin;
    await page.getByRole('link', { name: 'Redemption codes' }).click();
    await page.getByText('No codes yet').waitFor();
    await page.getByRole('link', { name: 'New codes' }).click();
    const drawer = page.getByRole('dialog', { name: 'New codes' });
    await drawer.getByRole('textbox', { name: 'Name' }).fill('spring sale');
    await drawer.getByRole('textbox', { name: 'Quota' }).fill('0');
    await drawer.getByLabel('How many').fill('3');
    await drawer.getByRole('button', { name: 'Create' }).click();
    await drawer.getByText('Enter a quota above 0').waitFor();
    await drawer.getByRole('textbox', { name: 'Quota' }).fill('0.2');
    await drawer.getByRole('button', { name: 'Create' }).click();
    await drawer.getByText('Codes made: 3').waitFor();
    const downloading = page.waitForEvent('download');
    await drawer.getByRole('button', { name: 'Download as .txt' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^redemption-codes-spring-sale-\d{4}-\d\d-\d\d\.txt$/);
    codes = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
    expect(codes).toHaveLength(3);
    for (const code of codes) expect(code).toMatch(/^[0-9a-f]{32}$/);
    await drawer.getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('3 in total').waitFor();
  });

  test('are redeemed by a user, and the displayed balance changes', async () => {
    const { page } = redeemer;
    await page.getByRole('link', { name: 'Wallet' }).click();
    await shows('$1.0000');
    await redeem(` ${codes[0]} `);
    await page.getByText('Redeemed: your balance has grown by $0.20').waitFor();
    await shows('$1.2000');
  });

  test('are refused with a text if used, disabled or wrong', async () => {
    const { page } = redeemer;
    await redeem(codes[0] ?? '');
    await page.getByText('This code has been used already, or is disabled').waitFor();
    await redeem('0'.repeat(32));
    await page.getByText('This code is not valid').waitFor();
    await redeem('');
    await page.getByText('Enter a code').waitFor();
  });

  test('update the open page when redeemed in another window', async () => {
    const { application } = gateway;
    await application.redemptions.redeem(user.actor, codes[1] ?? '', '192.0.2.1');
    await shows('$1.4000');
  });

  test('show the administrator the redeemer; the remaining one is found and deleted', async () => {
    const { page } = admin;
    await page.reload();
    await page.getByRole('link', { name: 'winner' }).first().waitFor();
    await page.getByLabel('Status').selectOption('Unused');
    await page.getByText('1 in total').waitFor();
    const row = rowOf(page, 'Redemption codes', 'spring sale');
    await row.getByRole('button', { name: 'Copy the code spring sale' }).click();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(codes[2]);
    await row.getByRole('button', { name: 'Disable spring sale' }).click();
    await page
      .getByRole('dialog', { name: 'Disable code spring sale?' })
      .getByRole('button', { name: 'Disable' })
      .click();
    await row.getByText('Disabled').waitFor();
    await redeem(codes[2] ?? '');
    await redeemer.page.getByText('This code has been used already, or is disabled').waitFor();
    await row.getByRole('button', { name: 'Delete spring sale' }).click();
    await page
      .getByRole('dialog', { name: 'Delete code spring sale?' })
      .getByRole('button', { name: 'Delete' })
      .click();
    await page.getByText('No code matches').waitFor();
  });

  test('appear in the usage log when redeemed', async () => {
    const { page } = redeemer;
    await page.getByRole('link', { name: 'Usage logs' }).click();
    await page
      .getByText(/^Redemption code \d+$/)
      .first()
      .waitFor();
  });

  test('caused no error in the pages', () => {
    expect([...admin.problems, ...redeemer.problems]).toEqual([]);
  });
}

describeInBrowser('redemption codes in the browser', redemption);
