import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EpayServer, startEpayServer } from '../payments/epay-server.js';
import { epayOptions } from '../payments/setting.js';
import { type StripeStandIn, secrets, startStripe } from '../payments/stripe-stand-in.js';
import { type Console, openConsole, passwordShown, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { rowOf } from './tables.js';

/** Quota for money: to the cashier and back, by Epay and by Stripe, and what administrators see of it. */
function payments(launched: () => Browser): void {
  let epayServer: EpayServer;
  let stripe: StripeStandIn;
  let gateway: TestGateway;
  let buyer: Console;

  beforeAll(async () => {
    [epayServer, stripe] = await Promise.all([startEpayServer(), startStripe()]);
    gateway = await startTestGateway({ STRIPE_URL: stripe.url });
    for (const [key, value] of Object.entries({
      ...epayOptions(epayServer),
      StripeApiSecret: secrets.api,
      StripeWebhookSecret: secrets.webhook,
      ServerAddress: gateway.url,
    }))
      await gateway.setOption(key, value);
    buyer = await openConsole(launched(), { url: gateway.url });
    await signIn(buyer, await gateway.addUser(0, 'buyer'));
  });
  afterAll(async () => {
    await buyer?.close();
    await gateway?.stop();
    await Promise.all([epayServer?.stop(), stripe?.stop()]);
  });

  test('an amount has a price before it is ordered, and leads to the payment provider and back to the result', async () => {
    const { page, context } = buyer;
    const wallet = await context.newPage();
    await wallet.goto(`${gateway.url}/topup`);
    const balance = wallet.getByRole('status', { name: 'Balance' });
    await balance.getByText('$0.0000').waitFor();
    await page.goto(`${gateway.url}/topup`);
    await page.getByLabel(/^Amount/).fill('10');
    await page.getByRole('status', { name: 'To be paid' }).getByText('73.00 CNY').waitFor();
    await page.getByRole('button', { name: 'Go and pay' }).click();
    await page.getByRole('heading', { name: 'Cashier' }).waitFor();
    const [id = ''] = [...epayServer.orders.keys()];
    expect(epayServer.orders.get(id)?.form).toMatchObject({ type: 'alipay', money: '73.00' });
    epayServer.pay(id);
    expect(await (await fetch(`${gateway.url}/api/user/epay/notify?${epayServer.notice(id)}`)).text()).toBe('success');
    // Where the wallet stands open, it moves with the notice alone.
    await balance.getByText('$10.0000').waitFor();
    await wallet.close();
    await page.getByRole('link', { name: 'Back' }).click();
    await page.getByText('Paid: $10.00 have been added').waitFor();
    await rowOf(page, 'Orders', id).getByText('Completed').waitFor();
  });

  test('a user that returns before the webhook sees the payment as soon as the provider reports it', async () => {
    const { page } = buyer;
    await page.goto(`${gateway.url}/topup`);
    await page.getByText('Stripe', { exact: true }).first().click();
    await page.getByRole('button', { name: 'Go and pay' }).click();
    await page.getByRole('heading', { name: 'Checkout' }).waitFor();
    const [session] = [...stripe.sessions.values()];
    await page.getByRole('link', { name: 'Back' }).click();
    await page.getByText('Waiting to hear of the payment…').waitFor();
    stripe.pay(session?.client_reference_id ?? '');
    await page.getByText('Paid: $1.00 have been added').waitFor();
  });

  test('administrators see every order, and complete one by hand with a reason', async () => {
    const { page } = buyer;
    await page.goto(`${gateway.url}/topup`);
    await page.getByRole('button', { name: 'Go and pay' }).click();
    await page.getByRole('heading', { name: 'Cashier' }).waitFor();
    const id = [...epayServer.orders.keys()].at(-1) ?? '';

    const admin = await openConsole(launched(), { url: gateway.url });
    await signIn(admin, { username: 'root', password: gateway.rootPassword });
    await admin.page.goto(`${gateway.url}/orders`);
    const row = rowOf(admin.page, 'Payments', id);
    await row.getByRole('button', { name: `Ask whether order ${id} was paid` }).click();
    await admin.page.getByText('Whoever takes the money has none for this order yet').waitFor();
    await row.getByRole('button', { name: `Complete order ${id} by hand` }).click();
    const dialog = admin.page.getByRole('dialog', { name: `Complete order ${id} by hand` });
    await dialog.getByRole('button', { name: 'Credit it' }).click();
    await dialog.getByText('Say why').waitFor();
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('seen in the bank');
    await dialog.getByRole('button', { name: 'Credit it' }).click();
    await passwordShown(admin.page, gateway.rootPassword);
    await row.getByText('Completed by root: seen in the bank').waitFor();
    await admin.close();
  });
}

describeInBrowser('payments in the browser', payments);
