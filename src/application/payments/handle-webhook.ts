import { Failure } from '../../domain/kernel/failure.js';
import { PaymentId } from '../../domain/kernel/ids.js';
import type { PaymentProviderName } from '../../domain/payment/payment.js';
import type { RefusedWebhookCounter } from '../notifications/refused-webhooks.js';
import type { OrderNews, WebhookRequest } from '../ports/payment-ports.js';
import { completeTopUp, expireTopUp, type PaymentOrderPorts, returnMoney } from './payment-orders.js';

/* Webhooks of payment providers. A provider hears that its webhook was taken only when the credit is durable. */

const paymentIdIn = (text: string): PaymentId | null => {
  try {
    return PaymentId(text);
  } catch {
    return null;
  }
};

interface PaymentWebhook {
  readonly provider: PaymentProviderName;
  readonly request: WebhookRequest;
}

/**
 * True: it is done with, durably, and need not be sent again. Throws `store-unavailable` and its kin: nobody knows.
 */
export async function handleWebhook(
  ports: PaymentOrderPorts,
  refused: Pick<RefusedWebhookCounter, 'add'>,
  { provider, request }: PaymentWebhook,
): Promise<boolean> {
  const webhook = await ports.providers[provider].readWebhook(request);
  if (!webhook.ok) {
    refused.add(provider, webhook.reason);
    return false;
  }
  const id = paymentIdIn(webhook.order);
  if (webhook.news.kind === 'nothing' || id === null) return true;
  try {
    await applyNews(ports, id, { provider, news: webhook.news });
    return true;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // Signed, and of no order of ours: sending it again would change nothing.
    const isUnknown = error.code === 'payment-not-found';
    if (!isUnknown && error.code !== 'payment-differs') throw error;
    refused.add(provider, isUnknown ? 'unknown-order' : 'differs', id);
    return isUnknown;
  }
}

async function applyNews(
  ports: PaymentOrderPorts,
  id: PaymentId,
  {
    provider,
    news,
  }: { readonly provider: PaymentProviderName; readonly news: Exclude<OrderNews, { kind: 'nothing' }> },
): Promise<void> {
  if (news.kind === 'over') await expireTopUp(ports, id, 'provider');
  else if (news.kind === 'returned') await returnMoney(ports, id, { provider, returned: news.returned });
  else await completeTopUp(ports, id, { provider, received: news.received, by: 'notice' });
}
