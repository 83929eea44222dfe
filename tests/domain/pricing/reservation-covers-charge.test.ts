import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultPrices } from '../../../src/application/prices/default-prices.js';
import { type Counts, noUsage, type Usage } from '../../../src/domain/call/usage.js';
import {
  kindsWithin,
  reservedUsage,
  type UsageBound,
  unboundedTokens,
  usageBound,
} from '../../../src/domain/call/usage-bound.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { readServiceTiers } from '../../../src/domain/options/service-tier-option.js';
import { builtInServiceTiers } from '../../../src/domain/pricing/built-in/default-service-tiers.js';
import { type ContextTierFactors, withTiersUpTo } from '../../../src/domain/pricing/context-tiers.js';
import { type PriceTables, priceOf, serviceFactorsOf } from '../../../src/domain/pricing/price-tables.js';
import { chargeOf, maxCallPrice, type Price, reservationOf } from '../../../src/domain/pricing/pricing.js';
import {
  boundOf,
  inputQuantities,
  isTokens,
  isToolCalls,
  outputQuantities,
  type Quantity,
  quantities,
  type TokenQuantity,
  tokenQuantities,
} from '../../../src/domain/pricing/quantities.js';
import type { ModelPrice } from '../../../src/domain/pricing/records/model-price.js';
import {
  pricedTiers,
  servedPrice,
  serviceTermsOf,
  tierFactorsOf,
  withService,
} from '../../../src/domain/pricing/service-tiers.js';
import { withTools } from '../../../src/domain/pricing/tool-prices.js';
import { noPrices } from '../../support/given/no-prices.js';

/* Whatever the price and whatever a call uses within the bounds of its hold, the hold covers the charge. */

const names = Object.keys(quantities) as Quantity[];
const pieces = names.filter((name) => !isTokens(name));
const tools = names.filter(isToolCalls);

const largest = Number.MAX_SAFE_INTEGER;
/** Among them the bounds of built-in context tiers, and those of the tiers made up here. */
const edges = [199_999, 200_000, 272_000, 512_000].flatMap((edge) => [edge - 1, edge, edge + 1]);
const count = fc.oneof(fc.constantFrom(0, 1, 2, 100, 101, ...edges, largest), fc.nat(3_000), fc.maxSafeNat());

const share = fc.double({ min: 0, max: 1, noNaN: true });
const sharesOf = (quantities: readonly Quantity[]) =>
  fc.array(share, { minLength: quantities.length, maxLength: quantities.length });
const partOf = (whole: number, part: number | undefined): number => Math.min(Math.floor(whole * (part ?? 0)), whole);

const bound: fc.Arbitrary<UsageBound> = fc
  .record({
    input: count,
    output: count,
    audioInput: fc.option(count, { nil: 0 }),
    hours: fc.boolean(),
    audioOut: fc.boolean(),
    others: fc.dictionary(fc.constantFrom(...pieces), count),
  })
  .map(({ input, output, audioInput, hours, audioOut, others }) =>
    usageBound(
      { input, output },
      { ...(audioInput > 0 && { audioInput }), ...(hours && { cacheWriteHour: unboundedTokens }) },
      { ...(audioOut && { audioOutput: unboundedTokens }), ...others },
    ),
  );

/** Shares of what is left of a direction, kind by kind, in any order. */
function splitWithin(
  bound: UsageBound,
  kinds: readonly TokenQuantity[],
  total: number,
  shares: readonly number[],
): Usage {
  const counts: Counts = {};
  let left = total;
  kinds.forEach((kind, index) => {
    const max = boundOf(kind) === null ? left : Math.min(bound[kind] ?? 0, left);
    const used = index === kinds.length - 1 && boundOf(kind) === null ? left : partOf(max, shares[index]);
    if (used > 0) counts[kind] = used;
    left -= used;
  });
  return counts;
}

const shuffled = (kinds: readonly TokenQuantity[]) =>
  fc.shuffledSubarray([...kinds], { minLength: kinds.length, maxLength: kinds.length });

const used = fc.record({
  bound,
  inputs: shuffled(inputQuantities),
  outputs: shuffled(outputQuantities),
  total: fc.record({ input: fc.oneof(fc.constantFrom(0, 1), share), output: fc.oneof(fc.constantFrom(0, 1), share) }),
  shares: sharesOf(names),
});

function usageWithin({
  bound,
  inputs,
  outputs,
  total,
  shares,
}: typeof used extends fc.Arbitrary<infer Used> ? Used : never) {
  const usage: Counts = {
    ...splitWithin(bound, inputs, partOf(bound.input, total.input), shares),
    ...splitWithin(bound, outputs, partOf(bound.output, total.output), shares.slice(inputs.length)),
  };
  for (const [index, name] of pieces.entries()) {
    const max = partOf(bound[name] ?? 0, shares[tokenQuantities.length + index]);
    if (max > 0) usage[name] = max;
  }
  return usage;
}

const ratio = fc.oneof(
  fc.constantFrom('0', '1', '1000000', '0.000000000001', '37.5', '0.333333333333'),
  fc.integer({ min: 0, max: 4_000 }).map((hundredths) => String(hundredths / 100)),
);
const dictionaryOf = <Name extends string>(list: readonly Name[]) => fc.dictionary(fc.constantFrom(...list), ratio);

const tierList = (factors: fc.Arbitrary<Partial<Record<TokenQuantity, string>>>) =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(1, 100, 1_000, ...edges), factors), {
      maxLength: 4,
      selector: ([over]) => over,
    })
    .map((tiers) => tiers.sort(([a], [b]) => a - b).map(([over, factors]) => ({ over, factors })));

const allTools: Usage = Object.fromEntries(tools.map((name) => [name, 1]));

const tablesWith = (changed: Partial<PriceTables>): PriceTables => ({
  ...noPrices,
  records: new Map(),
  reasoningRatio: new Map(),
  serviceTiers: new Map(),
  groupRatio: new Map(),
  toolPrice: new Map([['web_search', '10']]),
  quotaPerUnit: '500000',
  ...changed,
});

const builtIn = tablesWith({
  ...defaultPrices(Instant(Date.parse('2026-11-28T00:00:00Z'))),
  serviceTiers: readServiceTiers(builtInServiceTiers),
  groupRatio: new Map(['0', '0.1', '1', '1000000'].map((ratio) => [ratio, ratio])),
  toolPrice: new Map(tools.map((name) => [name.slice('calls:'.length), '14'])),
});

const groups = fc.constantFrom(...builtIn.groupRatio.keys());
const priceIn = (tables: PriceTables, model: string, group: string): Price => {
  const price = priceOf(tables, model, group, false);
  if (price === null) throw new Error(`${model} has no price`);
  return withTools(price, tables, model, allTools);
};

const ofBuiltIn = fc
  .tuple(fc.constantFrom(...builtIn.modelRatio.keys(), ...builtIn.modelPrice.keys()), groups)
  .map(([model, group]) => ({
    price: priceIn(builtIn, model, group),
    factors: tierFactorsOf(builtIn.serviceTiers, model),
  }));

const optional = fc.option(ratio, { nil: undefined });
const tableOf = (ratio: string | undefined) => new Map(ratio === undefined ? [] : [['m', ratio]]);
const ofOperator = fc
  .record({
    perCall: fc.boolean(),
    model: ratio,
    ratios: fc.array(optional, { minLength: 8, maxLength: 8 }),
    tiers: tierList(dictionaryOf(tokenQuantities)),
    service: dictionaryOf(['flex', 'priority', 'us', 'fast', 'auto']),
    group: ratio,
    tool: ratio,
    quotaPerUnit: fc.constantFrom('1', '500000', '0.5'),
  })
  .map(({ perCall, model, ratios, tiers, service, group, tool, quotaPerUnit }) => {
    const tables = tablesWith({
      [perCall ? 'modelPrice' : 'modelRatio']: new Map([['m', model]]),
      completionRatio: tableOf(ratios[0]),
      cacheRatio: tableOf(ratios[1]),
      cacheWriteRatio: tableOf(ratios[2]),
      imageRatio: tableOf(ratios[3]),
      imageOutputRatio: tableOf(ratios[4]),
      audioRatio: tableOf(ratios[5]),
      audioOutputRatio: tableOf(ratios[6]),
      reasoningRatio: tableOf(ratios[7]),
      contextTiers: new Map<string, readonly ContextTierFactors[]>(tiers.length === 0 ? [] : [['m', tiers]]),
      serviceTiers: new Map([['m', new Map(Object.entries(service))]]),
      groupRatio: new Map([['g', group]]),
      toolPrice: new Map(tools.map((name) => [name.slice('calls:'.length), tool])),
      quotaPerUnit,
    });
    return { price: priceIn(tables, 'm', 'g'), factors: tierFactorsOf(tables.serviceTiers, 'm') };
  });

/** As events hold it, whoever stated it. */
const ofRecord = fc
  .record({
    perCall: fc.boolean(),
    model: ratio,
    ratios: dictionaryOf(tokenQuantities),
    tiers: tierList(dictionaryOf(tokenQuantities)),
    dollars: dictionaryOf(pieces),
    group: ratio,
    service: dictionaryOf(['flex', 'priority', 'auto']),
  })
  .map(({ perCall, model, ratios, tiers, dollars, group, service }) => {
    const shared = { group, pieces: { dollars, quotaPerUnit: '500000' } };
    const price: Price = perCall
      ? { per: 'call', price: model, quotaPerUnit: '500000', ...shared }
      : {
          per: 'token',
          model,
          ratios,
          ...(tiers.length > 0 && { tiers: tiers.map(({ over, factors }) => ({ over, ratios: factors })) }),
          ...shared,
        };
    return { price, factors: new Map(Object.entries(service)) };
  });

const rate = fc.oneof(
  ratio.map((usd) => ({ usd })),
  ratio.map((ratio) => ({ ratio })),
);
const ofPriceTable = fc
  .record({
    call: fc.option(ratio, { nil: undefined }),
    /** undefined: it is sold by the piece only. */
    input: fc.option(ratio, { nil: undefined, freq: 4 }),
    tokens: fc.dictionary(fc.constantFrom(...tokenQuantities.filter((name) => name !== 'input')), rate),
    pieces: dictionaryOf(pieces),
    contextTiers: tierList(dictionaryOf(tokenQuantities)),
    serviceTiers: dictionaryOf(['flex', 'priority', 'us', 'auto']),
    group: ratio,
  })
  .map(({ call, input, tokens, pieces, contextTiers, group, ...record }) => {
    const ofTokens =
      input === undefined
        ? { tokens, pieces: { seconds: '0.0001', ...pieces } }
        : { tokens: { ...tokens, input: { usd: input } }, pieces };
    const price: ModelPrice = {
      ...record,
      ...(call === undefined ? ofTokens : { call, pieces }),
      ...(contextTiers.length > 0 && { contextTiers }),
    };
    const tables = tablesWith({ records: new Map([['m', price]]), groupRatio: new Map([['g', group]]) });
    return { price: priceIn(tables, 'm', 'g'), factors: serviceFactorsOf(tables, 'm') };
  });

const serviceAsked = fc.record({
  asked: fc.array(share, { maxLength: 2 }),
  leftToAccount: fc.boolean(),
  reported: fc.oneof(
    fc.constantFrom(undefined, 'default', 'standard', 'auto', 'flex', 'priority', 'fast', 'ultrafast', 'us', 'fast+us'),
    fc.string(),
  ),
});

describe.each([
  ['the built-in tables', ofBuiltIn],
  ['tables of an operator', ofOperator],
  ['records of the price table', ofPriceTable],
  ['a price as stored in the log', ofRecord],
])('the reservation by %s', (_what, priced) => {
  test('covers every usage within its bounds, and no charge is negative', () => {
    fc.assert(
      fc.property(priced, used, serviceAsked, ({ price, factors }, within, { asked, leftToAccount, reported }) => {
        const tiers = pricedTiers(factors);
        const names = [...new Set(asked.flatMap((part) => tiers[Math.floor(part * tiers.length)] ?? []))];
        const offered = withService(price, serviceTermsOf(factors, names, leftToAccount));
        const held = reservedUsage(within.bound);
        const reserved = withTiersUpTo(offered, held);
        const usage = usageWithin(within);
        expect(kindsWithin(usage, within.bound, 'input') && kindsWithin(usage, within.bound, 'output')).toBe(true);

        const charge = chargeOf(usage, servedPrice(reserved, reported));
        expect(charge).toBeGreaterThanOrEqual(0);
        expect(charge).toBeLessThanOrEqual(reservationOf(held, reserved));
        expect(reservationOf(held, reserved)).toBeLessThanOrEqual(maxCallPrice);
        // What no prompt of the call reaches was left out, and changes nothing.
        expect(chargeOf(usage, servedPrice(offered, reported))).toBe(charge);
        expect(chargeOf(noUsage, servedPrice(reserved, reported))).toBeLessThanOrEqual(reservationOf(held, reserved));
      }),
      { numRuns: 1_000 },
    );
  });
});

test('a reservation for audio covers that all of the input is written to a cache for hours, where possible', () => {
  const price: Price = { per: 'token', model: '1', ratios: { cacheWriteHour: '2', audioInput: '1.5' }, group: '1' };
  const held = (bound: UsageBound) => reservationOf(reservedUsage(bound), price);
  const audio = { input: 1_000, audioInput: 1_000, output: 0 };
  expect(held({ ...audio, cacheWriteHour: 1_000 })).toBe(2_000);
  expect(chargeOf({ cacheWriteHour: 1_000 }, price)).toBe(2_000);
  expect(held(audio)).toBe(1_500);
});
