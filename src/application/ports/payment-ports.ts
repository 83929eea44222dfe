import type { PaymentId } from '../../domain/kernel/ids.js';
import type { MoneyReceived, PaymentProviderName } from '../../domain/payment/payment.js';
import type { MoneyReturned } from '../../domain/payment/payment-return.js';

/* What the application needs of those who take money; `src/payments` talks with them. */

export interface OrderToPay {
  readonly id: PaymentId;
  readonly method: string;
  /** As asked for. */
  readonly amount: number;
  /** Decimal text with two places. */
  readonly money: string;
  readonly currency: string;
  /** What the provider calls the checkout it has opened; null: none, or it knows the order by our number. */
  readonly session: string | null;
}

/** Where the browser is to go to pay: with a form that it posts, or to a checkout that was opened for it. */
export type Begun =
  | { readonly kind: 'form'; readonly url: string; readonly fields: Readonly<Record<string, string>> }
  | { readonly kind: 'checkout'; readonly url: string; readonly session: string };

/** What came to the path where a provider reports payments, as it came. */
export interface WebhookRequest {
  readonly query: URLSearchParams;
  /** As it came, for it is signed so. */
  readonly body: Buffer;
  readonly header: (name: string) => string;
}

/** Why a notice is not believed; nothing of its content. `unanswered`: the provider does not say which order it is of. */
export type WebhookRefusal = 'not-configured' | 'malformed' | 'wrong-signature' | 'wrong-merchant' | 'unanswered';

/** `over`: the provider takes no money for it any more. `nothing`: nothing that moves anything. */
export type OrderNews =
  | { readonly kind: 'paid'; readonly received: MoneyReceived }
  | { readonly kind: 'over' }
  | { readonly kind: 'returned'; readonly returned: MoneyReturned }
  | { readonly kind: 'nothing' };

export type WebhookRead =
  /** `order` is as the provider says it. */
  | { readonly ok: true; readonly order: string; readonly news: OrderNews }
  | { readonly ok: false; readonly reason: WebhookRefusal };

/** How an order stands by the provider's own word. `unanswered`: nobody knows. */
export type OrderState =
  | { readonly kind: 'paid'; readonly received: MoneyReceived }
  | { readonly kind: 'open' }
  | { readonly kind: 'over' }
  | { readonly kind: 'unanswered'; readonly reason: string };

/** One who takes money; each implementation is held to one contract. */
export interface PaymentProvider {
  /** By what people can pay now; none: it is not configured. */
  methods(): readonly string[];
  /** `returnPath`: where on the site the browser comes back to. Throws `payment-not-configured`, `payment-not-begun`. */
  begin(order: OrderToPay, returnPath: string): Promise<Begun>;
  readWebhook(request: WebhookRequest): Promise<WebhookRead>;
  ask(order: OrderToPay): Promise<OrderState>;
}

export type PaymentProviders = Readonly<Record<PaymentProviderName, PaymentProvider>>;
