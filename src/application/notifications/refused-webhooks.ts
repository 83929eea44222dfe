import type { PaymentProviderName } from '../../domain/payment/payment.js';
import type { WebhookRefusal } from '../ports/payment-ports.js';
import type { Clock } from '../ports/storage-ports.js';

/*
 * Webhooks of payment providers that were refused. Anybody can send as many as they like: they are counted, and each kind
 * is logged once a minute.
 */

export type RefusalReason = WebhookRefusal | 'differs' | 'unknown-order';

export interface RefusedWebhooks {
  readonly provider: PaymentProviderName;
  readonly reason: RefusalReason;
  /** Since this process began. */
  readonly count: number;
}

const quietMs = 60_000;

export function refusedWebhooks(clock: Clock, warn: (facts: object, message: string) => void) {
  const kinds = new Map<string, { -readonly [Member in keyof RefusedWebhooks]: RefusedWebhooks[Member] }>();
  const loggedAt = new Map<string, number>();

  return {
    /** `order`: where the notice is of a known one. */
    add(provider: PaymentProviderName, reason: RefusalReason, order: string | null = null): void {
      const name = `${provider} ${reason}`;
      const kind = kinds.get(name) ?? { provider, reason, count: 0 };
      kinds.set(name, kind);
      kind.count += 1;
      const now = clock.now();
      if (now - (loggedAt.get(name) ?? -quietMs) < quietMs) return;
      loggedAt.set(name, now);
      warn({ ...kind, order }, 'a notice of a payment was refused');
    },
    all: (): readonly RefusedWebhooks[] => [...kinds.values()],
  };
}

export type RefusedWebhookCounter = ReturnType<typeof refusedWebhooks>;
