import { checkText } from '../../domain/kernel/bounds.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { PaymentId } from '../../domain/kernel/ids.js';
import type { PaymentProviderName } from '../../domain/payment/payment.js';
import { minAmount } from '../../domain/payment/top-up-price.js';
import type { Actor } from '../../domain/user/user.js';
import type { Page, PageRequest } from '../../projections/engine/page.js';
import {
  type PaymentFilter,
  paymentById,
  paymentBySession,
  paymentPage,
} from '../../projections/models/payment-queries.js';
import type { PaymentRow } from '../../projections/models/payments.js';
import { authorise, mayDo } from '../authorise.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { PaymentProviders } from '../ports/payment-ports.js';
import { currentOf, type ReadingPorts } from '../viewer.js';
import { methodsOf, topUpPrices } from './top-up-terms.js';

/* What can be bought, and what has been ordered. */

interface PaymentQueryPorts extends ReadingPorts {
  readonly directory: Pick<NodeDirectory, 'settings' | 'user'>;
  readonly providers: PaymentProviders;
}

export interface TopUpMethod {
  readonly provider: PaymentProviderName;
  readonly method: string;
  readonly currency: string;
}

export function paymentQueries({ directory, providers, ...reading }: PaymentQueryPorts) {
  const current = currentOf(reading);

  return {
    /** By what quota can be bought now, and the least at once, in the unit of amounts. None: it cannot. */
    topUpOffers(): { readonly methods: readonly TopUpMethod[]; readonly minimum: number } {
      const settings = directory.settings();
      return {
        methods: methodsOf(providers).map(({ provider, method }) => ({
          provider,
          method,
          currency: topUpPrices(settings, provider, '').currency,
        })),
        minimum: minAmount(settings.topUp.minimum, topUpPrices(settings, 'epay', '')),
      };
    },

    /** The origin of the payment provider that forms are posted to; null: none are. */
    paymentOrigin(): string | null {
      return providers.epay.methods().length === 0 ? null : new URL(directory.settings().text('PayAddress')).origin;
    },

    async ownPayments(viewer: Actor, request: PageRequest): Promise<Page<PaymentRow>> {
      return paymentPage(await current(), request, { userId: viewer.id });
    },

    /** One of one's own; administrators see all. Throws `payment-not-found`. */
    async payment(viewer: Actor, id: PaymentId): Promise<PaymentRow> {
      const row = await paymentById(await current(), id);
      if (row === undefined || (row.user_id !== viewer.id && !mayDo(viewer, 'admin-reading')))
        throw new Failure('payment-not-found');
      return row;
    },

    /** One's own, by what its provider calls the checkout. Throws `payment-not-found`. */
    async paymentBySession(viewer: Actor, session: string): Promise<PaymentRow> {
      checkText('session_id', session, { max: 256 });
      const row = await paymentBySession(await current(), session);
      if (row === undefined || row.user_id !== viewer.id) throw new Failure('payment-not-found');
      return row;
    },

    async payments(viewer: Actor, request: PageRequest, filter: PaymentFilter = {}): Promise<Page<PaymentRow>> {
      authorise(viewer, 'admin-reading');
      return paymentPage(await current(), request, filter);
    },
  };
}
