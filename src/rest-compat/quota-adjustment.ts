import type { Settings } from '../application/options/settings.js';
import { decimal, decimalOf, isZero, ratioOf, roundHalfAway, times } from '../domain/kernel/decimal.js';
import { assertNever, invalidField } from '../domain/kernel/failure.js';
import type { Body } from './wire/body.js';

/*
 * POST /user/adjust_quota: what an admin adds to or takes from a wallet. The specification shows the members and not
 * their reading, which is ours: `quota_delta` and `gift_quota_delta` are units and decide. Where they are missing,
 * `original_delta` and `original_gift_delta` are amounts of the kind `adjust_type` names and are converted.
 */

interface QuotaAdjustment {
  /** Quota units; negative when taking. */
  readonly delta: number;
  /** Quota units on top. */
  readonly gift: number;
}

/** Yuan per dollar. */
export const yuanPerDollar = (settings: Settings): number => Number(settings.text('Price'));

const kinds = ['rmb', 'money', 'quota'] as const;
type Kind = (typeof kinds)[number];

function kindIn(body: Body): Kind {
  const wanted = body.text('adjust_type') ?? 'quota';
  const kind = kinds.find((known) => known === wanted);
  if (kind === undefined) throw invalidField('adjust_type', `one of ${kinds.join(', ')}`);
  return kind;
}

function inQuota(amount: number, kind: Kind, settings: Settings): number {
  const perDollar = times(decimalOf(amount), decimal(settings.text('QuotaPerUnit')));
  switch (kind) {
    case 'quota':
      return roundHalfAway(decimalOf(amount));
    case 'money':
      return roundHalfAway(perDollar);
    case 'rmb': {
      const price = decimal(settings.text('Price'));
      if (isZero(price)) throw invalidField('adjust_type', 'money or quota while the option Price is 0');
      return roundHalfAway(ratioOf(perDollar, price));
    }
    default:
      return assertNever(kind);
  }
}

/** Throws `invalid-field` for an amount of 0, and for a gift that is negative or goes with a deduction. */
export function quotaAdjustmentIn(body: Body, settings: Settings): QuotaAdjustment {
  const kind = kindIn(body);
  const amountOf = (units: string, original: string): number =>
    body.integer(units) ?? inQuota(body.number(original) ?? 0, kind, settings);
  const delta = amountOf('quota_delta', 'original_delta');
  const gift = amountOf('gift_quota_delta', 'original_gift_delta');
  if (delta === 0) throw invalidField('quota_delta', 'an integer other than 0');
  if (gift < 0 || (gift > 0 && delta < 0))
    throw invalidField('gift_quota_delta', 'an integer from 0, only when adding');
  return { delta, gift };
}
