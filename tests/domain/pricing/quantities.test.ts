import { describe, expect, expectTypeOf, test } from 'vitest';
import { completionTokens, promptTokens, type Usage } from '../../../src/domain/call/usage.js';
import { currentPayloads } from '../../../src/domain/events/upcast.js';
import { billingOf } from '../../../src/domain/pricing/billing.js';
import { chargeOf, type Price, reservationOf, type TokenPrice } from '../../../src/domain/pricing/pricing.js';
import {
  isOutput,
  isTokens,
  isToolCalls,
  type PieceQuantity,
  type Quantity,
  quantities,
  type TokenQuantity,
  tokenQuantities,
} from '../../../src/domain/pricing/quantities.js';
import { settled } from '../../support/given/calls.js';

/* A quantity is a row of one list: whatever stands there is counted, charged, held, billed and stored by these rules. */

const names = Object.keys(quantities) as Quantity[];

/** A rate of 3 for each of them, and nothing else that costs: of tokens relative to an input token, of others in USD. */
const onlyFor = (name: Quantity): Price => {
  const none = { per: 'token', model: '1', ratios: Object.fromEntries(tokenQuantities.map((one) => [one, '0'])) };
  const price = { ...none, group: '1' } as TokenPrice;
  return isTokens(name)
    ? { ...price, ratios: { ...price.ratios, [name]: '3' } }
    : { ...price, pieces: { dollars: { [name]: '3' }, quotaPerUnit: '1' } };
};

describe('each quantity in the list', () => {
  test.each(names)('such as %s is charged, reserved and billed at the rate of its price', (name) => {
    const usage: Usage = { [name]: 7 };
    const price = onlyFor(name);
    expect([chargeOf(usage, price), reservationOf(usage, price)]).toEqual([21, 21]);
    expect(billingOf(usage, price).lines).toMatchObject([{ quantity: name, count: 7, unitPrice: '3', amount: '21' }]);
  });

  test.each(names)('such as %s is the same after being stored in the log', (name) => {
    const event = { ...settled({ quota: 21, charged: 21 }), usage: { [name]: 7 }, price: onlyFor(name) };
    const stored = JSON.parse(JSON.stringify(currentPayloads.stored(event)));
    expect(currentPayloads.upcast(event.type, currentPayloads.current(event.type), stored)).toEqual(event);
  });

  test.each(tokenQuantities)('such as %s counts as tokens of its direction, and of no other', (name) => {
    const usage: Usage = { [name]: 7 };
    expect([promptTokens(usage), completionTokens(usage)]).toEqual(isOutput(name) ? [0, 7] : [7, 0]);
  });

  test('has a unique name in the log', () => {
    const stored = names.map((name) => quantities[name].stored);
    expect(new Set(stored).size).toBe(names.length);
    expect(stored.filter((one) => one in quantities && quantities[one as Quantity].stored !== one)).toEqual([]);
  });

  test('is called after its tool if it counts calls of one, consistently everywhere', () =>
    expect(names.filter(isToolCalls)).toEqual(names.filter((name) => quantities[name].unit === 'call')));
});

test('the stored names of quantities are unchanged', () =>
  expect(Object.fromEntries(names.map((name) => [quantities[name].stored, name]))).toMatchObject({
    ...{ i: 'input', c: 'cachedInput', w: 'cacheWrite', h: 'cacheWriteHour', m: 'imageInput', a: 'audioInput' },
    ...{ o: 'output', r: 'reasoning', n: 'imageOutput', s: 'audioOutput', images: 'images', seconds: 'seconds' },
    ...{ 'calls:web_search': 'calls:web_search', 'calls:google_search': 'calls:google_search' },
  }));

test('usage and prices are records over the list: the compiler refuses an unknown name', () => {
  expectTypeOf<keyof Usage>().toEqualTypeOf<Quantity>();
  expectTypeOf<keyof TokenPrice['ratios']>().toEqualTypeOf<TokenQuantity>();
  expectTypeOf<keyof NonNullable<Price['pieces']>['dollars']>().toEqualTypeOf<PieceQuantity>();
  expectTypeOf<TokenQuantity | PieceQuantity>().toEqualTypeOf<Quantity>();
  // @ts-expect-error: no such quantity.
  const unknown: Usage = { smells: 1 };
  // @ts-expect-error: pictures have a price by the piece, and no ratio.
  const misplaced: TokenPrice['ratios'] = { images: '1' };
  expect([unknown, misplaced]).toHaveLength(2);
});
