import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { passwordShown } from '../support/gateway/browser.js';
import type { TestUser } from '../support/gateway/test-gateway.js';

const section = (page: Page, name: string) => page.getByRole('region', { name });

/** Turns two-step verification on, on the personal page. */
export async function turnedOn(
  page: Page,
  /** null: has come by an identity provider a moment ago, and is asked for nothing. */
  user: Pick<TestUser, 'password'> | null,
): Promise<{ recoveryCodes: string[] }> {
  await page.goto('/personal');
  await section(page, 'Two-step verification').getByRole('button', { name: 'Turn on' }).click();
  if (user !== null) await passwordShown(page, user.password);
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
  const secret = (await dialog.locator('code').textContent()) ?? '';
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await dialog.getByLabel('The six digits the app shows').fill(code);
  await dialog.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('button', { name: 'I have kept them' }).waitFor();
  const recoveryCodes = await page.getByRole('dialog').locator('li code').allTextContents();
  await page.getByRole('button', { name: 'I have kept them' }).click();
  await section(page, 'Two-step verification').getByText('On', { exact: true }).waitFor();
  return { recoveryCodes };
}
