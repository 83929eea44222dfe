import { describe, expect, test } from 'vitest';
import { Instant } from '../../../../src/domain/kernel/instant.js';
import type { PriceTables } from '../../../../src/domain/pricing/price-tables.js';
import type { ModelPrice, PricePeriods } from '../../../../src/domain/pricing/records/model-price.js';
import { recordsAt } from '../../../../src/domain/pricing/records/price-records.js';
import type { Steps } from '../../../../src/domain/pricing/sources/list-json.js';
import type { MarginRule } from '../../../../src/domain/pricing/sources/margin-rule.js';
import {
  appliesUnasked,
  type ComparingTerms,
  type PriceDifference,
  type PriceDifferences,
  priceDifferences,
} from '../../../../src/domain/pricing/sources/price-differences.js';
import type { PublishedPrice, SourceForm } from '../../../../src/domain/pricing/sources/published-price.js';
import { noPrices } from '../../../support/given/no-prices.js';

const at = Instant(Date.parse('2026-11-28T12:00:00Z'));
const usd = (amount: string) => ({ usd: amount });
const priced = (input: string, output: string, rest: Partial<ModelPrice> = {}): ModelPrice => ({
  tokens: { input: usd(input), output: usd(output) },
  ...rest,
});

const published = (model: string, ...periods: PricePeriods): PublishedPrice => ({
  ...{ model, periods, vendor: 'acme', isFree: false, unread: [] },
});

const usual: MarginRule = { usual: '1', vendors: new Map(), families: new Map(), groups: new Map() };

interface Present extends Partial<Omit<ComparingTerms, 'tables' | 'records'>> {
  readonly records?: Readonly<Record<string, PricePeriods>>;
  readonly tables?: Partial<PriceTables>;
  readonly form?: SourceForm;
}

/** Where nothing else is said, `m` costs 2 USD of a million in and 8 USD out, by the maps. */
function compared(models: readonly PublishedPrice[], present: Present = {}): PriceDifferences {
  const { records = {}, tables = {}, form = 'litellm', ...rest } = present;
  const all = new Map(Object.entries(records));
  const steps: Steps<PriceDifferences> = priceDifferences(
    { form, models, skipped: [] },
    {
      tables: {
        ...noPrices,
        modelRatio: new Map([['m', '1']]),
        completionRatio: new Map([['m', '4']]),
        reasoningRatio: new Map(),
        serviceTiers: new Map(),
        groupRatio: new Map(),
        toolPrice: new Map(),
        quotaPerUnit: '500000',
        ...tables,
        records: recordsAt(all, at),
      },
      coming: [],
      records: all,
      ...{ at, margin: usual, bound: '1.5', fromSource: new Set(), setByHand: new Set() },
      ...rest,
    },
  );
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function onlyOne(model: PublishedPrice, present?: Present): PriceDifference {
  const [difference, ...more] = compared([model], present).items;
  if (difference === undefined || more.length > 0) throw new Error('There is not one difference');
  return difference;
}

const movesOf = ({ moves }: PriceDifference) =>
  Object.fromEntries(
    moves.map(({ name, before, after, from }) => [from === null ? name : `${name} ${from}`, [before, after]]),
  );

describe('the difference between a published price and the present one', () => {
  test('is absent where each quantity costs the same, in any notation', () => {
    const same = onlyOne(published('m', priced('2', '8')));
    expect(same).toMatchObject({ kind: 'same', moves: [], factor: null, periods: null, cautions: [] });
    expect(onlyOne(published('m', priced('2', '8')), { records: { m: [priced('2.0', '8')] } }).kind).toBe('same');
  });

  test('ignores rounding in the built-in tables', () => {
    const tables = { modelRatio: new Map([['m', '0.15']]), completionRatio: new Map([['m', '8.333333333333']]) };
    expect(onlyOne(published('m', priced('0.3', '2.5')), { tables }).kind).toBe('same');
  });

  test('is an increase or a decrease by its largest factor, and names that factor', () => {
    const higher = onlyOne(published('m', priced('2.5', '7.9')));
    expect(higher).toMatchObject({ kind: 'dearer', factor: '1.25', cautions: [] });
    expect(movesOf(higher)).toMatchObject({ input: ['2', '2.5'], output: ['8', '7.9'] });
    expect(onlyOne(published('m', priced('2.1', '4')))).toMatchObject({ kind: 'cheaper', factor: '2' });
  });

  test('is a change of kind between tokens and calls, in both directions', () => {
    expect(onlyOne(published('m', { call: '0.1' }))).toMatchObject({ kind: 'other-kind', cautions: ['other-kind'] });
    const records = { m: [{ call: '0.1' }] };
    expect(onlyOne(published('m', priced('2', '8')), { records }).kind).toBe('other-kind');
  });

  test('is new for a model without a price', () => {
    const difference = onlyOne(published('n', priced('2', '8')));
    expect(difference).toMatchObject({ kind: 'new', factor: null, cautions: ['new-model'] });
    expect(movesOf(difference)).toMatchObject({ input: [null, '2'], output: [null, '8'] });
  });

  test('is new for a model that is priced like its family', () => {
    const tables = { nearest: { removed: new Set<string>() }, modelRatio: new Map([['gpt-6.1-sol', '1']]) };
    const difference = onlyOne(published('gpt-6.2-sol', priced('2', '8')), { tables });
    expect(difference).toMatchObject({ kind: 'new', cautions: ['new-model'] });
  });

  test('names lengths, tools, pictures and service tiers', () => {
    const price = priced('2', '8', {
      contextTiers: [{ over: 200_000, factors: { input: '2', output: '1.5' } }],
      pieces: { 'calls:web_search': '0.01' },
      pictures: [{ size: '1024x1024', quality: 'hd', usd: '0.08' }],
      serviceTiers: { flex: '0.5' },
    });
    const difference = onlyOne(published('m', price));
    expect(movesOf(difference)).toEqual({
      'input>200000': ['2', '4'],
      'output>200000': ['8', '12'],
      'cacheWrite>200000': ['2.5', '5'],
      'cacheWriteHour>200000': ['4', '8'],
      'calls:web_search': [null, '0.01'],
      'picture:1024x1024/hd': [null, '0.08'],
      'tier:flex': [null, '0.5'],
    });
    expect(difference).toMatchObject({ kind: 'dearer', factor: '2', cautions: ['new-quantity', 'beyond-bounds'] });
  });

  test('shows announced prices with their day, compared with the cost on that day', () => {
    const price = published('m', priced('2', '8'), priced('4', '16', { from: '2027-01-01' }));
    const difference = onlyOne(price);
    expect(movesOf(difference)).toMatchObject({ 'input 2027-01-01': ['2', '4'], 'output 2027-01-01': ['8', '16'] });
    expect(difference).toMatchObject({ kind: 'dearer', periods: [{}, { from: '2027-01-01' }] });
    const records = { m: [priced('2', '8'), priced('4', '16', { from: '2027-01-01' })] };
    const coming = [
      {
        from: Instant(Date.parse('2027-01-01T00:00:00Z')),
        tables: {
          ...noPrices,
          ...{ reasoningRatio: new Map(), serviceTiers: new Map(), groupRatio: new Map(), toolPrice: new Map() },
          quotaPerUnit: '500000',
          records: new Map(Object.entries({ m: priced('4', '16') })),
        },
      },
    ];
    expect(onlyOne(price, { records, coming }).kind).toBe('same');
  });

  test('names a model that the source had priced and no longer lists', () => {
    const { items } = compared([], { fromSource: new Set(['m']) });
    expect(items).toMatchObject([{ model: 'm', kind: 'gone', periods: null }]);
    expect(items.some(appliesUnasked)).toBe(false);
  });

  test('omits a model without a quantity that the gateway charges for', () => {
    const { items, skipped } = compared([published('m', { pieces: { 'calls:web_search': '0.01' } })]);
    expect(items).toEqual([]);
    expect(skipped).toEqual([{ model: 'm', reason: 'not-counted', member: null }]);
  });
});

describe('what a group of users would pay', () => {
  const tables = { groupRatio: new Map(Object.entries({ default: '1', vip: '0.8', staff: '0' })) };
  const dearer = published('m', priced('4', '16'));

  test('below the price of the source is named, and nothing is applied by itself', () => {
    const difference = onlyOne(dearer, { tables, bound: '10' });
    expect(difference).toMatchObject({ groupsBelow: ['vip'], cautions: ['below-purchase'] });
    expect(appliesUnasked(difference)).toBe(false);
    expect(onlyOne(dearer, { tables, margin: { ...usual, usual: '1.25' } }).groupsBelow).toEqual([]);
  });
  test('raises the margin to the least that is stated for the group, whatever the model has', () => {
    const margin = { ...usual, groups: new Map([['vip', '1.1']]) };
    const raised = onlyOne(dearer, { tables, margin, bound: '10' });
    expect(raised).toMatchObject({ margin: '1.375', groupsBelow: [], cautions: [] });
    expect(raised.periods?.[0]).toMatchObject({
      ...{ tokens: { input: usd('5.5') }, purchase: { tokens: { input: usd('4') } } },
    });
    expect(onlyOne(dearer, { tables, margin: { ...margin, usual: '2' } }).margin).toBe('2');
  });
  test('may be less where that is stated, and nothing where the ratio of the group is 0', () => {
    const margin = { ...usual, groups: new Map(Object.entries({ vip: '0.8', staff: '2' })) };
    expect(onlyOne(dearer, { tables, margin, bound: '10' })).toMatchObject({ margin: '1', cautions: [] });
  });
  test('is by a ratio of 1 where none is stated: of the group default, and of those that the rule names', () => {
    const groups = new Map(Object.entries({ team: '1.5', vip: '0.5' }));
    const none = { groupRatio: new Map<string, string>() };
    const cheap = { ...usual, usual: '0.9' };
    expect(onlyOne(dearer, { tables: none, margin: cheap, bound: '10' }).groupsBelow).toEqual(['default']);
    const margin = { ...cheap, groups };
    expect(onlyOne(dearer, { tables: none, margin, bound: '10' })).toMatchObject({ margin: '1.5', groupsBelow: [] });
    const unpaid = { groupRatio: new Map([['default', '0']]) };
    expect(onlyOne(dearer, { tables: unpaid, margin: cheap, bound: '10' }).groupsBelow).toEqual([]);
  });
  test('of a model that is free, or unchanged, is below nothing', () => {
    const free = { ...published('m:free', { tokens: { input: usd('0'), output: usd('0') } }), isFree: true };
    expect(onlyOne(free, { tables }).groupsBelow).toEqual([]);
    expect(onlyOne(published('m', priced('2', '8')), { tables })).toMatchObject({ kind: 'same', groupsBelow: [] });
  });
});

describe('a model that is sold by the piece only', () => {
  test('is another kind of price beside tokens, whose amounts are gone', () => {
    const difference = onlyOne(published('m', { pieces: { seconds: '0.0001' } }));
    expect(difference).toMatchObject({ kind: 'other-kind', cautions: ['other-kind'] });
    expect(movesOf(difference)).toMatchObject({ seconds: [null, '0.0001'], input: ['2', null], output: ['8', null] });
    expect(difference.periods).toEqual([
      { pieces: { seconds: '0.0001' }, purchase: { pieces: { seconds: '0.0001' } } },
    ]);
  });
  test('moves by its pieces, also where these are pictures', () => {
    const records = { m: [{ pieces: { characters: '0.00001' } }] };
    expect(onlyOne(published('m', { pieces: { characters: '0.00002' } }), { records })).toMatchObject({
      ...{ kind: 'dearer', factor: '2', moves: [{ name: 'characters', before: '0.00001', after: '0.00002' }] },
    });
    expect(onlyOne(published('other', { pictures: [{ usd: '0.04' }] }))).toMatchObject({
      ...{ kind: 'new', moves: [{ name: 'picture:', before: null, after: '0.04' }] },
    });
  });
});

describe('a proposed price', () => {
  const proposed = (model: PublishedPrice, present?: Present) => onlyOne(model, present).periods;

  test('has the price of the source as purchase price, and the margin on every amount in USD', () => {
    const price: ModelPrice = {
      tokens: { input: usd('2'), output: { ratio: '4' } },
      pieces: { 'calls:web_search': '0.01' },
      contextTiers: [{ over: 200_000, factors: { input: '2' } }],
    };
    expect(proposed(published('n', price), { margin: { ...usual, usual: '1.2' } })).toEqual([
      {
        tokens: { input: usd('2.4'), output: { ratio: '4' } },
        pieces: { 'calls:web_search': '0.012' },
        contextTiers: [{ over: 200_000, factors: { input: '2' } }],
        purchase: { tokens: { input: usd('2'), output: { ratio: '4' } }, pieces: { 'calls:web_search': '0.01' } },
      },
    ]);
  });

  test('uses the margin of the longest beginning of its name, then that of its vendor, then the default', () => {
    const margin: MarginRule = {
      usual: '1.1',
      vendors: new Map([['acme', '1.5']]),
      families: new Map([
        ['gpt-', '2'],
        ['gpt-6', '3'],
      ]),
      groups: new Map(),
    };
    const marginOf = (model: PublishedPrice): string => onlyOne(model, { margin }).margin;
    expect(marginOf(published('gpt-6-sol', priced('1', '2')))).toBe('3');
    expect(marginOf(published('gpt-5', priced('1', '2')))).toBe('2');
    expect(marginOf(published('claude', priced('1', '2')))).toBe('1.5');
    expect(marginOf({ ...published('claude', priced('1', '2')), vendor: null })).toBe('1.1');
  });

  test('keeps the lengths of the present price where the form cannot express any, and not where it can', () => {
    const contextTiers = [{ over: 200_000, factors: { input: '2', output: '1.5' } }];
    const tables = { contextTiers: new Map([['m', contextTiers]]) };
    const model = published('m', priced('3', '8'));
    expect(proposed(model, { tables, form: 'ratio-config' })?.[0]?.contextTiers).toEqual(contextTiers);
    expect(proposed(model, { tables, form: 'openrouter-models' })?.[0]?.contextTiers).toEqual(contextTiers);
    expect(proposed(model, { tables, form: 'litellm' })?.[0]?.contextTiers).toBeUndefined();
    const records = { m: [priced('2', '8', { contextTiers })] };
    expect(proposed(model, { records, form: 'pricing' })?.[0]?.contextTiers).toEqual(contextTiers);
  });

  test('keeps kinds of token that the source omits and that are more expensive than plain ones, and no discounts', () => {
    const tables = {
      audioRatio: new Map([['m', '16']]),
      cacheRatio: new Map([['m', '0.1']]),
      audioOutputRatio: new Map([['m', '2']]),
    };
    expect(proposed(published('m', priced('3', '12')), { tables })?.[0]?.tokens).toEqual({
      input: usd('3'),
      output: usd('12'),
      audioInput: { ratio: '16' },
    });
  });

  test('keeps tools, pictures, service tiers and announced prices that the source omits', () => {
    const kept = {
      pieces: { 'calls:google_maps': '0.02' as const },
      pictures: [usd('0.04')],
      serviceTiers: { fast: '2' },
    };
    const later = priced('9', '9', { from: '2027-03-01' });
    const records = { m: [priced('2', '8', kept), later] };
    const source = published(
      'm',
      priced('2.5', '8', { pieces: { 'calls:web_search': '0.01' }, serviceTiers: { flex: '0.5' } }),
    );
    const periods = proposed(source, { records });
    expect(periods?.[0]).toMatchObject({
      pieces: { 'calls:google_maps': '0.02', 'calls:web_search': '0.01' },
      pictures: [usd('0.04')],
      serviceTiers: { fast: '2', flex: '0.5' },
    });
    expect(periods?.[1]).toEqual(later);
  });

  test('of a free model costs nothing, and has neither margin nor purchase price', () => {
    const free = { ...published('m:free', priced('0', '0')), isFree: true };
    const difference = onlyOne(free, { margin: { ...usual, usual: '2' } });
    expect(difference).toMatchObject({ isFree: true, periods: [priced('0', '0')], cautions: ['new-model', 'to-zero'] });
  });
});

describe('a price change that may be applied automatically', () => {
  const unasked = (model: PublishedPrice, present?: Present): boolean => appliesUnasked(onlyOne(model, present));

  test.each([
    ['3', '12', true],
    ['3.01', '8', false],
    ['2', '5.34', true],
    ['2', '5.33', false],
    ['2000000', '8', false],
  ])('is 2 and 8 USD to %s and %s within a factor of 1.5: %s', (input, output, expected) =>
    expect(unasked(published('m', priced(input, output)))).toBe(expected),
  );

  test('is not a new model, another kind, a new tier, a free price, or a price set by a user', () => {
    expect(unasked(published('n', priced('2', '8')))).toBe(false);
    expect(unasked(published('m', { call: '0.1' }))).toBe(false);
    expect(unasked(published('m', priced('2', '8', { serviceTiers: { flex: '0.5' } })))).toBe(false);
    const free = { ...published('m', priced('0', '0')), isFree: true };
    expect(onlyOne(free).cautions).toEqual(['to-zero']);
    const set = onlyOne(published('m', priced('2.1', '8')), { setByHand: new Set(['m']) });
    expect(set.cautions).toEqual(['set-by-hand']);
  });

  test('is not beyond the bound on an announced day either', () => {
    const price = published('m', priced('2', '8'), priced('20', '8', { from: '2027-01-01' }));
    expect(onlyOne(price).cautions).toEqual(['beyond-bounds']);
  });

  test('is not a change of a free price', () => {
    const records = { m: [priced('0', '0')] };
    expect(onlyOne(published('m', priced('2', '8')), { records }).cautions).toEqual(['beyond-bounds']);
  });

  test('stays within the bound of the last price that a user has set, in any number of small steps', () => {
    // 2.8 was applied by itself: within 1.5 of 2, which the options state.
    const records = { m: [priced('2.8', '8')] };
    const steps = { records, fromSource: new Set(['m']), approved: new Map([['m', null]]) };
    expect(onlyOne(published('m', priced('2.9', '8')), steps).cautions).toEqual([]);
    expect(onlyOne(published('m', priced('3.1', '8')), steps).cautions).toEqual(['beyond-bounds']);
    expect(onlyOne(published('m', priced('3.1', '8')), { records, fromSource: new Set(['m']) }).cautions).toEqual([]);
    const picked = { ...steps, approved: new Map([['m', [priced('2.5', '8')]]]) };
    expect(onlyOne(published('m', priced('3.1', '8')), picked).cautions).toEqual([]);
    const later = published('m', priced('2.9', '8'), priced('4', '8', { from: '2027-01-01' }));
    expect(onlyOne(later, steps).cautions).toEqual(['beyond-bounds']);
  });
});
