import { expect, test } from 'vitest';
import { type WhatIf, whatIf, worked } from '../../../src/application/audit/what-if.js';
import type { SettledPage, SettledPart } from '../../../src/application/ports/settled-call-ports.js';
import type { Usage } from '../../../src/domain/call/usage.js';
import { beginning, Position } from '../../../src/domain/events/events.js';
import { currentPayloads } from '../../../src/domain/events/upcast.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import type { OtherPrices } from '../../../src/domain/pricing/other-price.js';
import { noTables, priceOf, recordedPriceOf } from '../../../src/domain/pricing/price-tables.js';
import { chargeOf, type Price } from '../../../src/domain/pricing/pricing.js';
import type { ModelPrice } from '../../../src/domain/pricing/records/model-price.js';
import { type Fact, refunded, settled, toRecord } from '../../projections/history.js';

const terms = { group: '1', quotaPerUnit: '500000' };
const small: ModelPrice = { tokens: { input: { usd: '0.15' }, output: { usd: '0.6' } } };
const dear: ModelPrice = { tokens: { input: { usd: '3' }, output: { usd: '15' } }, serviceTiers: { priority: '3' } };
const spoken: ModelPrice = { pieces: { characters: '0.000015' } };
const drawn: ModelPrice = {
  pictures: [
    { size: '1024x1024', usd: '0.04' },
    { size: '1792x1024', usd: '0.08' },
  ],
};
const none: OtherPrices = { records: new Map(), groupRatio: new Map(), quotaPerUnit: '500000' };
const alice = UserId(7);
const bob = UserId(8);
const usage: Usage = { input: 1_234, cachedInput: 500, output: 567 };

interface Charged {
  readonly user: UserId;
  readonly model: string;
  readonly price: Price;
  readonly used?: Usage;
  readonly group?: string;
}

const day = Date.parse('2026-11-10T00:00:00Z');
const period = { from: Instant(day), to: Instant(day + 86_400_000) };

function charged(id: string, { user, model, price, used = usage, group = 'default' }: Charged, at = day + 1_000): Fact {
  const facts = { userId: user, model, group };
  const cost = chargeOf(used, price);
  return { ...settled(id, cost, cost, { facts, usage: used, price }), at: Instant(at) };
}

/** The log two events at a time, and what it answers by. */
function asked(facts: readonly Fact[], others: Partial<OtherPrices>, within = period): Promise<WhatIf> {
  const store = {
    readStream: async (name: string) =>
      facts.flatMap((fact, position) =>
        fact.stream === name
          ? [{ ...toRecord(fact), stream: fact.stream, revision: 1, position: Position(position) }]
          : [],
      ),
  };
  const page = async ({ after, from, to }: SettledPart): Promise<SettledPage> => {
    const seen = facts.slice(Number(after) + 1, Number(after) + 3);
    const settlements = seen.filter(({ event, at }) => event.type === 'CallSettled' && at >= from && at < to);
    return {
      last: seen.length === 0 ? null : Position(Number(after) + seen.length),
      settled: settlements.map(({ event, at }) =>
        JSON.stringify([currentPayloads.current(event.type), at, currentPayloads.stored(event)]),
      ),
      changed: seen.flatMap(({ stream, event }, index) =>
        event.type === 'CallRefunded' ? [{ stream, position: Number(after) + 1 + index }] : [],
      ),
    };
  };
  const part = { after: beginning, upTo: Position(facts.length - 1) };
  return worked(whatIf({ calls: { page }, store }, part, within, { ...none, ...others }));
}

const tokens = recordedPriceOf(small, 'small-1', terms);
const dearer = recordedPriceOf(dear, 'dear-1', terms);
const picture = (usd: string, size: string): Price => ({
  ...recordedPriceOf(drawn, 'drawn-1', terms),
  pieces: { dollars: { images: usd }, quotaPerUnit: '500000', picture: { size, quality: 'auto' } },
});

/** Of every kind: by tokens, by the piece, with a tool, at a tier, as ordered, by the call. */
const calls: readonly Charged[] = [
  { user: alice, model: 'small-1', price: tokens },
  { user: alice, model: 'dear-1', price: dearer },
  { user: bob, model: 'dear-1', price: { ...dearer, service: { tier: 'priority', factor: '3' } } },
  {
    ...{ user: bob, model: 'dear-1', used: { ...usage, 'calls:web_search': 2 } },
    price: { ...dearer, pieces: { dollars: { 'calls:web_search': '0.01' }, quotaPerUnit: '500000' } },
  },
  { user: bob, model: 'spoken-1', price: recordedPriceOf(spoken, 'spoken-1', terms), used: { characters: 4_000 } },
  { user: alice, model: 'drawn-1', price: picture('0.08', '1792x1024'), used: { images: 2 } },
  { user: alice, model: 'by-call', price: { per: 'call', price: '0.02', ...terms } },
];
const log = calls.map((call, index) => charged(`call${index}`, call));
const inForce = new Map(
  Object.entries({
    'small-1': small,
    'dear-1': dear,
    'spoken-1': spoken,
    'drawn-1': drawn,
    'by-call': { call: '0.02' },
  }).map(([model, record]) => [model, [record]]),
);

test('the prices that were in force give the sums that were charged, as no other prices do', async () => {
  for (const others of [{}, { records: inForce }, { groupRatio: new Map([['default', '1.0']]) }]) {
    const { calls: counted, actual, hypothetical, unpriced, models } = await asked(log, others);
    expect([counted, unpriced, hypothetical]).toEqual([calls.length, 0, actual]);
    expect(models.every((row) => row.actual === row.hypothetical)).toBe(true);
    expect(actual).toBe(calls.reduce((sum, { used = usage, price }) => sum + BigInt(chargeOf(used, price)), 0n));
  }
});

test('a record that states what ratios and the rules of a family make of a model gives what was charged', async () => {
  const price = priceOf({ ...noTables, modelRatio: new Map([['gpt-4o', '1.25']]) }, 'gpt-4o', 'default', false);
  if (price === null) throw new Error('it has no price');
  const stated: ModelPrice = { tokens: { input: { usd: '2.5' } } };
  const found = await asked([charged('a', { user: alice, model: 'gpt-4o', price })], {
    records: new Map([['gpt-4o', [stated]]]),
  });
  expect(found.hypothetical).toBe(found.actual);
});

test('other prices are applied to the models and groups that they name, and the highest increase comes first', async () => {
  const twice: ModelPrice = { tokens: { input: { usd: '6' }, output: { usd: '30' } }, serviceTiers: { priority: '3' } };
  const records = new Map([['dear-1', [twice]]]);
  const { users, models } = await asked(log, { records });
  const difference = ({ actual, hypothetical }: { actual: bigint; hypothetical: bigint }) => hypothetical - actual;
  expect(users.map(({ userId }) => userId)).toEqual([bob, alice]);
  expect(models.filter((row) => difference(row) !== 0n).map(({ model }) => model)).toEqual(['dear-1', 'dear-1']);
  const plain = BigInt(chargeOf(usage, dearer));
  const again = models.find(({ userId, model }) => userId === alice && model === 'dear-1');
  expect(again).toMatchObject({
    calls: 1,
    actual: plain,
    hypothetical: BigInt(chargeOf(usage, recordedPriceOf(twice, 'dear-1', terms))),
  });

  const half = await asked([...log, charged('vip', { ...calls[0], group: 'vip' } as Charged)], {
    groupRatio: new Map([['vip', '0.5']]),
  });
  expect(half.hypothetical).toBe(
    half.actual - BigInt(chargeOf(usage, tokens)) + BigInt(chargeOf(usage, { ...tokens, group: '0.5' })),
  );
});

test('a record holds on its days, and pictures that it has no price for count with what they cost', async () => {
  const coming = { ...dear, call: '1', tokens: {}, from: '2026-11-11' };
  expect(await asked(log, { records: new Map([['dear-1', [coming]]]) })).toMatchObject({ unpriced: 0 });
  const found = await asked(log, { records: new Map([['dear-1', [coming]]]) });
  expect(found.hypothetical).toBe(found.actual);
  const others = await asked(log, { records: new Map([['drawn-1', [{ pictures: [{ size: '64x64', usd: '1' }] }]]]) });
  expect(others).toMatchObject({ unpriced: 1, hypothetical: others.actual });
});

test('calls outside the period and those that were refunded, whenever that was, are not counted', async () => {
  const [first] = calls;
  if (first === undefined) throw new Error('there are no calls');
  const cost = chargeOf(usage, tokens);
  const found = await asked(
    [
      charged('before', first, day - 1),
      charged('kept', first),
      charged('back', first),
      charged('after', first, day + 86_400_000),
      { ...refunded('back', cost, { facts: { userId: alice, model: 'small-1' } }), at: Instant(day + 9e9) },
      { ...refunded('before', cost, { facts: { userId: alice, model: 'small-1' } }), at: Instant(day + 5) },
    ],
    { groupRatio: new Map([['default', '2']]) },
  );
  const twice = BigInt(chargeOf(usage, { ...tokens, group: '2' }));
  expect(found).toMatchObject({ calls: 1, actual: BigInt(cost), hypothetical: twice });
  expect(found.users).toEqual([{ userId: alice, model: null, calls: 1, actual: BigInt(cost), hypothetical: twice }]);
  await expect(asked(log, {}, { from: period.to, to: period.from })).rejects.toMatchObject({
    details: { field: 'to' },
  });
});
